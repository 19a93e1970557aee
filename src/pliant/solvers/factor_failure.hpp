#pragma once

#include <string_view>

#include "pliant/linalg/sparse_cholesky.hpp"
#include "pliant/sim/step_report.hpp"

namespace pliant {

/// Ends a step that found no factor, by what was wrong: the numbers, the matrix, or the memory, with what is needed and
/// what there is. `what` is what could not be factorised; `remedy` is what helps against a matrix that has no factor.
void end_without_factor(StepReport& report, FactorStatus status, const SparseCholesky& cholesky, std::string_view what,
                        std::string_view remedy = {});

}  // namespace pliant
