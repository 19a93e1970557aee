#include "pliant/solvers/quasi_newton/contact_descent.hpp"

#include <cmath>
#include <limits>

namespace pliant {

namespace {

/// So many steps in a row that were shorter than this are a sign that the matrix does not serve.
constexpr int kPatience = 3;
constexpr double kShort = 0.1;
/// The same where steps end unsolved, and go on in the next.
constexpr int kLongPatience = 10;
/// Last corrections as shares of the smallest body: beyond the first the matrix does not serve, beyond the second it
/// needs more iterations than it was given, below the third nothing moves any more.
constexpr double kViolent = 1e-3, kUnsettled = 1e-4, kSettled = 1e-6;
/// Budgets of iterations that an unsettled step is given before Newton's method ends it: ten are cheaper than one of
/// Newton's.
constexpr int kBudgets = 3;
/// Where obstacles or other bodies cut off more than this of the inertial motion, in sizes of the smallest body, the
/// matrix does not serve from the beginning.
constexpr double kHeadlong = 0.1;
/// Of a direction where time is limited, in sizes of the smallest body.
constexpr double kLongestTimed = 0.5;
/// Of conjugate gradients where time is limited: any descent direction of Newton's matrix will do.
constexpr int kTimedLinearIterations = 40;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

NewtonOptions newton_options(const CriterionOptions& criterion, int max_iterations) {
  NewtonOptions options;
  options.criterion = criterion;
  options.linear.solver = LinearSolver::direct;  // which has nothing to remember
  if (max_iterations > 0) {
    options.max_iterations = max_iterations;
    options.linear.solver = LinearSolver::pcg;
    options.linear.max_iterations = kTimedLinearIterations;
  }
  return options;
}

}  // namespace

ContactDescent::ContactDescent(IncrementalPotential& potential, const CriterionOptions& criterion, int max_iterations)
    : potential_(potential),
      contact_(*potential.contact()),
      newton_(potential, potential.shared_model(), newton_options(criterion, max_iterations)),
      is_timed_(max_iterations > 0) {}

bool ContactDescent::find_start(Iterate& current, StepReport& report) {
  short_steps_ = budgets_ = 0;
  needs_newton_ = false;
  newton_.begin_step(report);
  const StepProblem& problem = potential_.problem();
  current.x = problem.x_n;
  const bool drives = !arrived(current.x);
  if (problem.has_inertia()) {
    dx_ = problem.predicted_start() - current.x;
    double step = contact_.largest_step(current.x, dx_, drives, kShare);
    if ((1 - step) * dx_.cwiseAbs().maxCoeff() > kHeadlong * contact_.model().size) give_up();
    if (drives && step < 1) step = 0;  // bodies are in the way, and only Newton's direction takes them along
    const double at_x_n = is_timed_ ? potential_.gradient(current.x, current.gradient) : kInfinity;
    if (step > 0) {
      current.x += step * dx_;
      if (step == 1) problem.impose_boundary(current.x);
      if (drives) contact_.place_obstacles(1);
      current.energy = potential_.gradient(current.x, current.gradient);
      if (std::isfinite(current.energy) && current.energy <= at_x_n) return true;
      if (drives) contact_.place_obstacles(0);
      current.x = problem.x_n;
    }
  }
  current.energy = potential_.gradient(current.x, current.gradient);
  return std::isfinite(current.energy);
}

bool ContactDescent::arrived(const VecX& x) {
  if (!contact_.arrived()) contact_.find_remaining_motion(x, potential_.problem(), dx_);
  return contact_.arrived();
}

void ContactDescent::trim(VecX& dx, history::Descent& descent) const {
  const double limit = kLongestTimed * contact_.model().size;
  if (!is_timed_ || descent.largest <= limit) return;
  dx *= limit / descent.largest;
  descent.slope *= limit / descent.largest;
}

void ContactDescent::observe(const LineSearchResult& found) {
  short_steps_ = found.alpha < kShort ? short_steps_ + 1 : 0;
  blocked_ = found.alpha < kShort ? blocked_ + 1 : 0;
  if (!found.accepted || short_steps_ >= kPatience) give_up();
}

bool ContactDescent::is_blocked() const { return blocked_ >= kLongPatience; }

bool ContactDescent::may_end(const VecX& x, double step_length) {
  if (needs_newton_) return false;
  const double share = step_length * potential_.problem().h / contact_.model().size;
  if (share <= kUnsettled || !std::isfinite(contact_.minimum_gap(x))) return true;
  if (share > kViolent || ++budgets_ >= kBudgets) give_up();
  return false;
}

bool ContactDescent::is_settled(double step_length) const {
  return step_length * potential_.problem().h < kSettled * contact_.model().size;
}

/// It begins where the step began: a matrix that does not serve has squeezed surfaces against each other, and from
/// there Newton's steps are short.
void ContactDescent::end_by_newton(Iterate& current, StepReport& report) {
  const double progress = contact_.progress();
  contact_.begin_step(potential_.problem());
  newton_.begin_step(report);
  if (!newton_.start_at(potential_.start())) {
    contact_.place_obstacles(progress);
    newton_.start_from(current);
  }
  // Where time is limited, one iteration sets bodies free that block each other; prescribed motion takes more.
  is_timed_&& arrived(newton_.current().x) ? newton_.run(report, 1) : newton_.run(report);
  std::swap(current, newton_.current());
  blocked_ = 0;
}

}  // namespace pliant
