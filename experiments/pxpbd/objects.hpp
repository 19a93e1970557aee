#pragma once

#include "experiments/experiment.hpp"
#include "pliant/sim/model.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

inline constexpr double kPileFrame = 1.0 / 30;

/// Bodies by the names of their meshes ("box": generated), each 0.8 m large, above a box of 2 m.
std::shared_ptr<const Model> dropped_pile(Context& context, const std::vector<std::string>& names, double cell);

struct PileRun {
  State end;
  bool stable = true;
  std::string why;
  int frames = 0, touching = 0, sweeps = 0;  ///< touching: bodies that touched another at some time
  double inside = 0, stretched = 0, seconds_per_frame = 0;
  std::vector<double> kinetic;
};
PileRun run_pile(Context& context, const std::shared_ptr<const Model>& model, int frames, ParameterMap parameters);

double smallest_distance_of(const Model& model, const Vec3& p);
void mark_touching(const Model& model, const VecX& x, std::vector<std::uint8_t>& touched);

}  // namespace pliant::experiments
