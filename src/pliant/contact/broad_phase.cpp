#include "pliant/contact/broad_phase.hpp"

#include <oneapi/tbb/parallel_sort.h>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr Index kBoxGrain = 4096;
constexpr Index kQueryGrain = 512;

std::size_t chunk_count(Index n) { return static_cast<std::size_t>((n + kQueryGrain - 1) / kQueryGrain); }

}  // namespace

BroadPhase::BroadPhase(std::shared_ptr<const ContactSurface> surface) : surface_(std::move(surface)) {
  const ContactSurface& s = *surface_;
  const auto bit = [](Index group) { return Bvh::Kinds{1} << (group % 64); };
  touches_.assign(static_cast<std::size_t>(s.groups), 0);
  for (Index a = 0; a < s.groups; ++a)
    for (Index b = 0; b < s.groups; ++b)
      if (s.touches[static_cast<std::size_t>(a) * static_cast<std::size_t>(s.groups) + static_cast<std::size_t>(b)])
        touches_[static_cast<std::size_t>(a)] |= bit(b);
  if (s.groups <= 64) {
    const auto touches_itself = [&](Index g) { return (touches_[static_cast<std::size_t>(g)] & bit(g)) != 0; };
    Bvh::Kinds active = 0;
    for (Index g = 0; g < s.groups; ++g)
      if (touches_itself(g)) active |= bit(g);
    for (Index g = 0; g < s.groups; ++g)
      if (!touches_itself(g) && !(touches_[static_cast<std::size_t>(g)] & ~active)) passive_ |= bit(g);
  }
  const auto kind_of = [&](const auto& primitive) { return bit(s.group[static_cast<std::size_t>(primitive[0])]); };
  for (const Edge& edge : s.edges) edge_kinds_.push_back(kind_of(edge));
  for (const Triangle& triangle : s.triangles) triangle_kinds_.push_back(kind_of(triangle));
}

/// The boxes of all primitives from those of their positions.
template <class BoxOf>
void BroadPhase::fill(BoxOf&& box_of, CandidateKinds kinds) {
  const ContactSurface& s = *surface_;
  const auto fill_one = [&](auto& boxes, const auto& primitives) {
    boxes.resize(primitives.size());
    for_chunks(static_cast<Index>(primitives.size()), kBoxGrain, [&](Index begin, Index end) {
      for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
        Aabb box;
        for (Index i : primitives[k]) box.include(box_of(i));
        boxes[k] = box;
      }
    });
  };
  points_.resize(s.points.size());
  for_chunks(static_cast<Index>(s.points.size()), kBoxGrain, [&](Index begin, Index end) {
    for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k)
      points_[k] = box_of(s.points[k]);
  });
  fill_one(triangles_, s.triangles);
  if (kinds == CandidateKinds::both) fill_one(edges_, s.edges);
}

void BroadPhase::find(const VecX& x, double distance, Candidates& found, CandidateKinds kinds) {
  fill(
      [&](Index i) {
        const Vec3 p = node(x, i);
        return Aabb{p, p};
      },
      kinds);
  search(distance, found, kinds);
}

void BroadPhase::find_swept(const VecX& x, const VecX& dx, double distance, Candidates& found, CandidateKinds kinds) {
  fill(
      [&](Index i) {
        const Vec3 p = node(x, i), q = p + node(dx, i);
        return Aabb{p.cwiseMin(q), p.cwiseMax(q)};
      },
      kinds);
  search(distance, found, kinds);
}

