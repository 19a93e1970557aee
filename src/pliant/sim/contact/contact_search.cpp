#include "pliant/sim/contact/contact_search.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "pliant/contact/pair_derivatives.hpp"
#include "pliant/math/parallel.hpp"
#include "pliant/sim/contact/nearest_parts.hpp"

namespace pliant {

namespace {

constexpr Index kCandidateGrain = 256;
constexpr double kRounding = 1e-9;

/// Calls visit(point, signed distance) for the points of bodies that plane number p keeps out.
template <class Visit>
void for_points_at_plane(const ContactModel& model, const ObstacleState& obstacles, std::size_t p, const VecX& x,
                         Visit&& visit) {
  const PlaneShape& plane = obstacles.planes[p];
  const ContactSurface& s = *model.surface;
  for (Index i : s.points) {
    if (model.is_obstacle(i)) break;  // they come last
    const std::size_t pair = at(s.group[at(i)]) * at(s.groups) + at(model.planes[p].group);
    if (s.touches[pair]) visit(i, plane.normal.dot(Vec3(node(x, i)) - plane.point));
  }
}

struct Interval {
  double low, high;
  void include(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
};

/// Whether the boxes around the two primitives, or around their ways when `move` is not null, are `distance` apart
/// along an axis: cheaper than how far apart they are, and true of most candidates.
bool boxes_apart(PairKind kind, const Corners& x, const Corners* move, double distance) {
  const std::size_t first = kind == PairKind::point_triangle ? 1 : 2;
  for (int axis = 0; axis < 3; ++axis) {
    Interval a{x[0][axis], x[0][axis]}, b{x[first][axis], x[first][axis]};
    for (std::size_t c = 0; c < 4; ++c) {
      Interval& side = c < first ? a : b;
      side.include(x[c][axis]);
      if (move) side.include(x[c][axis] + (*move)[c][axis]);
    }
    if (a.low - b.high > distance || b.low - a.high > distance) return true;
  }
  return false;
}

void lower(std::atomic<double>& least, double value) {
  double old = least.load(std::memory_order_relaxed);
  while (value < old && !least.compare_exchange_weak(old, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

ContactSearch::ContactSearch(std::shared_ptr<const ContactModel> model)
    : model_(std::move(model)), broad_(model_->surface), margin_(0.5 * model_->options.dhat) {
  // A margin that is small against the edges hardly makes for more candidates, and saves searches.
  double length2 = 0, edges = 0;
  for (std::size_t e = 0; e < model_->surface->edges.size(); ++e)
    if (!model_->is_obstacle(model_->surface->edges[e][0])) {
      length2 += model_->edge_length2[e];
      ++edges;
    }
  if (edges > 0) margin_ = std::max(margin_, 0.1 * std::sqrt(length2 / edges));
}

void ContactSearch::set_obstacles(const ObstacleState& obstacles) {
  if (obstacles_.positions.size() == obstacles.positions.size() && obstacles_.positions == obstacles.positions) {
    obstacles_.planes = obstacles.planes;  // which are looked at without a search
    return;
  }
  obstacles_ = obstacles;
  low_.resize(0);
}

const VecX& ContactSearch::all_positions(const VecX& x) {
  positions_.resize(x.size() + obstacles_.positions.size());
  positions_.head(x.size()) = x;
  positions_.tail(obstacles_.positions.size()) = obstacles_.positions;
  return positions_;
}

void ContactSearch::cover(const VecX& from, const VecX& to, double margin) {
  low_ = from.cwiseMin(to).array() - margin;
  high_ = from.cwiseMax(to).array() + margin;
}

bool ContactSearch::covers(const VecX& x) const {
  if (low_.size() != x.size()) return false;
  for (Index i : model_->surface->points) {
    if (model_->is_obstacle(i)) break;  // they come last
    if (!(node(x, i).array() >= node(low_, i).array()).all() || !(node(x, i).array() <= node(high_, i).array()).all())
      return false;
  }
  return true;
}

std::array<Index, 4> ContactSearch::corners(Index candidate) const {
  const auto triangles = static_cast<Index>(candidates_.point_triangle.size());
  if (candidate < triangles) {
    const auto& [p, t] = candidates_.point_triangle[at(candidate)];
    const Triangle& triangle = model_->surface->triangles[at(t)];
    return {p, triangle[0], triangle[1], triangle[2]};
  }
  const auto& [a, b] = candidates_.edge_edge[at(candidate - triangles)];
  const Edge &first = model_->surface->edges[at(a)], &second = model_->surface->edges[at(b)];
  return {first[0], first[1], second[0], second[1]};
}

double ContactSearch::reach_of(PairKind kind, const std::array<Index, 4>& nodes) const {
  constexpr double kShare = 0.5;
  const double dhat = model_->options.dhat;
  const std::vector<Index>& group = model_->surface->group;
  if (group[at(nodes[0])] != group[at(nodes[3])]) return dhat;
  Corners rest;
  for (std::size_t c = 0; c < 4; ++c) rest[c] = node(model_->rest, nodes[c]);
  return std::min(dhat, kShare * std::sqrt(closest(kind, rest).d2));
}

ContactPair ContactSearch::point_triangle(const CandidatePair& candidate) const {
  const Triangle& t = model_->surface->triangles[at(candidate.second)];
  ContactPair pair;
  pair.kind = PairKind::point_triangle;
  pair.corners = {candidate.first, t[0], t[1], t[2]};
  // Weights are those of surfaces of like meshes. An obstacle's mesh says nothing about how the body's forces should
  // be spread, so that next to one the body's own area counts.
  double area = model_->point_area[at(candidate.first)];
  if (model_->is_obstacle(candidate.first)) {
    double triangle = 0;
    for (Index i : t) triangle += model_->area_at(i) / 3;
    area = std::min(area, triangle);
  }
  pair.area = area / 4;
  return pair;
}

ContactPair ContactSearch::edge_edge(const CandidatePair& candidate) const {
  const Edge &a = model_->surface->edges[at(candidate.first)], &b = model_->surface->edges[at(candidate.second)];
  ContactPair pair;
  pair.kind = PairKind::edge_edge;
  pair.corners = {a[0], a[1], b[0], b[1]};
  double first = model_->edge_area[at(candidate.first)], second = model_->edge_area[at(candidate.second)];
  if (model_->is_obstacle(a[0])) first = second;
  if (model_->is_obstacle(b[0])) second = first;
  pair.area = (first + second) / 4;
  pair.threshold =
      mollifier_threshold(model_->edge_length2[at(candidate.first)], model_->edge_length2[at(candidate.second)]);
  return pair;
}

void ContactSearch::measure_candidates(const VecX& x) {
  measured_at_ = x;
  const auto triangles = static_cast<Index>(candidates_.point_triangle.size());
  const auto total = triangles + static_cast<Index>(candidates_.edge_edge.size());
  distance_.resize(at(total));
  for_chunks(total, kCandidateGrain, [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) {
      Corners placed;
      const std::array<Index, 4> nodes = corners(k);
      for (std::size_t c = 0; c < 4; ++c) placed[c] = node(positions_, nodes[c]);
      const PairKind kind = k < triangles ? PairKind::point_triangle : PairKind::edge_edge;
      distance_[at(k)] = std::sqrt(closest(kind, placed).d2);
    }
  });
  within_.clear();
  between_.clear();
  const std::vector<Index>& group = model_->surface->group;
  for (Index k = 0; k < total; ++k) {
    const std::array<Index, 4> nodes = corners(k);
    (group[at(nodes[0])] == group[at(nodes[3])] ? within_ : between_).push_back({distance_[at(k)], k});
  }
  std::sort(within_.begin(), within_.end());
  std::sort(between_.begin(), between_.end());
}

void ContactSearch::measure_motion(const VecX& x) {
  const ContactSurface& s = *model_->surface;
  mean_.assign(at(s.groups), Vec3::Zero());
  counts_.assign(at(s.groups), 0.0);
  for (Index i : s.points) {
    if (model_->is_obstacle(i)) break;  // they come last
    mean_[at(s.group[at(i)])] += node(x, i) - node(measured_at_, i);
    ++counts_[at(s.group[at(i)])];
  }
  for (std::size_t g = 0; g < mean_.size(); ++g) mean_[g] /= std::max(1.0, counts_[g]);
  moved_.squared.resize(at(model_->nodes), 0.0);
  moved_in_body_.squared.resize(at(model_->nodes), 0.0);
  double most = 0, most_in_body = 0;
  for (Index i : s.points) {
    if (model_->is_obstacle(i)) break;
    const Vec3 moved = node(x, i) - node(measured_at_, i);
    double &own = moved_.squared[at(i)], &own_in_body = moved_in_body_.squared[at(i)];
    own = std::max(own, moved.squaredNorm());
    own_in_body = std::max(own_in_body, (moved - mean_[at(s.group[at(i)])]).squaredNorm());
    most = std::max(most, own);
    most_in_body = std::max(most_in_body, own_in_body);
  }
  moved_.most = std::max(moved_.most, std::sqrt(most));
  moved_in_body_.most = std::max(moved_in_body_.most, std::sqrt(most_in_body));
}

void ContactSearch::forget_motion() {
  for (Motion* motion : {&moved_, &moved_in_body_}) {
    std::fill(motion->squared.begin(), motion->squared.end(), 0.0);
    motion->most = 0;
  }
}

bool ContactSearch::stays_apart(Index k, const Motion& motion, double distance) const {
  const double room = distance - (1 + kRounding) * model_->options.dhat;
  if (!(room > 0)) return false;
  const std::array<Index, 4> nodes = corners(k);
  const std::size_t first = k < static_cast<Index>(candidates_.point_triangle.size()) ? 1 : 2;
  std::array<double, 2> most = {0, 0};
  for (std::size_t c = 0; c < 4; ++c)
    if (!model_->is_obstacle(nodes[c])) {
      double& side = most[c < first ? 0 : 1];
      side = std::max(side, motion.squared[at(nodes[c])]);
    }
  return room > std::sqrt(most[0]) + std::sqrt(most[1]);
}

/// Neighbours on the same surface are candidates for good, since their boxes overlap, and never come near: most of all
/// candidates are of this kind, and are not even looked at.
template <class Visit>
void ContactSearch::for_candidates(bool all, Visit&& visit) {
  const auto reach = [&](const std::vector<Apart>& list, const Motion& motion) {
    if (all) return static_cast<Index>(list.size());
    const double limit = (1 + kRounding) * (model_->options.dhat + 2 * motion.most);
    return static_cast<Index>(
        std::upper_bound(list.begin(), list.end(), limit, [](double l, const Apart& c) { return l < c.distance; }) -
        list.begin());
  };
  const Index between = reach(between_, moved_), within = reach(within_, moved_in_body_);
  for_chunks(between + within, kCandidateGrain, [&](Index begin, Index end) {
    for (Index n = begin; n < end; ++n) {
      const Apart& candidate = n < between ? between_[at(n)] : within_[at(n - between)];
      const Motion& motion = n < between ? moved_ : moved_in_body_;
      if (all || !stays_apart(candidate.candidate, motion, candidate.distance))
        visit(begin / kCandidateGrain, candidate.candidate);
    }
  });
}

void ContactSearch::find_near(const VecX& x, Near& near) {
  const double dhat = model_->options.dhat, dhat2 = dhat * dhat;
  if (!covers(x)) {
    broad_.find(all_positions(x), dhat + 2 * margin_, candidates_);
    cover(x, x, margin_);
    measure_candidates(x);
  }
  forget_motion();
  measure_motion(x);
  const auto triangles = static_cast<Index>(candidates_.point_triangle.size());
  const auto chunks = at((static_cast<Index>(within_.size() + between_.size()) + kCandidateGrain) / kCandidateGrain);
  chunks_.resize(std::max(chunks_.size(), chunks));
  for (auto& chunk : chunks_) chunk.clear();
  chunk_gap2_.assign(chunks, std::numeric_limits<double>::infinity());
  for_candidates(false, [&](Index chunk, Index k) {
    const PairKind kind = k < triangles ? PairKind::point_triangle : PairKind::edge_edge;
    const std::array<Index, 4> nodes = corners(k);
    Corners placed;
    for (std::size_t c = 0; c < 4; ++c)
      placed[c] = model_->is_obstacle(nodes[c]) ? Vec3(node(obstacles_.positions, nodes[c] - model_->nodes))
                                                : Vec3(node(x, nodes[c]));
    if (boxes_apart(kind, placed, nullptr, dhat)) return;
    const Closest nearest = closest(kind, placed);
    if (!(nearest.d2 < dhat2)) return;
    const double reach = reach_of(kind, nodes);
    if (!(nearest.d2 < reach * reach)) return;
    ContactPair pair = k < triangles ? point_triangle(candidates_.point_triangle[at(k)])
                                     : edge_edge(candidates_.edge_edge[at(k - triangles)]);
    pair.reach = reach;
    chunks_[at(chunk)].push_back({k, pair, nearest_part(pair, placed, nearest)});
    chunk_gap2_[at(chunk)] = std::min(chunk_gap2_[at(chunk)], nearest.d2);
  });
  // In the order of their primitives, whatever was searched before.
  found_.clear();
  double gap2 = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < chunks; ++c) {
    found_.insert(found_.end(), chunks_[c].begin(), chunks_[c].end());
    gap2 = std::min(gap2, chunk_gap2_[c]);
  }
  std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) { return a.candidate < b.candidate; });
  near.pairs.clear();
  near.parts.clear();
  for (const Found& found : found_) {
    near.pairs.push_back(found.pair);
    near.parts.push_back(found.part);
  }
  merge_equal(near.parts);
  for (std::size_t p = 0; p < obstacles_.planes.size(); ++p)
    for_points_at_plane(*model_, obstacles_, p, x, [&](Index i, double d) {
      if (!(d < dhat)) return;
      ContactPair pair;
      pair.corners[0] = i;
      pair.plane = static_cast<Index>(p);
      pair.area = model_->point_area[at(i)];
      pair.reach = dhat;
      near.pairs.push_back(pair);
      near.parts.push_back(pair);
      gap2 = std::min(gap2, d > 0 ? d * d : 0);
    });
  near.gap = std::sqrt(gap2);
}

double ContactSearch::plane_step(const VecX& x, const VecX& dx, const ObstacleState* there, double gap) const {
  double step = 1;
  for (std::size_t p = 0; p < obstacles_.planes.size(); ++p) {
    const PlaneShape& now = obstacles_.planes[p];
    const PlaneShape& then = there ? there->planes[p] : now;
    const Vec3 shift = then.point - now.point;
    const double turn = (then.normal - now.normal).norm();
    for_points_at_plane(*model_, obstacles_, p, x, [&](Index i, double d) {
      const Vec3 move = node(dx, i);
      double closing = now.normal.dot(shift - move);
      // A unit normal between two others turns at most twice as fast as the line between them passes.
      if (turn > 0) closing += 2 * turn * ((Vec3(node(x, i)) - now.point).norm() + (move - shift).norm());
      const double keep = std::min(gap * d, 0.5 * model_->options.dhat);
      if (closing > 0) step = std::min(step, std::max(0.0, d - keep) / closing);
    });
  }
  return step;
}

double ContactSearch::largest_step(const VecX& x, const VecX& dx, const ObstacleState* there, double gap) {
  all_positions(x);
  motion_.setZero(positions_.size());
  motion_.head(dx.size()) = dx;
  if (there) motion_.tail(there->positions.size()) = there->positions - obstacles_.positions;
  // The corrections that follow a first, large step mostly stay near its path: with a margin its candidates serve them
  // too, since a straight way between two covered places is covered.
  end_ = x + dx;
  if (there || !covers(x) || !covers(end_)) {
    broad_.find_swept(positions_, motion_, model_->options.dhat + 2 * margin_, candidates_);
    cover(x, end_, margin_);
    measure_candidates(x);
    if (there) low_.resize(0);  // they will not be where they are now
  }
  forget_motion();
  measure_motion(x);
  measure_motion(end_);  // what lies between is no further from there than the two

  const auto triangles = static_cast<Index>(candidates_.point_triangle.size());
  // The least of all times is the same whichever thread finds it first.
  std::atomic<double> least{plane_step(x, dx, there, gap)};
  for_candidates(there != nullptr, [&](Index, Index k) {
    const PairKind kind = k < triangles ? PairKind::point_triangle : PairKind::edge_edge;
    const std::array<Index, 4> nodes = corners(k);
    Corners from, move;
    for (std::size_t c = 0; c < 4; ++c) {
      from[c] = node(positions_, nodes[c]);
      move[c] = node(motion_, nodes[c]);
    }
    if (boxes_apart(kind, from, &move, model_->options.dhat)) return;
    const CcdOptions options{.until = least.load(std::memory_order_relaxed),
                             .gap = gap,
                             .most_gap = 0.5 * model_->options.dhat,
                             .tolerance = 0.5};
    if (const auto time = time_of_impact(kind, from, move, options)) lower(least, *time);
  });
  return std::min(1.0, least.load());
}

std::vector<CandidatePair> ContactSearch::intersections(const VecX& x) {
  std::vector<CandidatePair> found = find_intersections(broad_, all_positions(x));
  for (std::size_t p = 0; p < obstacles_.planes.size(); ++p)
    for_points_at_plane(*model_, obstacles_, p, x, [&](Index i, double d) {
      if (!(d > 0)) found.push_back({i, -1 - static_cast<Index>(p)});
    });
  return found;
}

}  // namespace pliant
