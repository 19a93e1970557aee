#pragma once

#include "experiments/experiment.hpp"

namespace pliant::experiments {

/// The experiments of Weidner, Kim, Sueda 2020.
std::vector<Experiment> conjac_experiments();

Experiment conjac_dragon();
Experiment conjac_cost();
Experiment conjac_twist();
Experiment conjac_hetero();
Experiment conjac_aniso();
Experiment conjac_barcut();
Experiment conjac_bunny();
Experiment conjac_muscle();
Experiment conjac_static();
Experiment conjac_stabilisation();
Experiment conjac_limits();

}  // namespace pliant::experiments
