#include "pliant/solvers/newton/long_step_search.hpp"

#include <cmath>

#include "pliant/sim/sharing.hpp"

namespace pliant {

void LongStepSearch::improve(const Iterate& current, const Ray& ray, ObstacleDrive& obstacles, LineSearchResult& found,
                             Iterate& trial) {
  constexpr double kSteeper = 1.01;  ///< beyond rounding
  constexpr int kDoublings = 10;
  if (!found.accepted || found.alpha != 1) return;
  Sharing* sharing = function_.model().sharing();
  for (int k = 0; k < kDoublings && dot(sharing, trial.gradient, ray.dx) < kSteeper * ray.slope; ++k) {
    way_ = 2 * found.alpha * ray.dx;
    const double alpha = 2 * found.alpha * obstacles.largest_step(current.x, way_);
    if (!(alpha > found.alpha)) return;
    tried_.x = current.x + alpha * ray.dx;
    tried_.energy = function_.gradient(tried_.x, tried_.gradient);
    ++found.evaluations;
    if (!(tried_.energy < trial.energy)) return;
    found.alpha = alpha;
    std::swap(trial, tried_);
  }
}

}  // namespace pliant
