#pragma once

#include "pliant/math/simd_targets.hpp"
// After the targets are chosen.
#include <hwy/targets.h>

namespace pliant::testing {

/// Runs `body` once for every instruction set this processor has and the library was compiled for.
template <class Body>
void for_each_target(Body&& body) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace pliant::testing
