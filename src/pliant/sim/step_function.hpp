#pragma once

#include <span>

#include "pliant/sim/step_problem.hpp"

namespace pliant {

class ContactStep;

/// What is prescribed, moving together with the bodies (docs/contact.md, "Obstacles").
struct Drive {
  VecX remaining;  ///< displacement left to the prescribed unknowns, m; zero elsewhere
  VecX coupling;   ///< change of the gradient along it, to first order, N; zero where prescribed
};

/// A matrix scale * vector * vector^T.
struct RankOne {
  double scale = 0;
  VecX vector;
};

/// What an iteration minimises in a step: the incremental potential itself, or what a family puts in its place
/// (solvers/contact/quadratic_step.hpp).
class StepFunction {
 public:
  virtual ~StepFunction() = default;
  virtual const Model& model() const = 0;
  virtual const StepProblem& problem() const = 0;
  /// Null without contact.
  virtual ContactStep* contact() = 0;
  /// Overwrites g, zero where prescribed; returns the value.
  virtual double gradient(const VecX& x, VecX& g) = 0;
  /// Overwrites A with the Hessian and (inertia_scale - 1) M/h^2, with inertia or without; prescribed unknowns have
  /// identity rows. With a drive, the same matrix, before the prescribed unknowns leave it, gives the coupling. A may
  /// get another pattern.
  virtual void hessian(const VecX& x, Projection projection, double inertia_scale, BlockMatrix& A,
                       Drive* drive = nullptr) = 0;
  /// What the last Hessian has besides A, never negative; zero where prescribed. It couples so many nodes that A had
  /// better not have it.
  virtual std::span<const RankOne> rank_ones() const { return {}; }
  /// Overwrites A, on the model's pattern, with the projected Hessian of the bodies and of energies from code at rest.
  virtual void rest_stiffness(BlockMatrix& A) = 0;
  /// Overwrites A with the Hessian at rest, projected: a function of the model and the problem's MatrixKey alone,
  /// without colliders, contact and activations, which come and go.
  virtual void rest_hessian(BlockMatrix& A) = 0;
};

}  // namespace pliant
