#include "pliant/sim/contact/contact_step.hpp"

#include <algorithm>
#include <cmath>

#include "pliant/base/stopwatch.hpp"
#include "pliant/sim/contact/overlaps.hpp"
#include "pliant/sim/sharing.hpp"

namespace pliant {

namespace {

ObstacleState obstacles_at_time(const ContactModel& model, double time) {
  ObstacleState state;
  state.positions.resize(3 * Eigen::Index(model.positions() - model.nodes));
  for (const ContactModel::Placed& obstacle : model.obstacles) {
    const RigidPose pose = obstacle.motion.pose(time);
    for (Index i = obstacle.positions.begin; i < obstacle.positions.end; ++i)
      node(state.positions, i - model.nodes) = pose.from_rest(node(model.rest, i));
  }
  for (const ContactModel::Placed& plane : model.planes) {
    const RigidPose pose = plane.motion.pose(time);
    state.planes.push_back({pose.from_rest(plane.plane.point), pose.rotation * plane.plane.normal});
  }
  return state;
}

}  // namespace

ContactStep::ContactStep(std::shared_ptr<const ContactModel> model, Sharing* sharing)
    : model_(std::move(model)),
      sharing_(sharing),
      search_(model_),
      barrier_(model_),
      carried_barrier_(barrier_, *model_),
      carried_friction_(friction_, *model_),
      energies_(is_carried() ? std::vector<const Energy*>{&carried_barrier_, &carried_friction_}
                             : std::vector<const Energy*>{&barrier_, &friction_}),
      assembler_(model_->unknowns(), energies_) {}

const VecX& ContactStep::extend(const VecX& x, VecX& all) const {
  if (!is_carried()) return x;
  model_->extend(x, all);
  return all;
}

void ContactStep::to_unknowns(std::vector<ContactSpring>& springs) const {
  if (!is_carried()) return;
  for (ContactSpring& spring : springs) {
    const ContactSpring from = spring;
    spring.nodes.fill(-1);
    spring.weight.fill(0);
    std::size_t used = 0;
    for (std::size_t k = 0; k < kContactNodes; ++k) {
      if (from.nodes[k] < 0) continue;
      model_->for_unknowns_of(from.nodes[k], [&](Index i, double weight) {
        const auto begin = spring.nodes.begin();
        const auto slot =
            static_cast<std::size_t>(std::find(begin, begin + static_cast<std::ptrdiff_t>(used), i) - begin);
        if (slot == used) spring.nodes[used++] = i;
        spring.weight[slot] += from.weight[k] * weight;
      });
    }
  }
}

void ContactStep::begin_step(const StepProblem& problem) {
  const Stopwatch watch(seconds_ ? *seconds_ : uncounted_);
  x_n_ = problem.x_n;
  model_->extend(x_n_, all_n_);
  time_ = problem.start;
  h_ = problem.h;
  begin_ = obstacles_at_time(*model_, problem.start);
  end_ = obstacles_at_time(*model_, problem.end);
  barrier_.set_stiffness(model_->stiffness());
  place_obstacles(0);
  last_gap_ = std::numeric_limits<double>::infinity();
  renew_friction(x_n_);
}

void ContactStep::place_at(double time) {
  begin_ = end_ = obstacles_at_time(*model_, time);
  place_obstacles(1);
}

/// Between the beginning and the end of the step, vertices on straight lines.
ObstacleState ContactStep::obstacles_at(double progress) const {
  if (progress >= 1) return end_;
  ObstacleState state;
  state.positions = begin_.positions + progress * (end_.positions - begin_.positions);
  for (std::size_t p = 0; p < begin_.planes.size(); ++p) {
    const PlaneShape &a = begin_.planes[p], &b = end_.planes[p];
    state.planes.push_back(
        {a.point + progress * (b.point - a.point), (a.normal + progress * (b.normal - a.normal)).normalized()});
  }
  return state;
}

void ContactStep::place_obstacles(double progress) {
  progress_ = progress;
  const ObstacleState state = obstacles_at(progress);
  search_.set_obstacles(state);
  barrier_.set_obstacles(state);
  near_at_.resize(0);
}

std::string ContactStep::describe_intersections(const VecX& x) {
  if (left_behind_.size() == x.size() && left_behind_ == x) return "";
  const Stopwatch watch(seconds_ ? *seconds_ : uncounted_);
  const VecX& moving = extend(x, all_elsewhere_);
  const std::vector<CandidatePair> found = search_.intersections(moving), crossings = search_.crossings(moving);
  if (found.empty() && crossings.empty()) return "";
  VecX all(moving.size() + barrier_.obstacles().positions.size());
  all << moving, barrier_.obstacles().positions;
  return describe_overlaps(*model_, barrier_.obstacles(), found, crossings, all);
}

void ContactStep::update(const VecX& x) {
  if (near_at_.size() == x.size() && near_at_ == x) return;
  const VecX& all = extend(x, all_);
  search_.find_near(all, near_);
  barrier_.set_pairs(near_.parts);
  near_at_ = x;
  if (!is_carried()) return;
  carried_barrier_.update(all_);
  carried_friction_.update(all_);
}

double ContactStep::value(const Pose& pose) {
  const Stopwatch watch(seconds_ ? *seconds_ : uncounted_);
  update(pose.x);
  return assembler_.value(pose);
}

double ContactStep::add_gradient(const Pose& pose, VecX& g) {
  const Stopwatch watch(seconds_ ? *seconds_ : uncounted_);
  update(pose.x);
  return assembler_.add_gradient(pose, g);
}

std::span<const Energy* const> ContactStep::energies_at(const VecX& x) {
  const Stopwatch watch(seconds_ ? *seconds_ : uncounted_);
  update(x);
  return energies_;
}

void ContactStep::add_hessian(const Pose& pose, Projection projection, BlockMatrix& A) {
  const Stopwatch watch(seconds_ ? *seconds_ : uncounted_);
  update(pose.x);
  assembler_.add_hessian(pose, projection, A);
}

void ContactStep::linearise(const Pose& pose, const VecX& way, VecX& force, BlockMatrix& H) {
  force = forces(pose).normal;
  H.set_zero();
  const double repulsion_alone[] = {1, 0};
  assembler_.add_hessian(pose, Projection::analytic, H, repulsion_alone);
  const VecX ahead_of_nodes = pose.x + way;
  const VecX& ahead = extend(ahead_of_nodes, all_elsewhere_);
  std::vector<ContactSpring> springs;
  friction_.append_springs(ahead, springs);
  to_unknowns(springs);
  std::vector<double> values(springs.size()), gradients(12 * springs.size());
  friction_.evaluate({ahead, pose.activation, pose.time}, {0, static_cast<Index>(springs.size())}, values.data(),
                     gradients.data());
  for (std::size_t s = 0; s < springs.size(); ++s) {
    const ContactSpring& spring = springs[s];
    Vec3 moved = Vec3::Zero();
    for (std::size_t k = 0; k < kContactNodes; ++k)
      if (spring.nodes[k] >= 0) moved += spring.weight[k] * node(way, spring.nodes[k]);
    const Vec3 held = spring.stiffness * moved;
    std::array<Vec3, kContactNodes> pull;
    pull.fill(Vec3::Zero());
    for (std::size_t c = 0; c < 4; ++c)
      if (const Index i = friction_.stencils()[static_cast<Index>(s)][c]; i >= 0)
        model_->for_unknowns_of(i, [&](Index u, double w) {
          const auto slot = std::find(spring.nodes.begin(), spring.nodes.end(), u) - spring.nodes.begin();
          pull[static_cast<std::size_t>(slot)] += w * Eigen::Map<const Vec3>(gradients.data() + 12 * s + 3 * c);
        });
    for (std::size_t b = 0; b < kContactNodes; ++b) {
      const Index j = spring.nodes[b];
      if (j < 0) continue;
      node(force, j) += spring.weight[b] * held - pull[b];
      for (std::size_t a = 0; a < kContactNodes; ++a)
        if (const Index i = spring.nodes[a]; i >= 0 && i <= j)
          Eigen::Map<Mat3>(H.block(H.pattern().find(i, j))) += spring.weight[a] * spring.weight[b] * spring.stiffness;
    }
  }
}

void ContactStep::find_springs(const VecX& x, std::vector<ContactSpring>& springs) {
  const Stopwatch watch(seconds_ ? *seconds_ : uncounted_);
  update(x);
  springs.clear();
  const VecX& all = is_carried() ? all_ : x;
  barrier_.append_springs(all, springs);
  friction_.append_springs(all, springs);
  to_unknowns(springs);
}

void ContactStep::find_remaining_motion(const VecX& x, const StepProblem& problem, VecX& remaining) {
  remaining.setZero(x.size());
  if (arrived()) return;
  for (Index i : problem.fixed) remaining[i] = problem.boundary.positions[i] - x[i];
  const ObstacleState& now = barrier_.obstacles();
  const bool planes_rest =
      std::equal(now.planes.begin(), now.planes.end(), end_.planes.begin(),
                 [](const PlaneShape& a, const PlaneShape& b) { return a.point == b.point && a.normal == b.normal; });
  const bool is_left = !planes_rest || now.positions != end_.positions || !remaining.isZero(0);
  if (!anywhere(sharing_, is_left)) progress_ = 1;
}

void ContactStep::add_coupling(const Pose& pose, Projection projection, VecX& g) {
  const Stopwatch watch(seconds_ ? *seconds_ : uncounted_);
  update(pose.x);
  if (!is_carried()) return barrier_.add_coupling(pose, projection, end_, g);
  all_motion_.setZero(all_.size());
  barrier_.add_coupling({all_, pose.activation, pose.time}, projection, end_, all_motion_);
  model_->add_to_unknowns(all_motion_, g);
}

double ContactStep::largest_step(const VecX& x, const VecX& dx, bool with_obstacles) {
  return largest_step(x, dx, with_obstacles, with_obstacles ? 0.5 : 0.1);
}

double ContactStep::largest_step(const VecX& x, const VecX& dx, bool with_obstacles, double share) {
  const Stopwatch watch(seconds_ ? *seconds_ : uncounted_);
  return least(sharing_, search_.largest_step(extend(x, all_elsewhere_), extend(dx, all_motion_),
                                              with_obstacles ? &end_ : nullptr, share));
}

bool ContactStep::adapt(const VecX& x) {
  if (!model_->options.adaptive) return false;
  constexpr double kTiny = 0.01, kMost = 1e4;  // of dhat; of the first kappa
  const double gap = minimum_gap(x);
  const bool shrinking = gap < last_gap_ && gap < kTiny * model_->options.dhat;
  last_gap_ = gap;
  if (!shrinking || barrier_.stiffness() >= kMost * model_->stiffness()) return false;
  barrier_.set_stiffness(2 * barrier_.stiffness());
  return true;
}

std::optional<FrictionPair> ContactStep::friction_of(const ContactPair& pair, const VecX& all,
                                                     const VecX& start) const {
  const ContactSurface& s = *model_->surface;
  const auto group = [&](std::size_t corner) { return s.group[static_cast<std::size_t>(pair.corners[corner])]; };
  const Index other = pair.plane >= 0 ? model_->planes[static_cast<std::size_t>(pair.plane)].group
                                      : group(pair.kind == PairKind::edge_edge ? 2 : 1);
  const double mu = model_->friction_of(group(0), other);
  if (!(mu > 0)) return std::nullopt;
  const PlacedPair placed = place(pair, model_->nodes, all, barrier_.obstacles());
  FrictionPair friction;
  friction.force = mu * barrier_.normal_force(pair, placed);
  if (!(friction.force > 0) || !std::isfinite(friction.force)) return std::nullopt;
  friction.weight = placed.closest.weight;
  friction.tangents = tangents_of(placed.closest.r);
  for (std::size_t k = 0; k < 4; ++k) {
    const Index i = pair.corners[k];
    if (i < 0) continue;
    if (i < model_->nodes) {
      friction.nodes[k] = i;
      friction.start[k] = node(start, i);
    } else {
      friction.offset +=
          friction.weight[k] * (node(end_.positions, i - model_->nodes) - node(begin_.positions, i - model_->nodes));
    }
  }
  if (pair.plane >= 0) {
    const ContactModel::Placed& plane = model_->planes[static_cast<std::size_t>(pair.plane)];
    const RigidPose from = plane.motion.pose(time_), to = plane.motion.pose(time_ + h_);
    const Vec3 point = node(start, pair.corners[0]);
    friction.offset -= to.from_rest(from.to_rest(point)) - point;
  }
  return friction;
}

bool ContactStep::has_friction() const { return anywhere(sharing_, !friction_.pairs().empty()); }

void ContactStep::renew_friction(const VecX& x) {
  std::vector<FrictionPair> pairs;
  update(x);
  const VecX& all = is_carried() ? all_ : x;
  for (const ContactPair& pair : near_.parts)
    if (const auto friction = friction_of(pair, all, all_n_)) pairs.push_back(*friction);
  friction_.set_pairs(std::move(pairs), h_ * model_->options.eps_v);
  if (is_carried()) carried_friction_.update(all_);
}

double ContactStep::friction_work(const ContactPair& pair, const VecX& start, const VecX& all,
                                  const VecX& lambda) const {
  const auto friction = friction_of(pair, start, start);
  if (!friction) return 0;
  Vec3 relative = Vec3::Zero();
  for (std::size_t k = 0; k < 4; ++k)
    if (friction->nodes[k] >= 0) relative += friction->weight[k] * node(lambda, friction->nodes[k]);
  return relative.dot(friction_.force(*friction, all));
}

void ContactStep::add_friction_by_start(const VecX& x, const VecX& lambda, VecX& g) {
  constexpr double kShare = 1e-4;  // of the gap and of the sliding distance over which friction sets in
  place_obstacles(0);
  update(x_n_);
  VecX all, multipliers, start = all_n_, found = VecX::Zero(all_n_.size());
  model_->extend(x, all);
  model_->extend(lambda, multipliers);
  const auto product = [&](const ContactPair& pair) { return friction_work(pair, start, all, multipliers); };
  for (const ContactPair& pair : near_.pairs) {
    if (!friction_of(pair, start, start)) continue;
    const double gap = std::sqrt(place(pair, model_->nodes, start, barrier_.obstacles()).closest.d2),
                 step = kShare * std::min(gap, friction_.law().eps);
    for (Index i : pair.corners) {
      if (i < 0 || i >= model_->nodes) continue;
      for (Eigen::Index axis = 0; axis < 3; ++axis) {
        double& coordinate = start[3 * Eigen::Index(i) + axis];
        const double kept = coordinate;
        coordinate = kept + step;
        const double more = product(pair), above = coordinate;
        coordinate = kept - step;
        found[3 * Eigen::Index(i) + axis] += (more - product(pair)) / (above - coordinate);
        coordinate = kept;
      }
    }
  }
  model_->add_to_unknowns(found, g);
  place_obstacles(1);
}

double ContactStep::minimum_gap(const VecX& x) {
  update(x);
  return least(sharing_, near_.gap);
}

ContactStep::Forces ContactStep::forces(const Pose& pose) {
  update(pose.x);
  Forces forces;
  forces.total = VecX::Zero(pose.x.size());
  assembler_.add_gradient(pose, forces.total);
  forces.total = -forces.total;
  forces.normal = VecX::Zero(pose.x.size());
  VecX pushed = VecX::Zero(is_carried() ? all_.size() : pose.x.size());
  const Index count = barrier_.stencils().count();
  std::vector<double> values(at(count)), gradients(12 * at(count));
  barrier_.evaluate({is_carried() ? all_ : pose.x, pose.activation, pose.time}, {0, count}, values.data(),
                    gradients.data());
  const Stencils& stencils = barrier_.stencils();
  for (std::size_t k = 0; k < stencils.nodes.size(); ++k)
    if (stencils.nodes[k] >= 0) node(pushed, stencils.nodes[k]) -= Eigen::Map<const Vec3>(gradients.data() + 3 * k);
  model_->add_to_unknowns(pushed, forces.normal);
  return forces;
}

}  // namespace pliant
