#include "pliant/energies/collider_penalty.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "pliant/math/psd_projection.hpp"

namespace pliant {

ColliderPenalty::ColliderPenalty(std::vector<Index> nodes, std::vector<double> masses, std::vector<Collider> colliders)
    : stencils_{1, std::move(nodes)}, masses_(std::move(masses)), colliders_(std::move(colliders)) {
  assert(masses_.size() == stencils_.nodes.size());
}

std::vector<RigidPose> ColliderPenalty::poses(double time) const {
  std::vector<RigidPose> all;
  all.reserve(colliders_.size());
  for (const Collider& collider : colliders_) all.push_back(collider.motion.pose(time));
  return all;
}

void ColliderPenalty::evaluate(const Pose& pose, Range range, double* values, double* gradients) const {
  const std::vector<RigidPose> where = poses(pose.time);
  for (Index s = range.begin; s < range.end; ++s) {
    const Vec3 p = node(pose.x, stencils_.nodes[static_cast<std::size_t>(s)]);
    double value = 0;
    Vec3 gradient = Vec3::Zero();
    for (std::size_t c = 0; c < colliders_.size(); ++c) {
      const Distance d = distance(colliders_[c], where[c], p);
      if (!(d.value < 0)) continue;
      const double k = colliders_[c].stiffness * masses_[static_cast<std::size_t>(s)];
      value += 0.5 * k * d.value * d.value;
      gradient += k * d.value * d.normal;
    }
    *values++ = value;
    if (gradients) {
      Eigen::Map<Vec3>{gradients} = gradient;
      gradients += 3;
    }
  }
}

void ColliderPenalty::hessians(const Pose& pose, Range range, Projection projection, double* blocks) const {
  const std::vector<RigidPose> where = poses(pose.time);
  for (Index s = range.begin; s < range.end; ++s, blocks += 9) {
    const Vec3 p = node(pose.x, stencils_.nodes[static_cast<std::size_t>(s)]);
    Mat3 H = Mat3::Zero();
    for (std::size_t c = 0; c < colliders_.size(); ++c) {
      const Distance d = distance(colliders_[c], where[c], p);
      if (d.value < 0)
        H += colliders_[c].stiffness * masses_[static_cast<std::size_t>(s)] *
             (d.normal * d.normal.transpose() + d.value * d.curvature);
    }
    if (projection != Projection::none) project_psd(H);
    Eigen::Map<Mat3>{blocks} = H;
  }
}

void apply_collider_friction(const ColliderPenalty& penalty, double time, double h, const VecX& x, VecX& v) {
  for (const Collider& collider : penalty.colliders()) {
    if (collider.friction <= 0) continue;
    const RigidPose now = collider.motion.pose(time), before = collider.motion.pose(time - h);
    for (Index i : penalty.stencils().nodes) {
      const Vec3 p = node(x, i);
      const Distance d = distance(collider, now, p);
      if (!(d.value < 0)) continue;
      const Vec3 surface = (p - before.from_rest(now.to_rest(p))) / h;
      const Vec3 relative = node(v, i) - surface;
      const Vec3 tangent = relative - relative.dot(d.normal) * d.normal;
      const double speed = tangent.norm(), loss = collider.friction * h * collider.stiffness * -d.value;
      if (speed > 0) node(v, i) -= std::min(1.0, loss / speed) * tangent;
    }
  }
}

double smallest_distance(const ColliderPenalty& penalty, double time, const VecX& x) {
  double least = std::numeric_limits<double>::infinity();
  for (const Collider& collider : penalty.colliders()) {
    const RigidPose pose = collider.motion.pose(time);
    for (Index i : penalty.stencils().nodes) least = std::min(least, distance(collider, pose, node(x, i)).value);
  }
  return least;
}

}  // namespace pliant
