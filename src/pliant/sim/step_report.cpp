#include "pliant/sim/step_report.hpp"

#include <algorithm>

namespace pliant {

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::converged:
      return "converged";
    case Outcome::budget_spent:
      return "budget-spent";
    case Outcome::stagnated:
      return "stagnated";
    case Outcome::diverged:
      return "diverged";
    case Outcome::iteration_limit:
      return "iteration-limit";
    case Outcome::line_search_failed:
      return "line-search-failed";
    case Outcome::factorisation_failed:
      return "factorisation-failed";
    case Outcome::out_of_memory:
      return "out-of-memory";
    case Outcome::inverted_start:
      return "inverted-start";
    case Outcome::intersecting_start:
      return "intersecting-start";
    case Outcome::not_finite:
      return "not-finite";
    case Outcome::interrupted:
      return "interrupted";
  }
  return "unknown";
}

void StepReport::count(const StepReport& part) {
  iterations += part.iterations;
  factorisations += part.factorisations;
  failed_factorisations += part.failed_factorisations;
  linear_iterations += part.linear_iterations;
  projected_iterations += part.projected_iterations;
  line_search_evaluations += part.line_search_evaluations;
  smallest_alpha = std::min(smallest_alpha, part.smallest_alpha);
  seconds.assembly += part.seconds.assembly;
  seconds.factorisation += part.seconds.factorisation;
  seconds.solve += part.seconds.solve;
  seconds.line_search += part.seconds.line_search;
  residuals.step_length = part.residuals.step_length;
}

}  // namespace pliant
