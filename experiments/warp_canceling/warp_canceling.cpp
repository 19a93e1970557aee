#include "experiments/warp_canceling/warp_canceling.hpp"

namespace pliant::experiments {

std::vector<Experiment> warp_canceling_experiments() {
  return {accuracy(),
          sculpture_drop(),
          three_torus_experiment(),
          bears(),
          low_rank(),
          squash(),
          sheet_experiment(),
          trampoline_experiment(),
          spider_experiment(),
          threads_experiment(),
          shaken_bar_experiment(),
          warping_experiment(),
          factor_experiment(),
          memory_experiment(),
          schedules_experiment(),
          dragon_experiment(),
          warp_limits()};
}

}  // namespace pliant::experiments
