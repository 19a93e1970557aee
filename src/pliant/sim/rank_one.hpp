#pragma once

#include "pliant/linalg/sparse_cholesky.hpp"
#include "pliant/sim/step_function.hpp"

namespace pliant {

/// From A^{-1} b to (A + U C U^T)^{-1} b = A^{-1} b - Z (C^{-1} + U^T Z)^{-1} U^T A^{-1} b with Z = A^{-1} U, by
/// Sherman, Morrison and Woodbury; A is what was factored last.
void add_rank_ones(SparseCholesky& A, std::span<const RankOne> ones, VecX& x);

}  // namespace pliant
