#include "experiments/conjac/conjac.hpp"

namespace pliant::experiments {

std::vector<Experiment> conjac_experiments() {
  return {conjac_dragon(), conjac_cost(),   conjac_twist(), conjac_hetero(),
          conjac_aniso(),  conjac_barcut(), conjac_bunny(), conjac_muscle()};
}

}  // namespace pliant::experiments
