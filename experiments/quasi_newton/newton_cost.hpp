#pragma once

#include "experiments/experiment.hpp"

namespace pliant::experiments {

/// Section 5: what makes an iteration of Newton expensive, part by part, on longbar2 and (at full size) the squirrel.
/// Decides quasi-newton/section-5/why-newton-is-slow.
void decide_newton_cost(Context& context);

}  // namespace pliant::experiments
