#pragma once

#include <span>
#include <vector>

#include "pliant/sim/step_problem.hpp"

namespace pliant {

/// A node that presses on colliders, with the linearisation f(x) = force - stiffness (x - x^n - h velocity) of what
/// they do to it.
struct ColliderTouch {
  Index node = 0;
  Vec3 force = Vec3::Zero();      ///< N
  Mat3 stiffness = Mat3::Zero();  ///< projected, N/m
  Vec3 velocity = Vec3::Zero();   ///< m/s
};

/// Colliders as part of a linear system: the penalty that all families share, linearised at x^n for nodes that are
/// inside there, so that a body rests where the penalty balances it; for others at x^n + h v^n, where inertia alone
/// would lead, so that a body is stopped in the step in which it would hit. (Linearised there for all, a body that
/// rests on stiff colliders bounces for ever between two states: nodes that move out are let go.)
class ImplicitColliders {
 public:
  explicit ImplicitColliders(const ColliderPenalty* colliders) : colliders_(colliders) {}

  void linearise(const StepProblem& problem);
  std::span<const ColliderTouch> touching() const { return touching_; }

 private:
  const ColliderPenalty* colliders_;
  std::vector<ColliderTouch> touching_;
  struct Evaluation {
    std::vector<double> values, gradients;
  };
  void evaluate(const Pose& pose, Evaluation& result) const;
  Evaluation at_start_, predicted_;  ///< scratch
};

}  // namespace pliant
