#include "pliant/solvers/line_search.hpp"

#include "pliant/sim/sharing.hpp"
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
    const bool accepted = accepts(options, alpha, trial.energy, current.energy, ray.slope, [&] {
      ++result.compared;
      return dot(function.model().sharing(), trial.gradient, ray.dx);
    });
    if (accepted) {
      result.accepted = true;
      result.alpha = alpha;
      return result;
    }
  }
  return result;
}

}  // namespace pliant
