#pragma once

#include <span>
#include <vector>

#include "pliant/solvers/warp_canceling/implicit_colliders.hpp"

namespace pliant {

/// The connected parts of a model's mesh, and the rigid motion of those that nothing holds.
///
/// A matrix that is stale in places answers a force with a wrong motion of the whole as well, which one sees first.
/// What forces do to a free part as a whole needs no matrix, only its mass and its inertia.
class FreeParts {
 public:
  explicit FreeParts(const Model& model);

  /// Parts with a prescribed, penalised or grabbed node are not free, nor are those that press on a collider in the
  /// matrix.
  void set_boundary(const StepProblem& problem, std::span<const ColliderTouch> touching = {});
  bool none() const { return none_; }
  /// Adds to the velocities of free parts the rigid motion that the impulses (N s) on their nodes at x cause; damping
  /// by mass counts as implicit over a step h.
  void push(const VecX& impulse, const VecX& x, double h, VecX& v) const;

 private:
  const Model& model_;
  std::vector<Index> part_;  ///< of each node
  std::vector<double> mass_, alpha_;
  std::vector<std::uint8_t> held_;
  bool none_ = false;
};

/// Draws the velocities of a group of nodes towards their best rigid motion, which has the same momentum and angular
/// momentum: v += share (v_rigid - v). Prescribed unknowns stay.
void damp_towards_rigid(const Model& model, std::span<const Index> nodes, std::span<const std::uint8_t> fixed,
                        const VecX& x, double share, VecX& v);

}  // namespace pliant
