#include "experiments/conjac/conjac.hpp"

namespace pliant::experiments {

std::vector<Experiment> conjac_experiments() {
  return {conjac_static(), conjac_dragon(), conjac_cost(),   conjac_twist(), conjac_stabilisation(), conjac_hetero(),
          conjac_aniso(),  conjac_muscle(), conjac_barcut(), conjac_bunny(), conjac_limits()};
}

}  // namespace pliant::experiments
