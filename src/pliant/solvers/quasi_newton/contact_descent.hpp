#pragma once

#include "pliant/solvers/quasi_newton/newton_finish.hpp"

namespace pliant {

/// What contact adds to the quasi-Newton loop (docs/quasi-newton.md, "Contact"): a start that intersects nothing, a
/// bound on every step, and the decision when Newton's method has to end the step.
class ContactDescent {
 public:
  /// `criterion` is that of Newton's method.
  ContactDescent(IncrementalPotential& potential, const CriterionOptions& criterion);

  /// Moves from x^n towards the prediction as far as nothing is in the way, and takes along what is prescribed if all
  /// of it can arrive. False where the energy is infinite at x^n.
  bool find_start(Iterate& current, StepReport& report);
  /// The largest permissible step along dx.
  double largest_step(const VecX& x, const VecX& dx) { return contact_.largest_step(x, dx, false, kShare); }
  /// Whether the rest of the step is Newton's: before the first iteration, and after a step that was found.
  bool needs_newton(const VecX& x) { return is_headlong_ || !newton_.arrived(x); }
  bool needs_newton(const LineSearchResult& found);
  /// What to do when the budget is spent, after a last step of this length (m/s).
  enum class Verdict { done, goes_on, needs_newton };
  Verdict judge(const VecX& x, double step_length);
  /// Whether the rest of the budget has no use after a step of this length (m/s).
  bool is_settled(double step_length) const;
  NewtonFinish& newton() { return newton_; }

 private:
  /// Of every gap, left in each search. With less, barriers grow faster than pairs of L-BFGS and a matrix that is not
  /// made anew can tell.
  static constexpr double kShare = 0.4;

  IncrementalPotential& potential_;
  ContactStep& contact_;
  NewtonFinish newton_;
  VecX dx_;
  bool is_headlong_ = false;  ///< something stops most of the inertial motion
  int short_steps_ = 0;       ///< in a row
  int budgets_ = 0;           ///< spent in this step
};

}  // namespace pliant
