#pragma once

#include "experiments/experiment.hpp"

namespace pliant::experiments {

/// The experiments of Hecht et al. 2012, and those that decide whether the method is used well.
std::vector<Experiment> warp_canceling_experiments();

Experiment accuracy();
/// The claims of `accuracy` about the threshold, on the dropped sculpture.
void decide_trade_offs(Context& context);
/// Those about badly shaped elements and ill-conditioned systems.
void decide_poor_elements(Context& context);
void decide_conditioning(Context& context);
Experiment sculpture_drop();
Experiment three_torus_experiment();
Experiment bears();
Experiment low_rank();
Experiment squash();
Experiment sheet_experiment();
Experiment trampoline_experiment();
Experiment spider_experiment();
Experiment threads_experiment();
Experiment shaken_bar_experiment();
Experiment warping_experiment();
Experiment factor_experiment();
Experiment memory_experiment();
Experiment schedules_experiment();
Experiment dragon_experiment();
Experiment warp_limits();

}  // namespace pliant::experiments
