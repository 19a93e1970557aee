#pragma once

#include <span>
#include <vector>

#include "pliant/sim/step_problem.hpp"

namespace pliant {

/// A node that presses on colliders, with the linearisation f(x) = force - stiffness (x - z) of what they do to it.
struct ColliderTouch {
  Index node = 0;
  Vec3 force = Vec3::Zero();      ///< at z, N
  Mat3 stiffness = Mat3::Zero();  ///< projected, N/m
};

/// Colliders as part of a linear system: the penalty that all families share, linearised at z = x^n + h v^n, where
/// inertia alone would lead. A body at rest has z = x^n, so that it rests where the penalty balances it; one that is about
/// to hit an obstacle is stopped in the step in which it would.
class ImplicitColliders {
 public:
  explicit ImplicitColliders(const ColliderPenalty* colliders) : colliders_(colliders) {}

  void linearise(const StepProblem& problem);
  std::span<const ColliderTouch> touching() const { return touching_; }

 private:
  const ColliderPenalty* colliders_;
  std::vector<ColliderTouch> touching_;
  std::vector<double> values_, gradients_;  ///< scratch
};

}  // namespace pliant
