#include "pliant/sim/contact/safe_move.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "pliant/contact/ccd.hpp"
#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr Index kGrain = 512;
/// What a round leaves of a gap, but at most half of dhat: half in the first, nearly all in those that follow, in which
/// others make up for what they were kept from.
constexpr double kKeep = 0.5, kKeepLater = 0.95;
/// Of dhat: gaps that a move does not make smaller. No barrier balances real loads at that distance.
constexpr double kLeastGap = 1e-3;
/// Rounds of each kind of blocks. Bodies, or vertices, that go the same way one behind the other need one each.
constexpr int kBodyRounds = 4, kVertexRounds = 8;
/// A share of its way that makes another round worthwhile.
constexpr double kGoodPart = 0.1;

std::size_t corners_of_first(PairKind kind) { return kind == PairKind::point_triangle ? 1 : 2; }

/// How two primitives lie about a plane with normal n: the gap between them along n, and how far the way of each leads
/// beyond its own extreme corner towards the other.
struct Division {
  Vec3 n = Vec3::Zero();
  double front = 0, back = 0;  ///< n.x of the foremost corners: least of the first, greatest of the second
  double approach[2] = {0, 0};
  double apart() const { return front - back; }
  double approaches() const { return approach[0] + approach[1]; }
};

Division divide(PairKind kind, const Corners& x, const Corners& way, const Vec3& n) {
  const std::size_t first = corners_of_first(kind);
  Division d{n, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  double front = d.front, back = d.back;
  for (std::size_t c = 0; c < 4; ++c) {
    const double here = n.dot(x[c]), there = here + n.dot(way[c]);
    if (c < first) {
      d.front = std::min(d.front, here);
      front = std::min(front, there);
    } else {
      d.back = std::max(d.back, here);
      back = std::max(back, there);
    }
  }
  d.approach[0] = std::max(0.0, d.front - front);
  d.approach[1] = std::max(0.0, back - d.back);
  return d;
}

/// The normal of the triangle, or of both edges; zero where there is none. Points from the second to the first.
Vec3 natural_normal(PairKind kind, const Corners& x) {
  const bool edges = kind == PairKind::edge_edge;
  const Vec3 n = edges ? (x[1] - x[0]).cross(x[3] - x[2]) : (x[2] - x[1]).cross(x[3] - x[1]);
  const double length = n.norm();
  if (!(length > 0)) return Vec3::Zero();
  return (n.dot(x[0] - x[2]) < 0 ? -1 / length : 1 / length) * n;
}

/// Who needs less than half of the room gets it, and the other one what is left: a side that wants to go far must not
/// keep one that is nearly there from arriving.
std::array<double, 2> share_room(double room, double first, double second) {
  if (first <= 0.5 * room) return {first, room - first};
  if (second <= 0.5 * room) return {room - second, second};
  return {0.5 * room, 0.5 * room};
}

bool boxes_apart(PairKind kind, const Corners& x, const Corners& way, double distance) {
  const std::size_t first = corners_of_first(kind);
  for (int axis = 0; axis < 3; ++axis) {
    double low[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    double high[2] = {-low[0], -low[1]};
    for (std::size_t c = 0; c < 4; ++c) {
      const std::size_t side = c < first ? 0 : 1;
      const double here = x[c][axis], there = here + way[c][axis];
      low[side] = std::min({low[side], here, there});
      high[side] = std::max({high[side], here, there});
    }
    if (low[0] - high[1] > distance || low[1] - high[0] > distance) return true;
  }
  return false;
}

}  // namespace

SafeMove::SafeMove(std::shared_ptr<const ContactModel> model)
    : model_(std::move(model)), broad_(model_->surface), is_surface_(at(model_->positions()), 0) {
  for (Index i : model_->surface->points) is_surface_[at(i)] = 1;
  for (Index i = 0; i < model_->nodes; ++i) vertex_block_.push_back(i);
  for (std::size_t k = 0; k < model_->carried.size(); ++k) {
    const std::array<Index, 4>& frame = model_->carried[k].nodes;
    vertex_block_[at(model_->unknowns()) + k] = frame[0];
    for (Index i : frame) {
      vertex_block_[at(i)] = frame[0];
      is_surface_[at(i)] = 1;
    }
  }
}

double SafeMove::move(VecX& x, const VecX& target, const ObstacleState& here, const ObstacleState& there) {
  const Eigen::Index nodes = x.size();
  from_.resize(nodes + here.positions.size());
  from_ << x, here.positions;
  end_.resize(from_.size());
  end_ << target, there.positions;
  way_ = end_ - from_;
  planes_ = here.planes;
  planes_end_ = there.planes;
  search(x, target);
  reach_.resize(at(model_->positions()));
  for (Index i = 0; i < model_->positions(); ++i) {
    const Vec3 base = node(base_, i);
    reach_[at(i)] = std::max((node(from_, i) - base).norm(), (node(end_, i) - base).norm());
  }
  keep_ = kKeep;
  double left = 1;  // of the obstacles' way
  const auto rounds = [&](Blocks blocks, int most) {
    for (int k = 0; k < most; ++k) {
      const bool goes_on = advance(blocks);
      keep_ = kKeepLater;
      left *= 1 - share_.back();
      if (!goes_on) return;
    }
  };
  rounds(Blocks::all, 1);
  if (!way_.isZero(0)) rounds(Blocks::bodies, kBodyRounds);
  if (!way_.isZero(0)) rounds(Blocks::vertices, kVertexRounds);
  x = from_.head(nodes);
  return 1 - left;
}

/// Positions only ever get nearer to their ends, so that one search serves all rounds; with a margin it mostly serves
/// the moves that follow, too.
void SafeMove::search(const VecX& x, const VecX& target) {
  const auto covers = [&](const VecX& p) {
    return low_.size() == p.size() && (p.array() >= low_.array()).all() && (p.array() <= high_.array()).all();
  };
  if (covers(x) && covers(target)) return;
  const double dhat = model_->options.dhat, margin = 0.5 * dhat;
  broad_.find_swept(from_, way_, 0.5 * dhat + 2 * margin, candidates_);
  low_ = x.cwiseMin(target).array() - margin;
  high_ = x.cwiseMax(target).array() + margin;
  base_ = from_;
  const auto total = static_cast<Index>(candidates_.point_triangle.size() + candidates_.edge_edge.size());
  distance_.resize(at(total));
  for_chunks(total, kGrain, [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) {
      const auto [kind, corners] = candidate(k);
      Corners placed;
      for (std::size_t c = 0; c < 4; ++c) placed[c] = node(base_, corners[c]);
      distance_[at(k)] = std::sqrt(closest(kind, placed).d2);
    }
  });
}

