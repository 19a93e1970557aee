#pragma once

#include <memory>

#include "pliant/linalg/block_matrix.hpp"
#include "pliant/linalg/sparse_cholesky.hpp"
#include "pliant/linalg/symbolic_factor.hpp"

namespace pliant {

/// The numeric L D L^T of indefinite matrices with pivoting, by the sequential MUMPS under our order of elimination.
class MumpsLdlt {
 public:
  MumpsLdlt(std::shared_ptr<const BlockPattern> pattern, const SymbolicFactor& plan);
  ~MumpsLdlt();

  /// ok, singular or out_of_memory; the matrix must be finite.
  FactorStatus factor(const BlockMatrix& A);
  /// In place, any number of right-hand sides, refined where the residual is not at rounding level.
  void solve(Eigen::Ref<Eigen::MatrixXd> b);

  SparseCholesky::Inertia inertia() const;
  SparseCholesky::Statistics statistics() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace pliant
