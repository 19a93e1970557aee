#pragma once

#include <memory>

#include "pliant/solvers/line_search.hpp"
#include "pliant/solvers/newton/newton_system.hpp"

namespace pliant {

/// What sets the four Newton-type solvers of `pitfalls` apart: how a descent direction is made when the Hessian may be
/// indefinite. One object per stepper; begin_step forgets everything of the step before.
class Direction {
 public:
  virtual ~Direction() = default;
  virtual void begin_step() {}
  /// Writes dx. Anything but `ok` ends the step as a failed factorisation.
  virtual FactorStatus compute(NewtonSystem& system, const Iterate& current, VecX& dx) = 0;
  virtual void after_line_search(double /*alpha*/) {}
  /// Whether the last direction came from a projected matrix.
  virtual bool projected() const { return false; }
  /// By how much at most the last direction is shorter than Newton's own, for criteria that judge by its length.
  virtual double shortening() const { return 1; }
};

/// N: the exact Hessian, indefinite or not; the direction is turned round when it ascends (pitfalls, section 3).
std::unique_ptr<Direction> make_newton_direction();
/// PN: every element Hessian projected (section 4).
std::unique_ptr<Direction> make_projected_direction(Projection projection);
/// PDN: projected only after the exact Hessian has failed (section 5, Algorithm 1).
std::unique_ptr<Direction> make_on_demand_direction(Projection projection);
/// KN: more inertia instead of projection (section 6, Algorithm 2).
std::unique_ptr<Direction> make_kinetic_direction();

}  // namespace pliant
