#include "pliant/solvers/line_search.hpp"

#include <cmath>

namespace pliant {

LineSearchResult line_search(IncrementalPotential& potential, const Iterate& current, const VecX& dx, double largest,
                             const LineSearchOptions& options, Iterate& trial) {
  const double slope = current.gradient.dot(dx);
  LineSearchResult result;
  for (double alpha = largest; alpha >= options.smallest_step; alpha /= 2) {
    trial.x = current.x + alpha * dx;
    trial.energy = potential.gradient(trial.x, trial.gradient);
    ++result.evaluations;
    // An infinite or undefined energy (an inverted element, an overflow) means "too far": every comparison is false for
    // it.
    const double dE = trial.energy - current.energy;
    bool accepted = dE <= options.decrease * alpha * slope;
    if (!accepted && options.kind == LineSearchKind::robust &&
        std::abs(dE) <= options.energy_noise * std::abs(current.energy)) {
      // pitfalls Eqs. (16)-(18): the energy difference by the trapezoidal rule, and an estimate of that rule's error.
      const double slope_trial = trial.gradient.dot(dx);
      const double dE_approx = alpha / 2 * (slope_trial + slope);
      const double error = alpha / 2 * (slope_trial - slope);
      accepted = dE_approx + std::abs(error) <= options.decrease * alpha * slope;
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