SafeMove::Candidate SafeMove::candidate(Index k) const {
  const ContactSurface& s = *model_->surface;
  if (const auto triangles = static_cast<Index>(candidates_.point_triangle.size()); k >= triangles) {
    const auto& [a, b] = candidates_.edge_edge[at(k - triangles)];
    return {PairKind::edge_edge, {s.edges[at(a)][0], s.edges[at(a)][1], s.edges[at(b)][0], s.edges[at(b)][1]}};
  }
  const auto& [p, t] = candidates_.point_triangle[at(k)];
  return {PairKind::point_triangle, {p, s.triangles[at(t)][0], s.triangles[at(t)][1], s.triangles[at(t)][2]}};
}

double SafeMove::gap_to_keep(double d) const {
  const double dhat = model_->options.dhat;
  return std::min(std::max(keep_ * d, std::min(d, kLeastGap * dhat)), 0.5 * dhat);
}

Index SafeMove::block_of(Blocks blocks, Index position) const {
  const auto obstacles = static_cast<Index>(share_.size()) - 1;
  if (blocks == Blocks::all || model_->is_obstacle(position)) return obstacles;
  return blocks == Blocks::vertices ? vertex_block_[at(position)] : model_->surface->group[at(position)];
}

void SafeMove::lower(Index block, double share) {
  // The least of all shares is the same whichever thread finds it first.
  std::atomic_ref<double> least(share_[at(block)]);
  double old = least.load(std::memory_order_relaxed);
  while (share < old && !least.compare_exchange_weak(old, share, std::memory_order_relaxed)) {
  }
}

