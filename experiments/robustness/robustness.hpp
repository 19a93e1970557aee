#pragma once

#include "experiments/experiment.hpp"

namespace pliant::experiments {

/// What a stranger would try: any solver with any law on any mesh.
std::vector<Experiment> robustness_experiments();

}  // namespace pliant::experiments
