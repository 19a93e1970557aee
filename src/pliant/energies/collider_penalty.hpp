#pragma once

#include "pliant/contact/collider.hpp"
#include "pliant/energies/energy.hpp"

namespace pliant {

/// Pushes nodes out of colliders: for each node and collider stiffness m/2 min(d, 0)^2 with the signed distance d at
/// the time of the pose. C1, and zero with its derivatives outside.
class ColliderPenalty final : public Energy {
 public:
  /// One mass (kg) per node of `nodes`.
  ColliderPenalty(std::vector<Index> nodes, std::vector<double> masses, std::vector<Collider> colliders);

  std::string_view name() const override { return "colliders"; }
  const Stencils& stencils() const override { return stencils_; }
  void evaluate(const Pose& pose, Range range, double* values, double* gradients) const override;
  void hessians(const Pose& pose, Range range, Projection projection, double* blocks) const override;

  const std::vector<Collider>& colliders() const { return colliders_; }
  std::span<const double> masses() const { return masses_; }

 private:
  std::vector<RigidPose> poses(double time) const;

  Stencils stencils_;
  std::vector<double> masses_;
  std::vector<Collider> colliders_;
};

/// Friction as a filter of velocities, for implicit steps that leave x and v at `time`: where a node presses on a
/// collider with the normal impulse h stiffness m |d|, its velocity along the surface, relative to it, loses up to
/// friction times that impulse over m.
void apply_collider_friction(const ColliderPenalty& colliders, double time, double h, const VecX& x, VecX& v);

/// The least signed distance of the nodes to a collider, m.
double smallest_distance(const ColliderPenalty& colliders, double time, const VecX& x);

}  // namespace pliant
