#pragma once

#include "experiments/experiment.hpp"
#include "pliant/sim/model.hpp"

namespace pliant::experiments {

/// Scenes of contact that users know.
std::vector<Experiment> contact_experiments();

Experiment contact_stack();
Experiment contact_ring();
Experiment contact_wedge_spike();
Experiment contact_slope();
Experiment contact_everything();

/// A box of a material, its centre at `at`.
struct BlockOptions {
  std::string name = "block";
  Vec3 size = Vec3::Ones(), at = Vec3::Zero();
  std::array<Index, 3> cells = {1, 1, 1};
  double young = 1e6, poisson = 0.4, density = 1000;
  Vec3 velocity = Vec3::Zero();
};
BodyOptions block(const BlockOptions& options);

/// Claims that every row completed and that no state of any of them intersected.
void check_apart(Context& context);

}  // namespace pliant::experiments
