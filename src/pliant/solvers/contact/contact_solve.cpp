#include "pliant/solvers/contact/contact_solve.hpp"
#include "pliant/sim/contact/contact_step.hpp"

#include <limits>

namespace pliant {

namespace {

NewtonOptions minimiser_options(const ContactSolveOptions& options) {
  NewtonOptions newton;
  newton.method = NewtonMethod::projected;  // the matrix is positive definite, and contact is made so
  newton.criterion.kind = Criterion::step_length;
  newton.criterion.tolerance = options.tolerance;
  newton.max_iterations = options.max_iterations;
  newton.linear.solver = LinearSolver::direct;
  newton.linear.in_parts = true;  // the quadratic is constant; from iteration to iteration only contact changes
  return newton;
}

}  // namespace

ContactSolve::ContactSolve(IncrementalPotential& potential, const std::shared_ptr<const Model>& model,
                           const ContactSolveOptions& options)
    : potential_(potential), quadratic_(potential), minimiser_(quadratic_, model, minimiser_options(options)) {}

bool ContactSolve::run(VecX& y, const std::vector<std::uint8_t>& held, StepReport& report, const VecX* b,
                       std::span<const RankOne> ones) {
  quadratic_.begin(y, held);
  if (b) quadratic_.set_force(*b);
  quadratic_.set_rank_ones(ones);
  if (meets_nothing(y)) return true;
  find_start();
  StepReport solved;
  minimiser_.begin_step(solved);
  minimiser_.start_at(start_);
  minimiser_.run(solved);
  report.count(solved);
  report.figures.push_back({"contact_iterations", static_cast<double>(solved.iterations)});
  if (!solved.succeeded()) report.end(solved.outcome, "contact: " + solved.detail);
  if (!solved.advanced()) return false;
  y = minimiser_.current().x;
  return true;
}

/// Whether nothing is near where the step begins or ends, nor in between.
bool ContactSolve::meets_nothing(const VecX& y) {
  ContactStep& contact = *potential_.contact();
  const VecX& x_n = potential_.problem().x_n;
  contact.find_remaining_motion(x_n, quadratic_.problem(), motion_);
  if (contact.minimum_gap(x_n) < std::numeric_limits<double>::infinity()) return false;
  motion_ = y - x_n;
  if (contact.largest_step(x_n, motion_, !contact.arrived()) < 1) return false;
  const double progress = contact.progress();
  contact.place_obstacles(1);
  if (contact.minimum_gap(y) == std::numeric_limits<double>::infinity()) return true;
  contact.place_obstacles(progress);
  return false;
}

/// Where nothing is near yet and nothing else moves, the way to y goes as far as possible without a solution.
void ContactSolve::find_start() {
  ContactStep& contact = *potential_.contact();
  start_ = potential_.problem().x_n;
  if (!contact.arrived() || contact.minimum_gap(start_) < std::numeric_limits<double>::infinity()) return;
  motion_ = quadratic_.free_step() - start_;
  start_ += contact.largest_step(start_, motion_, false) * motion_;
}

}  // namespace pliant
