#include "experiments/quasi_newton/quasi_newton.hpp"

namespace pliant::experiments {

std::vector<Experiment> quasi_newton_experiments() {
  return {table1(),     convergence(),         rotation(),         iterative(),          robustness(),
          shaken_bar(), bunny_through_torus(), anisotropic_cube(), history_experiment(), materials(),
          squirrel(),   projective(),          integrators(),      cloth_experiment(),   collisions(),
          pulling()};
}

}  // namespace pliant::experiments