bool SafeMove::advance(Blocks blocks) {
  const Index counts[] = {1, model_->surface->groups + 1, model_->nodes + 1};
  share_.assign(at(counts[static_cast<int>(blocks)]), 1.0);
  for_chunks(static_cast<Index>(distance_.size()), kGrain, [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k)
      if (const Candidate pair = candidate(k); may_come_near(pair, distance_[at(k)])) limit_pair(blocks, pair);
  });
  limit_at_planes(blocks);

  bool goes_on = false;
  for (Index i = 0; i < model_->positions(); ++i) {
    // What is inside a body cannot touch anything.
    const bool is_free = blocks != Blocks::all && !is_surface_[at(i)] && !model_->is_obstacle(i);
    const double share = is_free ? 1 : share_[at(block_of(blocks, i))];
    if (share >= 1) {
      node(from_, i) = node(end_, i);
      node(way_, i).setZero();
      continue;
    }
    if (share == 0) continue;
    node(from_, i) += share * node(way_, i);
    node(way_, i) = node(end_, i) - node(from_, i);
    goes_on = goes_on || share > kGoodPart;
  }
  const double share = share_.back();
  for (std::size_t p = 0; p < planes_.size(); ++p) {
    PlaneShape& now = planes_[p];
    const PlaneShape& then = planes_end_[p];
    if (share >= 1) now = then;
    if (share >= 1 || share == 0) continue;
    now.point += share * (then.point - now.point);
    now.normal = (now.normal + share * (then.normal - now.normal)).normalized();
    goes_on = goes_on || (share > kGoodPart && (now.point != then.point || now.normal != then.normal));
  }
  return goes_on;
}

/// By how far the corners ever are from where the pair was `distance` apart: cheap, and most pairs are done with it.
bool SafeMove::may_come_near(const Candidate& pair, double distance) const {
  const std::size_t first = corners_of_first(pair.kind);
  double reach[2] = {0, 0};
  for (std::size_t c = 0; c < 4; ++c) {
    double& side = reach[c < first ? 0 : 1];
    side = std::max(side, reach_[at(pair.corners[c])]);
  }
  return distance - reach[0] - reach[1] < 0.5 * model_->options.dhat;
}

void SafeMove::limit_pair(Blocks blocks, const Candidate& pair) {
  const auto& [kind, corners] = pair;
  Corners from, way;
  bool moves = false;
  for (std::size_t c = 0; c < 4; ++c) {
    from[c] = node(from_, corners[c]);
    way[c] = node(way_, corners[c]);
    moves = moves || !way[c].isZero(0);
  }
  const double most_gap = 0.5 * model_->options.dhat;
  if (!moves || boxes_apart(kind, from, way, most_gap)) return;
  std::array<Index, 4> block{};
  for (std::size_t c = 0; c < 4; ++c) block[c] = block_of(blocks, corners[c]);
  if (std::all_of(block.begin(), block.end(), [&](Index b) { return b == block[0]; })) {
    const double until = std::atomic_ref<double>(share_[at(block[0])]).load(std::memory_order_relaxed);
    CcdOptions options{.until = until, .gap = keep_, .most_gap = most_gap, .tolerance = 0.1};
    auto time = time_of_impact(kind, from, way, options);
    if (!time) return;
    if (const double least = kLeastGap * model_->options.dhat, d = std::sqrt(closest(kind, from).d2);
        keep_ * d < least) {
      options.gap = std::max(keep_, std::min(least / d, kKeepLater));
      time = time_of_impact(kind, from, way, options);
    }
    if (time) lower(block[0], *time);
    return;
  }
  limit_by_plane(kind, block, from, way);
}

