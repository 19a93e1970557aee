#include "pliant/solvers/free_parts.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <limits>
#include <numeric>

#include "pliant/math/decompositions.hpp"

namespace pliant {

namespace {

/// Points on a line, or a single one, have no inertia about it: any small number serves, for the spin about it is zero.
Vec3 solve_inertia(Mat3 inertia, const Vec3& spin) {
  inertia.diagonal().array() += 1e-12 * inertia.trace() + std::numeric_limits<double>::min();
  return solve_symmetric(inertia, spin);
}

Mat3 turned_by(const Vec3& angle) {
  const double size = angle.norm();
  return size > 0 ? Eigen::AngleAxisd(size, angle / size).toRotationMatrix() : Mat3(Mat3::Identity());
}

}  // namespace

FreeParts::FreeParts(const Model& model) : model_(model), part_(at(model.nodes())) {
  std::vector<Index> root(part_.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](Index i) {
    while (root[at(i)] != i) i = root[at(i)] = root[at(root[at(i)])];
    return i;
  };
  const BlockPattern& pattern = *model.pattern();
  for (Index i = 0; i < model.nodes(); ++i)
    for (auto k = pattern.row_start()[at(i)]; k < pattern.row_start()[at(i) + 1]; ++k) {
      const Index a = find(i), b = find(pattern.columns()[at(k)]);
      root[at(std::max(a, b))] = std::min(a, b);
    }
  for (const Body& body : model.bodies())
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
      if (find(i) == i) {  // the first node of its part
        part_[at(i)] = static_cast<Index>(mass_.size());
        mass_.push_back(0);
        alpha_.push_back(body.damping.mass);
      } else {
        part_[at(i)] = part_[at(find(i))];
        if (alpha_[at(part_[at(i)])] != body.damping.mass) mixed_.push_back(part_[at(i)]);
      }
      mass_[at(part_[at(i)])] += model.mass().lumped()[i];
    }
  held_.assign(mass_.size(), 0);
}

void FreeParts::set_boundary(const StepProblem& problem) {
  const BoundaryState& boundary = problem.boundary;
  held_.assign(mass_.size(), 0);
  for (std::size_t i = 0; i < part_.size(); ++i)
    if (boundary.fixed[3 * i] || boundary.fixed[3 * i + 1] || boundary.fixed[3 * i + 2]) held_[at(part_[i])] = 1;
  for (Index i : boundary.penalised) hold(i);
  for (const Grab& grab : problem.grabs) hold(grab.nodes[0]);
  if (const TieEnergy* ties = model_.ties())
    for (const Tie& tie : ties->ties())
      if (tie.is_to_world()) hold(tie.nodes[0]);
  for (Index part : mixed_) held_[at(part)] = 1;
}

bool FreeParts::none() const { return std::find(held_.begin(), held_.end(), std::uint8_t{0}) == held_.end(); }

/// Of each part: damping by mass counts as implicit over a step h.
std::vector<FreeParts::RigidMotion> FreeParts::motions(const VecX& momentum, const VecX& x, double h) const {
  std::vector<RigidMotion> motions(mass_.size());
  const VecX& mass = model_.mass().lumped();
  for (Index i = 0; i < model_.nodes(); ++i) {
    RigidMotion& motion = motions[at(part_[at(i)])];
    motion.centre += mass[i] / mass_[at(part_[at(i)])] * node(x, i);
    motion.momentum += node(momentum, i);
  }
  for (Index i = 0; i < model_.nodes(); ++i) {
    RigidMotion& motion = motions[at(part_[at(i)])];
    const Vec3 r = node(x, i) - motion.centre;
    motion.inertia += mass[i] * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
    motion.spin += r.cross(node(momentum, i));
  }
  for (std::size_t p = 0; p < motions.size(); ++p) {
    RigidMotion& motion = motions[p];
    const double damping = 1 + h * alpha_[p];
    motion.momentum /= damping;
    motion.spin /= damping;
    motion.velocity = motion.momentum / mass_[p];
    motion.omega = solve_inertia(motion.inertia, motion.spin);
  }
  return motions;
}

void FreeParts::push(const VecX& impulse, const VecX& x, double h, VecX& v) const {
  if (none()) return;
  const std::vector<RigidMotion> pushed = motions(impulse, x, h);
  for (Index i = 0; i < model_.nodes(); ++i) {
    const auto p = at(part_[at(i)]);
    if (!held_[p]) node(v, i) += pushed[p].velocity + pushed[p].omega.cross(node(x, i) - pushed[p].centre);
  }
}

