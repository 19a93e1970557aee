#pragma once

#include "pliant/math/simd_targets.hpp"
// After the targets are chosen.
#include <hwy/targets.h>

namespace pliant::testing {

/// Runs `body` once for every instruction set this processor has and the library was compiled for, as on a processor
/// that has it and those below, but none above: some loops are not compiled for the best, and take the next.
template <class Body>
void for_each_target(Body&& body) {
  std::int64_t all = 0;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) all |= target;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(all & ~(target - 1));  // better ones have lower bits
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace pliant::testing
