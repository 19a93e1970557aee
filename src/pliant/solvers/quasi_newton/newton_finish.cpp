#include "pliant/solvers/quasi_newton/newton_finish.hpp"

#include <fmt/format.h>

#include "pliant/base/stopwatch.hpp"

namespace pliant {

namespace {

constexpr int kMostIterations = 200;
constexpr LineSearchOptions kLineSearch;

}  // namespace

NewtonFinish::NewtonFinish(IncrementalPotential& potential, const CriterionOptions& criterion)
    : potential_(potential),
      convergence_(potential.shared_model(), criterion),
      system_(potential, {}),
      direction_(make_on_demand_direction(Projection::analytic)),
      obstacles_(potential) {}

void NewtonFinish::begin_step(StepReport& report) {
  system_.begin_step(report);
  direction_->begin_step();
  obstacles_.begin_step();
}

void NewtonFinish::run(Iterate& current, Iterate& trial, StepReport& report) {
  for (int k = 0; k < kMostIterations; ++k) {
    obstacles_.update(current.x);
    const bool may_end = obstacles_.arrived();
    convergence_.measure(current.gradient, potential_.problem().boundary, report.residuals);
    const bool in_balance = convergence_.satisfied(report.residuals, report.iterations);
    if (in_balance && may_end) return report.end(Outcome::converged, "");
    obstacles_.begin_iteration(current.x, in_balance);
    if (!find_direction(current, report)) return;
    const LineSearchResult found = search(current, trial, report);
    if (found.accepted) {
      std::swap(current, trial);
      obstacles_.end_iteration(current.x, found.alpha);
      if (potential_.contact()->adapt(current.x)) current.energy = potential_.gradient(current.x, current.gradient);
    } else if (obstacles_.drive()) {
      obstacles_.wait();
      continue;
    } else {
      return report.end(may_end ? Outcome::stagnated : Outcome::line_search_failed,
                        fmt::format("no step length above {:.0e} lowers the energy{}", kLineSearch.smallest_step,
                                    obstacles_.describe(current.x)));
    }
    if (may_end && convergence_.satisfied_by_step(report.residuals.step_length))
      return report.end(Outcome::converged, "");
  }
  obstacles_.update(current.x);
  report.end(obstacles_.arrived() ? Outcome::budget_spent : Outcome::iteration_limit,
             fmt::format("not converged after {} iterations of Newton's method{}", kMostIterations,
                         obstacles_.describe(current.x)));
}

bool NewtonFinish::find_direction(const Iterate& current, StepReport& report) {
  system_.set_drive(obstacles_.drive());
  const FactorStatus status = direction_->compute(system_, current, dx_);
  if (status != FactorStatus::ok || !dx_.allFinite()) {
    report.end(Outcome::factorisation_failed,
               fmt::format("Newton's matrix could not be factorised: {}", to_string(status)));
    return false;
  }
  ++report.iterations;
  if (direction_->projected()) ++report.projected_iterations;
  report.residuals.step_length = dx_.cwiseAbs().maxCoeff() / potential_.problem().h;
  return true;
}

LineSearchResult NewtonFinish::search(const Iterate& current, Iterate& trial, StepReport& report) {
  const Stopwatch watch(report.seconds.line_search);
  const double largest = obstacles_.largest_step(current.x, dx_);
  const LineSearchResult found =
      obstacles_.drive()
          ? obstacles_.move(current, dx_, largest, kLineSearch.smallest_step, trial)
          : line_search(potential_, current, {dx_, current.gradient.dot(dx_), largest}, kLineSearch, trial);
  report.line_search_evaluations += found.evaluations;
  if (!found.accepted) return found;
  report.smallest_alpha = std::min(report.smallest_alpha, found.alpha);
  if (!obstacles_.drive()) direction_->after_line_search(found.alpha);
  return found;
}

}  // namespace pliant