VecX FreeParts::momentum_of(const VecX& v) const {
  VecX momentum(v.size());
  for (Index i = 0; i < model_.nodes(); ++i) node(momentum, i) = model_.mass().lumped()[i] * node(v, i);
  return momentum;
}

FreeParts::Frames FreeParts::frames(const VecX& momentum, const VecX& x, double h) const {
  Frames frames;
  for (const RigidMotion& part : motions(momentum, x, h)) {
    frames.centre.push_back(part.centre);
    frames.velocity.push_back(part.velocity);
    frames.omega.push_back(part.omega);
    frames.turn.push_back(turned_by(h * part.omega));
  }
  return frames;
}

void FreeParts::turn_back(const Frames& frames, VecX& v) const {
  for (Index i = 0; i < model_.nodes(); ++i) {
    const auto p = at(part_[at(i)]);
    if (held_[p]) continue;
    node(v, i) = frames.velocity[p] + frames.turn[p].transpose() * (node(v, i) - frames.velocity[p]);
  }
}

void FreeParts::turn_on(const Frames& frames, const VecX& x, double h, VecX& v, VecX& y) const {
  y = x + h * v;
  for (Index i = 0; i < model_.nodes(); ++i) {
    const auto p = at(part_[at(i)]);
    if (held_[p]) continue;
    const Vec3 arm = node(x, i) - frames.centre[p], beyond = node(v, i) - frames.velocity[p];
    node(y, i) =
        frames.centre[p] + h * frames.velocity[p] + frames.turn[p] * (arm + h * (beyond - frames.omega[p].cross(arm)));
    node(v, i) = frames.velocity[p] + frames.turn[p] * beyond;
  }
}

void FreeParts::advance(const VecX& momentum, const VecX& x, double h, VecX& y, VecX& u, VecX& a) const {
  y = x;
  u.setZero(x.size());
  a.setZero(x.size());
  if (none()) return;
  const Frames frame = frames(momentum, x, h);
  for (Index i = 0; i < model_.nodes(); ++i) {
    const auto p = at(part_[at(i)]);
    if (held_[p]) continue;
    const Vec3 arm = frame.turn[p] * (node(x, i) - frame.centre[p]);
    node(y, i) = frame.centre[p] + h * frame.velocity[p] + arm;
    node(u, i) = frame.velocity[p] + frame.omega[p].cross(arm);
    node(a, i) = frame.omega[p].cross(frame.omega[p].cross(arm));
  }
}

void FreeParts::keep_momentum(const VecX& momentum, const VecX& x, double h, const VecX& y, VecX& v) const {
  if (none()) return;
  const std::vector<RigidMotion> due = motions(momentum, x, h);
  const std::vector<RigidMotion> now = motions(momentum_of(v), y, 0);
  for (Index i = 0; i < model_.nodes(); ++i) {
    const auto p = at(part_[at(i)]);
    if (held_[p]) continue;
    const Vec3 lacking = solve_inertia(now[p].inertia, due[p].spin - now[p].spin);
    node(v, i) += due[p].velocity - now[p].velocity + lacking.cross(node(y, i) - now[p].centre);
  }
}

void damp_towards_rigid(const Model& model, std::span<const Index> nodes, std::span<const std::uint8_t> fixed,
                        const VecX& x, double share, VecX& v) {
  double mass = 0;
  Vec3 centre = Vec3::Zero(), velocity = Vec3::Zero();
  for (Index i : nodes) {
    const double m = model.mass().lumped()[i];
    mass += m;
    centre += m * node(x, i);
    velocity += m * node(v, i);
  }
  centre /= mass;
  velocity /= mass;
  Mat3 inertia = Mat3::Zero();
  Vec3 spin = Vec3::Zero();
  for (Index i : nodes) {
    const Vec3 r = node(x, i) - centre;
    const double m = model.mass().lumped()[i];
    inertia += m * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
    spin += m * r.cross(node(v, i));
  }
  const Vec3 omega = solve_inertia(inertia, spin);
  for (Index i : nodes) {
    const Vec3 rigid = velocity + omega.cross(node(x, i) - centre);
    for (int c = 0; c < 3; ++c)
      if (!fixed[at(3 * i + c)]) v[3 * Eigen::Index(i) + c] += share * (rigid[c] - v[3 * Eigen::Index(i) + c]);
  }
}

}  // namespace pliant
