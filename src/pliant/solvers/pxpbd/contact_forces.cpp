#include "pliant/solvers/pxpbd/contact_forces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "pliant/contact/barrier.hpp"
#include "pliant/math/parallel.hpp"

namespace pliant::pbd {

namespace {

/// Pairs per task.
constexpr Index kPairGrain = 64;

auto key(const ContactPair& pair) { return std::tuple(pair.kind, pair.plane, pair.corners); }

/// By how much the obstacle's own way to `there` changes the distance of a pair along its normal, m.
double approach(const ContactPair& pair, const PlacedPair& placed, const Vec3& normal, Index nodes,
                const ObstacleState& here, const ObstacleState& there) {
  if (pair.plane >= 0) {
    const PlaneShape &now = here.planes[at(pair.plane)], &then = there.planes[at(pair.plane)];
    return then.normal.dot(placed.x[0] - then.point) - now.normal.dot(placed.x[0] - now.point);
  }
  double sum = 0;
  for (std::size_t k = 0; k < 4; ++k)
    if (const Index i = pair.corners[k] - nodes; i >= 0)
      sum += placed.closest.weight[k] * normal.dot(node(there.positions, i) - node(here.positions, i));
  return sum;
}

}  // namespace

ContactForces::ContactForces(std::shared_ptr<const ContactModel> model) : model_(model), gate_(std::move(model)) {}

template <class Add>
void ContactForces::for_unknowns_of(Index vertex, Add&& add) const {
  model_->for_unknowns_of(vertex, [&](Index i, double weight) {
    if (!grid_) return add(i, weight);
    const GridPoint& point = grid_->points()[at(i)];
    for (std::size_t c = 0; c < 8; ++c) add(point.nodes[c], weight * point.weights[c]);
  });
}

void ContactForces::begin_step(ContactStep& contact, const StepProblem& problem, const Unknowns& unknowns,
                               const BackgroundGrid* grid) {
  contact_ = &contact;
  problem_ = &problem;
  grid_ = grid;
  unknown_count_ = grid ? grid->node_count() : model_->unknowns();
  h2_ = problem.h * problem.h;
  model_->extend(problem.x_n, x_);
  set_vertices();
  held_back_ = 0;
  pairs_.clear();
  shares_.clear();
  gate_.begin_step();
  set_rubs();
  find_pairs(unknowns);
}

void ContactForces::vertex_positions(const Unknowns& unknowns, VecX& x) const {
  x.resize(x_.size());
  for_chunks(model_->nodes, 4096, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      Vec3 p = Vec3::Zero();
      for_unknowns_of(i, [&](Index u, double w) { p += w * unknowns.position(u); });
      node(x, i) = p;
    }
  });
  if (grid_) problem_->impose_boundary(x);  // prescribed vertices are where they belong, not only near it
}

void ContactForces::follow(const Unknowns& unknowns) {
  vertex_positions(unknowns, target_);
  const double share = gate_.move(x_, target_, contact_->barrier().obstacles(), contact_->obstacles_at_end());
  set_vertices();
  held_back_ = (target_ - x_).cwiseAbs().maxCoeff();
  if (const double before = contact_->progress(); before < 1 && share > 0)
    contact_->place_obstacles(share >= 1 ? 1 : before + share * (1 - before));
  contact_->adapt(of_vertices_);
  find_pairs(unknowns);
}

void ContactForces::find_pairs(const Unknowns& unknowns) {
  merge_pairs();
  for_chunks(static_cast<Index>(pairs_.size()), kPairGrain, [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) place_pair(pairs_[at(k)], unknowns);
  });
}

/// What is near at the safe positions, and what still pushes. Forces are kept with their pair.
void ContactForces::merge_pairs() {
  contact_->energies_at(of_vertices_);
  std::vector<ContactPair> near = contact_->near_pairs();
  std::sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return key(a) < key(b); });
  std::swap(pairs_, pairs_before_);
  std::swap(shares_, shares_before_);
  pairs_.clear();
  shares_.clear();
  bool same = near.size() == pairs_before_.size();
  const auto add_new = [&](const ContactPair& pair) {
    Pair& added = pairs_.emplace_back(Pair{pair, {static_cast<Index>(shares_.size()), 0}});
    for (const Index i : pair.corners) {
      if (i < 0 || i >= model_->nodes) continue;
      for_unknowns_of(i, [&](Index u, double) {
        const auto begin = shares_.begin() + added.shares.begin;
        if (std::none_of(begin, shares_.end(), [&](const Share& s) { return s.unknown == u; })) shares_.push_back({u});
      });
    }
    added.shares.end = static_cast<Index>(shares_.size());
    same = false;
  };
  const auto keep = [&](const Pair& before) {
    Pair& kept = pairs_.emplace_back(before);
    kept.shares = {static_cast<Index>(shares_.size()), static_cast<Index>(shares_.size()) + before.shares.size()};
    shares_.insert(shares_.end(), shares_before_.begin() + before.shares.begin,
                   shares_before_.begin() + before.shares.end);
  };
  std::size_t n = 0, b = 0;
  while (n < near.size() || b < pairs_before_.size()) {
    const bool is_new = b == pairs_before_.size() || (n < near.size() && key(near[n]) < key(pairs_before_[b].pair));
    if (is_new) {
      add_new(near[n++]);
      continue;
    }
    const bool is_near = n < near.size() && key(near[n]) == key(pairs_before_[b].pair);
    if (is_near) ++n;
    if (is_near || pairs_before_[b].pushes)
      keep(pairs_before_[b]);
    else
      same = false;
    ++b;
  }
  if (same && pair_order_.elements.size() == pairs_.size()) return;
  std::vector<Range> ranges;
  std::vector<Index> nodes;
  for (const Pair& pair : pairs_) ranges.push_back(pair.shares);
  for (const Share& share : shares_) nodes.push_back(share.unknown);
  pair_order_ = colour(ranges, nodes);
}

