#include "pliant/solvers/line_search.hpp"

#include <cmath>

#include "pliant/solvers/wolfe_search.hpp"

namespace pliant {

LineSearchResult line_search(StepFunction& function, const Iterate& current, const Ray& ray,
                             const LineSearchOptions& options, Iterate& trial) {
  if (options.kind == LineSearchKind::wolfe) return wolfe_search(function, current, ray, options, trial);
  LineSearchResult result;
  for (double alpha = ray.largest; alpha >= options.smallest_step; alpha /= 2) {
    trial.x = current.x + alpha * ray.dx;
    trial.energy = function.gradient(trial.x, trial.gradient);
    ++result.evaluations;
    // An infinite or undefined energy (an inverted element, an overflow) means "too far": every comparison is false for
    // it.
    const double dE = trial.energy - current.energy;
    bool accepted = dE <= options.decrease * alpha * ray.slope || options.kind == LineSearchKind::none;
    if (!accepted && options.kind == LineSearchKind::robust &&
        std::abs(dE) <= options.energy_noise * std::abs(current.energy)) {
      // pitfalls Eqs. (16)-(18): the energy difference by the trapezoidal rule, and an estimate of that rule's error.
      const double slope_trial = trial.gradient.dot(ray.dx);
      const double dE_approx = alpha / 2 * (slope_trial + ray.slope);
      const double error = alpha / 2 * (slope_trial - ray.slope);
      ++result.compared;
      accepted = dE_approx + options.error_weight * std::abs(error) <= options.decrease * alpha * ray.slope;
    }
    if (accepted) {
      result.accepted = true;
      result.alpha = alpha;
      return result;
    }
  }
  return result;
}

}  // namespace pliant
