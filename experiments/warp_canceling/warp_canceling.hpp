#pragma once

#include "experiments/experiment.hpp"

namespace pliant::experiments {

/// The experiments of Hecht et al. 2012, and those that decide whether the method is used well.
std::vector<Experiment> warp_canceling_experiments();

Experiment accuracy();
Experiment sculpture_drop();

}  // namespace pliant::experiments
