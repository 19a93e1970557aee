#include "pliant/contact/broad_phase.hpp"

#include <oneapi/tbb/parallel_sort.h>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr Index kBoxGrain = 4096;
constexpr Index kQueryGrain = 512;

std::size_t chunk_count(Index n) { return static_cast<std::size_t>((n + kQueryGrain - 1) / kQueryGrain); }

}  // namespace

BroadPhase::BroadPhase(std::shared_ptr<const ContactSurface> surface) : surface_(std::move(surface)) {}

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
  triangle_tree_.update(triangles_);
  const auto points = static_cast<Index>(s.points.size());
  chunks_.resize(std::max(chunk_count(points), chunk_count(static_cast<Index>(s.edges.size()))));
  for (auto& chunk : chunks_) chunk.clear();
  for_chunks(points, kQueryGrain, [&](Index begin, Index end) {
    auto& chunk = chunks_[static_cast<std::size_t>(begin / kQueryGrain)];
    for (Index k = begin; k < end; ++k) {
      const Index p = s.points[static_cast<std::size_t>(k)];
      Aabb box = points_[static_cast<std::size_t>(k)];
      box.inflate(distance);
      triangle_tree_.query(box, [&](Index t) {
        const Triangle& triangle = s.triangles[static_cast<std::size_t>(t)];
        if (!share_vertex(std::array<Index, 1>{p}, triangle) && s.may_touch(p, triangle[0])) chunk.push_back({p, t});
      });
    }
  });
  gather(found.point_triangle);

  found.edge_edge.clear();
  if (kinds == CandidateKinds::point_triangle) return;
  edge_tree_.update(edges_);
  for (auto& chunk : chunks_) chunk.clear();
  for_chunks(edge_tree_.size(), kQueryGrain, [&](Index begin, Index end) {
    auto& chunk = chunks_[static_cast<std::size_t>(begin / kQueryGrain)];
    edge_tree_.query_pairs({begin, end}, distance, [&](Index a, Index b) {
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
  triangle_tree_.update(triangles_);
  const auto edges = static_cast<Index>(s.edges.size());
  chunks_.resize(chunk_count(edges));
  for (auto& chunk : chunks_) chunk.clear();
  for_chunks(edges, kQueryGrain, [&](Index begin, Index end) {
    auto& chunk = chunks_[static_cast<std::size_t>(begin / kQueryGrain)];
    for (Index e = begin; e < end; ++e) {
      const Edge& edge = s.edges[static_cast<std::size_t>(e)];
      triangle_tree_.query(edges_[static_cast<std::size_t>(e)], [&](Index t) {
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
