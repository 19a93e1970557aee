#pragma once

#include "experiments/experiment.hpp"

namespace pliant::experiments {

/// The experiments of Liu, Bouaziz, Kavan 2017.
std::vector<Experiment> quasi_newton_experiments();

Experiment table1();
Experiment convergence();

}  // namespace pliant::experiments
