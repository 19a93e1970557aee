#pragma once

#include "experiments/experiment.hpp"

namespace pliant::experiments {

/// The experiments of Chen et al. 2024.
std::vector<Experiment> pxpbd_experiments();

Experiment pxpbd_residual();
Experiment pxpbd_equal_budget();
Experiment pxpbd_sqrt_energy();
Experiment pxpbd_neo_hookean();
Experiment pxpbd_muscle_box();
Experiment pxpbd_grid();
Experiment pxpbd_stability();
Experiment pxpbd_zeta();
Experiment pxpbd_identities();
Experiment pxpbd_cost();
Experiment pxpbd_laws();
Experiment pxpbd_colouring();
Experiment pxpbd_objects();

}  // namespace pliant::experiments
