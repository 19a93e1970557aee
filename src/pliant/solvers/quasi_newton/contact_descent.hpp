#pragma once

#include "pliant/sim/contact/contact_step.hpp"
#include "pliant/solvers/newton/newton_minimiser.hpp"
#include "pliant/solvers/quasi_newton/history_kernels.hpp"

namespace pliant {

/// What contact adds to the quasi-Newton loop (docs/quasi-newton.md, "Contact"): a start that intersects nothing, a
/// bound on every step, and Newton's method to end the step where the quasi-Newton matrix does not serve: violent
/// impacts, and bodies in the way of prescribed motion.
class ContactDescent {
 public:
  /// `criterion` is that of Newton's method, and so is `max_iterations`, of which 0 leaves its default.
  ContactDescent(IncrementalPotential& potential, const CriterionOptions& criterion, int max_iterations = 0);

  /// Moves from x^n towards the prediction as far as nothing is in the way, and takes along what is prescribed if all
  /// of it can arrive. False where the energy is infinite at x^n.
  bool find_start(Iterate& current, StepReport& report);
  /// Where time is limited, shortens a direction that leads far beyond all that is in touch, and its slope. To find out
  /// that most of it is forbidden would take most of the time.
  void trim(VecX& dx, history::Descent& descent) const;
  /// The largest permissible step along dx.
  double largest_step(const VecX& x, const VecX& dx) { return contact_.largest_step(x, dx, false, kShare); }
  /// After every search: steps that are short, or not to be found, are a sign that the matrix does not serve.
  void observe(const LineSearchResult& found);
  /// The matrix does not serve.
  void give_up() { needs_newton_ = true; }
  /// Whether everything prescribed is where the step ends.
  bool arrived(const VecX& x);
  /// Whether the rest of the step is Newton's.
  bool needs_newton(const VecX& x) { return needs_newton_ || !arrived(x); }
  /// Whether the last searches, of this step and of those before it, have moved next to nothing. Then a step that is
  /// not solved only uses up the gaps: each search leaves a share of the smallest, until rounding is all there is.
  bool is_blocked() const;
  /// Whether a step may end with its budget, after a last correction of this length (m/s). If not, it is to have
  /// another budget, or is Newton's.
  bool may_end(const VecX& x, double step_length);
  /// Whether the rest of the budget has no use after a step of this length (m/s).
  bool is_settled(double step_length) const;
  /// The step again from its beginning, friction included, with the report's outcome; `current` is where it ends.
  void end_by_newton(Iterate& current, StepReport& report);

 private:
  /// Of every gap, left in each search. With less, barriers grow faster than pairs of L-BFGS and a matrix that is not
  /// made anew can tell.
  static constexpr double kShare = 0.4;

  IncrementalPotential& potential_;
  ContactStep& contact_;
  NewtonMinimiser newton_;
  VecX dx_;
  bool is_timed_;  ///< steps end unsolved
  bool needs_newton_ = false;
  int short_steps_ = 0;  ///< in a row
  int blocked_ = 0;      ///< the same, over steps
  int budgets_ = 0;      ///< spent in this step
};

}  // namespace pliant
