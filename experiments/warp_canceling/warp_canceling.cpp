#include "experiments/warp_canceling/warp_canceling.hpp"

namespace pliant::experiments {

std::vector<Experiment> warp_canceling_experiments() { return {accuracy(), sculpture_drop()}; }

}  // namespace pliant::experiments
