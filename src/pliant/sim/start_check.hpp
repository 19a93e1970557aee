#pragma once

#include <cmath>

#include "pliant/sim/stepper.hpp"

namespace pliant {

/// Reports a state or a step size that nothing can be stepped from; true when there is one. The state is then
/// unchanged.
inline bool refuse_bad_start(const State& state, double h, StepReport& report) {
  if (state.x.allFinite() && state.v.allFinite() && std::isfinite(h)) return false;
  report.outcome = Outcome::not_finite;
  report.detail = "the state to start from has positions or velocities that are not finite";
  return true;
}

}  // namespace pliant
