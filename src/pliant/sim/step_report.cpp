#include "pliant/sim/step_report.hpp"

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
    case Outcome::inverted_start:
      return "inverted-start";
    case Outcome::intersecting_start:
      return "intersecting-start";
    case Outcome::not_finite:
      return "not-finite";
  }
  return "unknown";
}

}  // namespace pliant
