#pragma once

#include <memory>

#include "pliant/linalg/block_matrix.hpp"
#include "pliant/linalg/sparse_cholesky.hpp"
#include "pliant/linalg/symbolic_factor.hpp"

namespace pliant {

/// The numeric L L^T on a symbolic plan, and the solution with it.
class MultifrontalCholesky {
 public:
  explicit MultifrontalCholesky(std::shared_ptr<const SymbolicFactor> plan);
  ~MultifrontalCholesky();

  /// ok, not_positive_definite or out_of_memory; the matrix must be finite.
  FactorStatus factor(const BlockMatrix& A);
  /// In place, any number of right-hand sides.
  void solve(Eigen::Ref<Eigen::MatrixXd> b);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace pliant