void BroadPhase::search(double distance, Candidates& found, CandidateKinds kinds) {
  const ContactSurface& s = *surface_;
  triangle_tree_.update(triangles_, triangle_kinds_);
  const auto points = static_cast<Index>(s.points.size());
  chunks_.resize(std::max(chunk_count(points), chunk_count(static_cast<Index>(s.edges.size()))));
  for (auto& chunk : chunks_) chunk.clear();
  for_chunks(points, kQueryGrain, [&](Index begin, Index end) {
    auto& chunk = chunks_[static_cast<std::size_t>(begin / kQueryGrain)];
    for (Index k = begin; k < end; ++k) {
      const Index p = s.points[static_cast<std::size_t>(k)];
      Aabb box = points_[static_cast<std::size_t>(k)];
      box.inflate(distance);
      triangle_tree_.query(box, touched_by(p), [&](Index t) {
        const Triangle& triangle = s.triangles[static_cast<std::size_t>(t)];
        if (!share_vertex(std::array<Index, 1>{p}, triangle) && s.may_touch(p, triangle[0])) chunk.push_back({p, t});
      });
    }
  });
  gather(found.point_triangle);

  found.edge_edge.clear();
  if (kinds == CandidateKinds::point_triangle) return;
  edge_tree_.update(edges_, edge_kinds_);
  for (auto& chunk : chunks_) chunk.clear();
  for_chunks(edge_tree_.size(), kQueryGrain, [&](Index begin, Index end) {
    auto& chunk = chunks_[static_cast<std::size_t>(begin / kQueryGrain)];
    const auto touched = [&](Index a) { return touched_by(s.edges[static_cast<std::size_t>(a)][0]); };
    const auto later = [&](Index a) {
      return edge_kinds_[static_cast<std::size_t>(a)] & passive_ ? 0 : touched(a) & ~passive_;
    };
    const auto anywhere = [&](Index a) { return touched(a) & passive_; };
    edge_tree_.query_pairs({begin, end}, distance, later, anywhere, [&](Index a, Index b) {
      const Edge &first = s.edges[static_cast<std::size_t>(a)], &second = s.edges[static_cast<std::size_t>(b)];
      if (!share_vertex(first, second) && s.may_touch(first[0], second[0]))
        chunk.push_back({std::min(a, b), std::max(a, b)});
    });
  });
  gather(found.edge_edge);
}

void BroadPhase::find_edge_triangle(const VecX& x, std::vector<CandidatePair>& found) {
  const ContactSurface& s = *surface_;
  fill(
      [&](Index i) {
        const Vec3 p = node(x, i);
        return Aabb{p, p};
      },
      CandidateKinds::both);
  triangle_tree_.update(triangles_, triangle_kinds_);
  const auto edges = static_cast<Index>(s.edges.size());
  chunks_.resize(chunk_count(edges));
  for (auto& chunk : chunks_) chunk.clear();
  for_chunks(edges, kQueryGrain, [&](Index begin, Index end) {
    auto& chunk = chunks_[static_cast<std::size_t>(begin / kQueryGrain)];
    for (Index e = begin; e < end; ++e) {
      const Edge& edge = s.edges[static_cast<std::size_t>(e)];
      triangle_tree_.query(edges_[static_cast<std::size_t>(e)], touched_by(edge[0]), [&](Index t) {
        const Triangle& triangle = s.triangles[static_cast<std::size_t>(t)];
        if (!share_vertex(edge, triangle) && s.may_touch(edge[0], triangle[0])) chunk.push_back({e, t});
      });
    }
  });
  gather(found);
}

/// The chunks' pairs as one ascending list.
void BroadPhase::gather(std::vector<CandidatePair>& found) {
  std::vector<std::size_t> start(chunks_.size() + 1, 0);
  for (std::size_t c = 0; c < chunks_.size(); ++c) start[c + 1] = start[c] + chunks_[c].size();
  found.resize(start.back());
  for_chunks(static_cast<Index>(chunks_.size()), 8, [&](Index begin, Index end) {
    for (auto c = static_cast<std::size_t>(begin); c < static_cast<std::size_t>(end); ++c)
      std::copy(chunks_[c].begin(), chunks_[c].end(), found.begin() + static_cast<std::ptrdiff_t>(start[c]));
  });
  tbb::parallel_sort(found.begin(), found.end());
}

}  // namespace pliant
