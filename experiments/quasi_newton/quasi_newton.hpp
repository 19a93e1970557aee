#pragma once

#include "experiments/experiment.hpp"
#include "experiments/quasi_newton/frames.hpp"

namespace pliant::experiments {

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
Experiment history_experiment();
Experiment materials();
Experiment squirrel();
Experiment projective();
Experiment integrators();
Experiment cloth_experiment();
Experiment collisions();

}  // namespace pliant::experiments
