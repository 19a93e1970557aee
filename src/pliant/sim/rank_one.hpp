#pragma once

#include <functional>

#include "pliant/linalg/sparse_cholesky.hpp"
#include "pliant/math/dense.hpp"
#include "pliant/sim/step_function.hpp"

namespace pliant {

/// What matrices U C U^T, beside a matrix A that is solved with, change of the solutions (Sherman, Morrison, Woodbury):
///
///   (A + U C U^T)^{-1} b = y - Z (C^{-1} + U^T Z)^{-1} U^T y,   y = A^{-1} b,   Z = A^{-1} U.
class RankOneUpdate {
 public:
  /// `solve` turns each column into A^{-1} times it. Matrices of no scale are left out.
  void set(std::span<const RankOne> ones, const std::function<void(MatView)>& solve);
  void clear() { U_.resize(0, 0); }
  bool none() const { return U_.cols() == 0; }
  /// From y = A^{-1} b to the above, column by column.
  void apply(MatView y) const;
  /// U and Z, and (C^{-1} + U^T Z)^{-1} times the columns of B.
  const MatX& vectors() const { return U_; }
  const MatX& solved() const { return Z_; }
  MatX coefficients(const MatX& B) const;

 private:
  MatX U_, Z_;
  DenseLdlt factor_;
};

/// The same for what was factored last. From A^{-1} b to (A + U C U^T)^{-1} b.
void add_rank_ones(SparseCholesky& A, std::span<const RankOne> ones, VecX& x);

}  // namespace pliant