ColourOrder ContactForces::colour(std::span<const Range> ranges, std::span<const Index> unknowns) const {
  std::vector<Index> start = {0}, colours(ranges.size(), -1);
  for (const Range& range : ranges) start.push_back(range.end);
  colour_elements(unknown_count_, start, unknowns, colours);
  return order_by_colour(colours);
}

/// Where a pair is nearest and how it lies, at the safe positions.
void ContactForces::place_pair(Pair& pair, const Unknowns& unknowns) {
  const BarrierEnergy& barrier = contact_->barrier();
  const PlacedPair placed = place(pair.pair, model_->nodes, x_, barrier.obstacles());
  const double d = std::sqrt(placed.closest.d2);
  if (d > 0) pair.normal = placed.closest.r / d;
  pair.factor = barrier.factor(pair.pair, placed);
  const auto twist = barrier.twist(pair.pair, placed);
  const std::span<Share> shares(shares_.data() + pair.shares.begin, at(pair.shares.size()));
  double largest = 0;
  for (Share& share : shares) {
    share.weight = 0;
    largest = std::max(largest, unknowns.inverse_mass(share.unknown).maxCoeff());
  }
  // Too stiff to be taken as it is: the lagged gradient follows as fast as it stays stable.
  const double gain = twist ? 1 / (1 + h2_ * largest * twist->stiffness) : 1;
  for (Share& share : shares) share.twist *= 1 - gain;
  pair.offset =
      d + approach(pair.pair, placed, pair.normal, model_->nodes, barrier.obstacles(), contact_->obstacles_at_end());
  for (std::size_t k = 0; k < 4; ++k) {
    const Index i = pair.pair.corners[k];
    if (i < 0 || i >= model_->nodes) continue;
    const double w = placed.closest.weight[k];
    pair.offset -= w * pair.normal.dot(node(x_, i));
    for_unknowns_of(i, [&](Index u, double share_weight) {
      Share& share = *std::find_if(shares.begin(), shares.end(), [&](const Share& s) { return s.unknown == u; });
      share.weight += w * share_weight;
      if (twist)
        share.twist += gain * h2_ * share_weight * twist->gradient.segment<3>(3 * static_cast<Eigen::Index>(k));
    });
  }
  pair.distance = d;
}

/// With the friction of this step's beginning, or of a renewal.
void ContactForces::set_rubs() {
  rubs_.clear();
  rub_shares_.clear();
  for (const FrictionPair& pair : contact_->friction().pairs()) {
    Rub& rub = rubs_.emplace_back();
    rub.tangents = pair.tangents;
    rub.force = pair.force;
    rub.shares.begin = static_cast<Index>(rub_shares_.size());
    Vec3 relative = pair.offset;
    for (std::size_t k = 0; k < 4; ++k) {
      if (pair.nodes[k] < 0) continue;
      relative -= pair.weight[k] * pair.start[k];
      for_unknowns_of(pair.nodes[k], [&](Index u, double w) {
        const auto begin = rub_shares_.begin() + rub.shares.begin;
        const auto found = std::find_if(begin, rub_shares_.end(), [&](const RubShare& s) { return s.unknown == u; });
        if (found == rub_shares_.end())
          rub_shares_.push_back({u, pair.weight[k] * w});
        else
          found->weight += pair.weight[k] * w;
      });
    }
    rub.shares.end = static_cast<Index>(rub_shares_.size());
    rub.offset = rub.tangents.transpose() * relative;
  }
  std::vector<Range> ranges;
  std::vector<Index> nodes;
  for (const Rub& rub : rubs_) ranges.push_back(rub.shares);
  for (const RubShare& share : rub_shares_) nodes.push_back(share.unknown);
  rub_order_ = colour(ranges, nodes);
}

void ContactForces::renew_friction(const Unknowns& unknowns) {
  for (const Rub& rub : rubs_)
    for (Index k = rub.shares.begin; k < rub.shares.end; ++k) {
      const RubShare& share = rub_shares_[at(k)];
      unknowns.position(share.unknown) += share.weight * unknowns.inverse_mass(share.unknown).cwiseProduct(rub.impulse);
    }
  contact_->renew_friction(of_vertices_);
  set_rubs();
}

