#pragma once

#include "experiments/experiment.hpp"

namespace pliant::experiments {

/// The time step of all of them, s.
inline constexpr double kFrame = 1.0 / 30;

/// The experiments of Liu, Bouaziz, Kavan 2017.
std::vector<Experiment> quasi_newton_experiments();

Experiment table1();
Experiment convergence();
Experiment rotation();
Experiment iterative();
Experiment robustness();
Experiment shaken_bar();
Experiment bunny_through_torus();
Experiment anisotropic_cube();
Experiment pulling();

}  // namespace pliant::experiments
