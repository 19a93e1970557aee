#pragma once

#include "experiments/experiment.hpp"

namespace pliant::experiments {

/// Decides quasi-newton/section-5/definiteness-fix: projected Newton against a multiple of the identity.
void decide_definiteness(Context& context);
/// Decides quasi-newton/section-5/no-hessian: no element Hessian is ever evaluated.
void decide_no_hessian(Context& context);

}  // namespace pliant::experiments