void ContactForces::visit(const Unknowns& unknowns) {
  for (Index c = 0; c < pair_order_.colours(); ++c) {
    const Range range = pair_order_.range(c);
    for_chunks(range.size(), kPairGrain, [&](Index begin, Index end) {
      for (Index k = range.begin + begin; k < range.begin + end; ++k)
        visit_pair(pairs_[at(pair_order_.elements[at(k)])], unknowns);
    });
  }
  for (Index c = 0; c < rub_order_.colours(); ++c) {
    const Range range = rub_order_.range(c);
    for_chunks(range.size(), kPairGrain, [&](Index begin, Index end) {
      for (Index k = range.begin + begin; k < range.begin + end; ++k)
        visit_rub(rubs_[at(rub_order_.elements[at(k)])], unknowns);
    });
  }
}

/// With x = x^ - M^{-1} (weight s n + twist) and s = h^2 dE/dd along the normal: d = d^ - W s, W = n.sum weight^2/m n,
/// where d^ is what the distance would be without the force.
void ContactForces::visit_pair(Pair& pair, const Unknowns& unknowns) {
  const std::span<Share> shares(shares_.data() + pair.shares.begin, at(pair.shares.size()));
  double now = pair.offset, before = 0, W = 0, lever = 0;
  for (const Share& share : shares) {
    const Vec3 w = unknowns.inverse_mass(share.unknown);
    now += share.weight * pair.normal.dot(unknowns.position(share.unknown));
    before += share.weight * pair.normal.dot(w.cwiseProduct(share.impulse - share.twist));
    W += share.weight * share.weight * pair.normal.dot(w.cwiseProduct(pair.normal));
    lever = std::max(lever, std::abs(share.weight) * w.maxCoeff());
  }
  if (!(W > 0)) return;
  // Where all that can move has little weight, it would have to go far to change the distance a little, and what it
  // hangs on would not let it. A larger W makes the visit cautious and leaves its solution as it is.
  const double caution = std::max(1.0, lever / W), without = now + caution * before;
  pair.distance = distance_at_barrier(without, caution * h2_ * W * pair.factor, pair.pair.reach, pair.distance);
  const double s = (without - pair.distance) / (caution * W);
  pair.pushes = s != 0;
  for (Share& share : shares) {
    const Vec3 updated = share.weight * s * pair.normal + share.twist;
    pair.pushes = pair.pushes || !updated.isZero(0);
    unknowns.position(share.unknown) += unknowns.inverse_mass(share.unknown).cwiseProduct(share.impulse - updated);
    share.impulse = updated;
  }
}

/// With u = u^ - W q and q = h^2 F f1(|u|)/|u| u. Where an axis is held W is not the same in all directions; the
/// largest takes the place of all, which slows the way to the solution and does not change it.
void ContactForces::visit_rub(Rub& rub, const Unknowns& unknowns) {
  const std::span<const RubShare> shares(rub_shares_.data() + rub.shares.begin, at(rub.shares.size()));
  Vec3 relative = Vec3::Zero();
  double W = 0;
  for (const RubShare& share : shares) {
    relative += share.weight * unknowns.position(share.unknown);
    W += share.weight * share.weight * unknowns.inverse_mass(share.unknown).maxCoeff();
  }
  if (!(W > 0)) return;
  const Eigen::Vector2d without =
      rub.tangents.transpose() * relative + rub.offset + W * (rub.tangents.transpose() * rub.impulse);
  const double s = without.norm();
  const double y = contact_->friction().law().stopped(s, h2_ * W * rub.force);
  const Vec3 updated = s > 0 ? Vec3((1 - y / s) / W * (rub.tangents * without)) : Vec3(Vec3::Zero());
  for (const RubShare& share : shares)
    unknowns.position(share.unknown) +=
        share.weight * unknowns.inverse_mass(share.unknown).cwiseProduct(rub.impulse - updated);
  rub.impulse = updated;
}

bool ContactForces::arrived() const {
  return contact_->arrived() && std::all_of(problem_->fixed.begin(), problem_->fixed.end(),
                                            [&](Index i) { return x_[i] == problem_->boundary.positions[i]; });
}

double ContactForces::progress() const {
  double longest = 0, left = 0;
  for (Index i : problem_->fixed) {
    longest = std::max(longest, std::abs(problem_->boundary.positions[i] - problem_->x_n[i]));
    left = std::max(left, std::abs(problem_->boundary.positions[i] - x_[i]));
  }
  return std::min(contact_->progress(), longest > 0 ? 1 - left / longest : 1);
}

std::string ContactForces::describe_progress() const {
  return fmt::format(
      "the prescribed motion is {:.3g}% complete: bodies that it pushes do not give way fast enough; "
      "remedy: set correction = \"contact\", or take smaller steps",
      100 * progress());
}

}  // namespace pliant::pbd
