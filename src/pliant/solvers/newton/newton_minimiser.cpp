#include "pliant/solvers/newton/newton_minimiser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pliant/base/stopwatch.hpp"
#include "pliant/sim/contact/contact_step.hpp"
#include "pliant/sim/sharing.hpp"
#include "pliant/solvers/newton/newton_system.hpp"

namespace pliant {

namespace {

std::unique_ptr<Direction> make_direction(const NewtonOptions& options) {
  switch (options.method) {
    case NewtonMethod::newton:
      return make_newton_direction();
    case NewtonMethod::projected:
      return make_projected_direction(options.projection);
    case NewtonMethod::on_demand:
      return make_on_demand_direction(options.projection, options.on_demand);
    case NewtonMethod::kinetic:
      return make_kinetic_direction(options.kinetic);
  }
  return nullptr;
}

/// The nearest rotation jumps where the two smaller stretches of an inverted element, s_2 > 0 > s_3, change places.
/// There the sum of the stretches has a kink, s_1 + |s_2 + s_3|, and with it the energy of linear-corotated; where
/// lambda (s_1 - 3) > 2 mu it is the bottom of a valley with steep sides, along which no direction of Newton's leads.
std::string describe_kink(const Model& model, const VecX& x) {
  for (const Body& body : model.bodies())
    if (body.elastic && body.law->info().name == "linear-corotated" && body.elastic->first_inverted(x) >= 0)
      return fmt::format(
          "; elements of body '{}' are inverted, where the energy of its law, linear-corotated, has kinks; remedy: "
          "take "
          "the law fixed-corotated or stable-neo-hookean",
          body.name);
  return "";
}

}  // namespace

VecX explicit_step(const Iterate& at_x_n, const VecX& mass, double h) {
  VecX x = at_x_n.x;
  for (Index i = 0; i < mass.size(); ++i) node(x, i) -= h * h / mass[i] * node(at_x_n.gradient, i);
  return x;
}

NewtonMinimiser::NewtonMinimiser(StepFunction& function, const std::shared_ptr<const Model>& model,
                                 const NewtonOptions& options)
    : function_(function),
      options_(options),
      convergence_(model, options.criterion),
      sharing_(model->sharing()),
      system_(sharing_ ? sharing_->make_system(function, options.linear)
                       : std::make_unique<NewtonSystem>(function, options.linear)),
      direction_(make_direction(options)),
      obstacles_(function),
      turning_(function),
      long_steps_(function) {}

void NewtonMinimiser::begin_step(StepReport& report) {
  system_->begin_step(report);
  convergence_.begin_step(function_.problem());
  direction_->begin_step();
  obstacles_.begin_step();
}

bool NewtonMinimiser::start_at(const VecX& x) {
  current_.x = x;
  current_.energy = function_.gradient(current_.x, current_.gradient);
  return std::isfinite(current_.energy);
}

void NewtonMinimiser::start_lower(const VecX& x) {
  trial_.x = x;
  trial_.energy = function_.gradient(trial_.x, trial_.gradient);
  if (trial_.energy < current_.energy) std::swap(current_, trial_);
}

void NewtonMinimiser::run(StepReport& report, int most_iterations) {
  last_iteration_ = report.iterations + most_iterations;
  iterate(report);
  if (function_.contact()) renew_friction(report);
  system_->end_step();
}

/// pitfalls, Algorithm 1; what sets the four methods apart is in find_direction.
void NewtonMinimiser::iterate(StepReport& report) {
  stagnation_.begin();
  last_force_ = 0;
  for (;;) {
    StepControl::at_iteration(report.iterations);
    obstacles_.update(current_.x);
    convergence_.measure(current_.gradient, function_.problem().boundary, report.residuals);
    if (!std::isfinite(report.residuals.force)) return end(report, Outcome::not_finite, "the forces are not finite");
    const bool in_balance = convergence_.satisfied(report.residuals, report.iterations), may_end = obstacles_.arrived();
    if (in_balance && may_end) return end(report, Outcome::converged, "");
    if (report.iterations >= last_iteration_) return end(report, Outcome::iteration_limit, "not converged");

    obstacles_.begin_iteration(current_.x, in_balance);
    contraction_ = last_force_ > 0 ? report.residuals.force / last_force_ : 1;
    if (!find_direction(report)) return;
    last_force_ = 0;
    const double largest = pliant::largest(sharing_, dx_), size = pliant::largest(sharing_, current_.x);
    const bool is_short = convergence_.satisfied_by_step(report.residuals.step_length);
    if (may_end && !is_short && stagnation_.reached(size, largest, report.residuals.force)) {
      // What rounding leaves is far below the forces of a body that is strained by as much as it is stiff.
      constexpr double kLargestOfRounding = 0.01;
      if (report.residuals.force > kLargestOfRounding * characteristic_force(function_.model()))
        return end(report, Outcome::line_search_failed, "steps are too short to move anything, far from balance,");
      return end(report, Outcome::stagnated, "rounding hides any further progress");
    }

    const LineSearchResult found = search(report);
    if (found.accepted) {
      std::swap(current_, trial_);
      if (found.alpha == 1) last_force_ = report.residuals.force, last_step_ = largest;
      obstacles_.end_iteration(current_.x, found.alpha);
      ContactStep* contact = function_.contact();
      if (contact && contact->adapt(current_.x)) current_.energy = function_.gradient(current_.x, current_.gradient);
    } else if (obstacles_.drive()) {
      obstacles_.wait();
      continue;
    } else if (!is_short || !may_end) {
      const bool hidden =
          may_end && options_.line_search.kind == LineSearchKind::robust && StagnationTest::is_tiny(size, largest);
      return end(report, hidden ? Outcome::stagnated : Outcome::line_search_failed,
                 fmt::format("no step length above {:.0e} lowers the energy", options_.line_search.smallest_step));
    }
    if (is_short && may_end) return end(report, Outcome::converged, "");
  }
}

/// A direction by the matrix at hand. Where a whole step has lowered the gradient by much, that is nearly the matrix of
/// the solution, and another one would gain less than it takes to assemble. That the gradient has fallen is not enough:
/// a stiff body's is all stretch, whether or not it has turned far enough. The direction must be much shorter than the
/// last, too (P. Deuflhard, "Newton methods for nonlinear problems", 2004, section 2.1: natural monotonicity).
bool NewtonMinimiser::find_chord_direction() {
  constexpr double kMuch = 0.1;
  if (contraction_ > kMuch || !system_->may_solve_again()) return false;
  if (system_->solve_again(current_.gradient, dx_) != FactorStatus::ok) return false;
  if (largest(sharing_, dx_) > kMuch * last_step_) return false;
  system_->count_kept_matrix();
  return true;
}

bool NewtonMinimiser::find_direction(StepReport& report) {
  system_->set_drive(obstacles_.drive());
  system_->set_goal(last_force_ > 0 ? convergence_.distance(report.residuals, contraction_) : 0);
  const FactorStatus status = find_chord_direction() ? FactorStatus::ok : direction_->compute(*system_, current_, dx_);
  if (status == FactorStatus::not_finite || (status == FactorStatus::ok && anywhere(sharing_, !dx_.allFinite()))) {
    end(report, Outcome::not_finite, "the matrix or the direction is not finite");
    return false;
  }
  if (status != FactorStatus::ok) {
    StepReport failure;
    system_->end_without_factor(failure, status,
                                function_.problem().has_inertia() ? "" : "without inertia, pins must hold every body");
    end(report, failure.outcome, failure.detail);
    return false;
  }
  ++report.iterations;
  if (direction_->projected()) ++report.projected_iterations;
  const double bound = options_.bounds_kinetic_step ? direction_->shortening() : 1;
  report.residuals.step_length = bound * largest(sharing_, dx_) / function_.problem().h;
  return true;
}

LineSearchResult NewtonMinimiser::search(StepReport& report) {
  const Stopwatch watch(report.seconds.line_search);
  const double largest = obstacles_.largest_step(current_.x, dx_);
  const Ray ray{dx_, dot(sharing_, current_.gradient, dx_), largest};
  LineSearchResult found = obstacles_.drive()
                               ? obstacles_.move(current_, dx_, largest, options_.line_search.smallest_step, trial_)
                               : line_search(function_, current_, ray, options_.line_search, trial_);
  // Turns of bodies are sums over all of their nodes, which no process has.
  if (!obstacles_.drive() && options_.turning == Turning::exact && !sharing_)
    turning_.improve(current_, ray, options_.line_search, obstacles_, found, trial_);
  if (!obstacles_.drive() && options_.long_steps == LongSteps::where_concave)
    long_steps_.improve(current_, ray, obstacles_, found, trial_);
  report.line_search_evaluations += found.evaluations;
  if (options_.history)
    report.history.push_back({current_.energy, report.residuals.force, report.residuals.acceleration,
                              report.residuals.step_length, found.alpha, direction_->projected()});
  if (options_.observer) options_.observer(*direction_, current_, dx_, found);
  if (!found.accepted) return found;
  report.smallest_alpha = std::min(report.smallest_alpha, found.alpha);
  if (!obstacles_.drive()) direction_->after_line_search(found.alpha);
  return found;
}

/// Solves again with the friction that belongs to what came out, as often as is asked for.
void NewtonMinimiser::renew_friction(StepReport& report) {
  ContactStep& contact = *function_.contact();
  for (int k = 1; k < contact.model().options.friction_iterations && report.converged(); ++k) {
    const int before = report.iterations;
    const bool had_friction = contact.has_friction();
    contact.renew_friction(current_.x);
    if (!had_friction && !contact.has_friction()) return;
    current_.energy = function_.gradient(current_.x, current_.gradient);
    iterate(report);
    if (report.iterations == before) return;
  }
}

/// With numbers for people, unless all is well.
void NewtonMinimiser::end(StepReport& report, Outcome outcome, std::string detail) {
  report.end(outcome, std::move(detail));
  if (outcome == Outcome::converged) return;
  report.detail += fmt::format(" after {} iterations: residual {:.3g} N, {:.3g} m/s^2{}", report.iterations,
                               report.residuals.force, report.residuals.acceleration, obstacles_.describe(current_.x));
  if (outcome == Outcome::line_search_failed) report.detail += describe_kink(function_.model(), current_.x);
}

}  // namespace pliant
