#pragma once

#include "experiments/warp_canceling/runs.hpp"

namespace pliant::experiments {

/// A body of elements that conjugate gradients are said to fail on, with the runs they are compared with.
struct HardForCg {
  std::string claim;
  std::shared_ptr<const Model> model;
  double h;
  const Frames& full;
  const Frames& wc;
  double size;  ///< of the body, m: 1% of it is the same look
  double far;   ///< displacement that counts as blown up, m
};

/// Conjugate gradients over a ladder of tolerances against warp-canceling and against themselves on the dropped
/// sculpture: iterations and time at equal look, and tolerances at which the motion blows up.
void decide_cg_fails(Context& context, const HardForCg& hard);

}  // namespace pliant::experiments
