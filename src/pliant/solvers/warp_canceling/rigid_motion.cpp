#include "pliant/solvers/warp_canceling/rigid_motion.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Geometry>
#include <algorithm>
#include <limits>
#include <numeric>

namespace pliant {

namespace {

/// Points on a line, or a single one, have no inertia about it: any small number serves, for the spin about it is zero.
Vec3 solve_inertia(Mat3 inertia, const Vec3& spin) {
  inertia.diagonal().array() += 1e-12 * inertia.trace() + std::numeric_limits<double>::min();
  return inertia.ldlt().solve(spin);
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
      }
      mass_[at(part_[at(i)])] += model.mass().lumped()[i];
    }
  held_.assign(mass_.size(), 0);
}

void FreeParts::set_boundary(const StepProblem& problem, std::span<const ColliderTouch> touching) {
  const BoundaryState& boundary = problem.boundary;
  held_.assign(mass_.size(), 0);
  for (std::size_t i = 0; i < part_.size(); ++i)
    if (boundary.fixed[3 * i] || boundary.fixed[3 * i + 1] || boundary.fixed[3 * i + 2]) held_[at(part_[i])] = 1;
  for (Index i : boundary.penalised) held_[at(part_[at(i)])] = 1;
  for (const ColliderTouch& touch : touching) held_[at(part_[at(touch.node)])] = 1;
  for (const Grab& grab : problem.grabs) held_[at(part_[at(grab.nodes[0])])] = 1;
  none_ = std::find(held_.begin(), held_.end(), std::uint8_t{0}) == held_.end();
}

void FreeParts::push(const VecX& impulse, const VecX& x, double h, VecX& v) const {
  if (none_) return;
  struct RigidMotion {
    Vec3 centre = Vec3::Zero(), momentum = Vec3::Zero(), spin = Vec3::Zero();
    Mat3 inertia = Mat3::Zero();
  };
  std::vector<RigidMotion> motions(mass_.size());
  const VecX& mass = model_.mass().lumped();
  for (Index i = 0; i < model_.nodes(); ++i) {
    RigidMotion& motion = motions[at(part_[at(i)])];
    motion.centre += mass[i] / mass_[at(part_[at(i)])] * node(x, i);
    motion.momentum += node(impulse, i);
  }
  for (Index i = 0; i < model_.nodes(); ++i) {
    RigidMotion& motion = motions[at(part_[at(i)])];
    const Vec3 r = node(x, i) - motion.centre;
    motion.inertia += mass[i] * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
    motion.spin += r.cross(node(impulse, i));
  }
  for (std::size_t p = 0; p < motions.size(); ++p) {
    RigidMotion& motion = motions[p];
    const double damping = 1 + h * alpha_[p];
    motion.momentum /= damping * mass_[p];                               // now a velocity
    motion.spin = solve_inertia(motion.inertia, motion.spin) / damping;  // now an angular one
  }
  for (Index i = 0; i < model_.nodes(); ++i) {
    const auto p = at(part_[at(i)]);
    if (!held_[p]) node(v, i) += motions[p].momentum + motions[p].spin.cross(node(x, i) - motions[p].centre);
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