/// Of the planes that come to mind the one that takes least of the way: across the nearest points, of the triangle or
/// the edges, across the nearest points where the way ends.
void SafeMove::limit_by_plane(PairKind kind, const std::array<Index, 4>& block, const Corners& from,
                              const Corners& way) {
  const Closest nearest = closest(kind, from);
  const double d = std::sqrt(nearest.d2);
  double coordinates = 0;
  for (std::size_t c = 0; c < 4; ++c)
    coordinates = std::max(coordinates, from[c].cwiseAbs().maxCoeff() + way[c].cwiseAbs().maxCoeff());
  const double rounding = 8 * std::numeric_limits<double>::epsilon() * coordinates;
  const double keep = std::max(gap_to_keep(d), rounding);
  const auto fits = [&](const Division& o) { return o.apart() - o.approaches() >= keep; };
  Division best = divide(kind, from, way, d > 0 ? Vec3(nearest.r / d) : Vec3::UnitX());
  const auto try_normal = [&](const Vec3& n) {
    const Division other = divide(kind, from, way, n);
    // The greater share of the two sides' ways.
    if (other.apart() > keep && (other.apart() - keep) * best.approaches() > (best.apart() - keep) * other.approaches())
      best = other;
  };
  if (!fits(best)) try_normal(natural_normal(kind, from));
  if (!fits(best)) {
    Corners end;
    for (std::size_t c = 0; c < 4; ++c) end[c] = from[c] + way[c];
    const Closest last = closest(kind, end);
    if (last.d2 > 0) try_normal(last.r / std::sqrt(last.d2));
  }
  if (fits(best)) return;
  const double room = std::max(0.0, best.apart() - keep);
  const std::array<double, 2> rooms = share_room(room, best.approach[0], best.approach[1]);
  const std::size_t first = corners_of_first(kind);
  for (std::size_t c = 0; c < 4; ++c) {
    const bool is_first = c < first;
    const double here = best.n.dot(from[c]), step = best.n.dot(way[c]);
    const double behind = is_first ? here - best.front : best.back - here;
    const double towards = is_first ? -step : step;
    const double may = behind + rooms[is_first ? 0 : 1];
    if (towards > may || (!(room > 0) && !way[c].isZero(0)))
      lower(block[c], room > 0 ? std::max(0.0, may / towards) : 0);
  }
}

/// Points against planes, which move with the obstacles.
void SafeMove::limit_at_planes(Blocks blocks) {
  const ContactSurface& s = *model_->surface;
  const auto obstacles = static_cast<Index>(share_.size()) - 1;
  for (std::size_t p = 0; p < planes_.size(); ++p) {
    const PlaneShape &now = planes_[p], &then = planes_end_[p];
    const Vec3 shift = then.point - now.point;
    const double turn = (then.normal - now.normal).norm(), lift = now.normal.dot(shift);
    for (Index i : s.points) {
      if (model_->is_obstacle(i)) break;  // they come last
      if (!s.touches[at(s.group[at(i)]) * at(s.groups) + at(model_->planes[p].group)]) continue;
      const Vec3 x = node(from_, i), way = node(way_, i);
      const double d = now.normal.dot(x - now.point), keep = gap_to_keep(d);
      double falls = -now.normal.dot(way), rises = lift;
      // A unit normal between two others turns at most twice as fast as the line between them passes.
      if (turn > 0) rises += 2 * turn * ((x - now.point).norm() + way.norm() + shift.norm());
      const Index block = block_of(blocks, i);
      if (block != obstacles) {  // no common time: what draws back may not do so
        falls = std::max(0.0, falls);
        rises = std::max(0.0, rises);
      }
      const double closing = falls + rises;
      if (!(closing > 0) || d - closing >= keep) continue;
      const double room = std::max(0.0, d - keep);
      if (block == obstacles) {
        lower(block, room / closing);
        continue;
      }
      const std::array<double, 2> rooms = share_room(room, falls, rises);
      if (falls > rooms[0]) lower(block, rooms[0] / falls);
      if (rises > rooms[1]) lower(obstacles, rooms[1] / rises);
    }
  }
}

}  // namespace pliant
