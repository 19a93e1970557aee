#pragma once

#include <memory>

#include "pliant/solvers/line_search.hpp"
#include "pliant/solvers/newton/linear_system.hpp"

namespace pliant {

/// What sets the four Newton-type solvers of `pitfalls` apart: how a descent direction is made when the Hessian may be
/// indefinite. One object per stepper; begin_step forgets everything of the step before.
class Direction {
 public:
  virtual ~Direction() = default;
  virtual void begin_step() {}
  /// Writes dx. Anything but `ok` ends the step as a failed factorisation.
  virtual FactorStatus compute(LinearSystem& system, const Iterate& current, VecX& dx) = 0;
  virtual void after_line_search(double /*alpha*/) {}
  /// Whether the last direction came from a projected matrix.
  virtual bool projected() const { return false; }
  /// Whether the last exact matrix was found not to be positive definite.
  virtual bool met_indefinite() const { return false; }
  /// Whether the last direction ascended and was turned round.
  virtual bool turned() const { return false; }
  /// By how much at most the last direction is shorter than Newton's own, for criteria that judge by its length.
  virtual double shortening() const { return 1; }
};

/// Systems of the projected Hessian. Without inertia that may be singular far from the solution: what is not taut, a
/// rope or a cloth without resistance to bending, has no stiffness sideways. Then masses are added as if the step had a
/// length, more of them until there is a factor and after short steps, less after whole ones (Levenberg, "A method for
/// the solution of certain non-linear problems in least squares", 1944), down to none.
class ProjectedSystem {
 public:
  explicit ProjectedSystem(Projection projection) : projection_(projection) {}
  void begin_step() { added_ = 0; }
  FactorStatus solve(LinearSystem& system, const Iterate& current, VecX& dx);
  void after_line_search(double alpha);

 private:
  Projection projection_;
  double added_ = 0;  ///< inertia, of M/h^2
};

/// How long PDN goes on projecting.
struct OnDemandOptions {
  int projected_steps = 4;        ///< at least so many, after the exact matrix has failed
  bool after_short_steps = true;  ///< also after a step that the line search shortened
};
/// When KN changes its beta.
struct KineticOptions {
  double halve_below = 0.3, double_above = 0.9;  ///< step lengths
};

/// N: the exact Hessian, indefinite or not; the direction is turned round when it ascends (pitfalls, section 3).
std::unique_ptr<Direction> make_newton_direction();
/// PN: every element Hessian projected (section 4).
std::unique_ptr<Direction> make_projected_direction(Projection projection);
/// PDN: projected only after the exact Hessian has failed (section 5, Algorithm 1).
std::unique_ptr<Direction> make_on_demand_direction(Projection projection, const OnDemandOptions& options = {});
/// KN: more inertia instead of projection (section 6, Algorithm 2).
std::unique_ptr<Direction> make_kinetic_direction(const KineticOptions& options = {});

}  // namespace pliant
