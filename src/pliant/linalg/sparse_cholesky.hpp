#pragma once

#include <memory>
#include <string_view>

#include "pliant/linalg/block_matrix.hpp"

namespace pliant {

/// LL^T for positive definite matrices, LDL^T with pivoting for indefinite ones.
enum class Factorisation { llt, ldlt };

enum class FactorStatus { ok, not_positive_definite, singular, not_finite, out_of_memory };
std::string_view to_string(FactorStatus status);

/// Direct solution of A x = b for symmetric block matrices. Same bits for any number of threads.
class SparseCholesky {
 public:
  struct Statistics {
    std::int64_t factor_entries = 0;  ///< numbers stored in the factor
    double flops = 0;                 ///< of one numeric factorisation
  };
  struct Inertia {
    Index negative = 0;
    Index zero = 0;
  };

  SparseCholesky();
  ~SparseCholesky();
  SparseCholesky(SparseCholesky&&) noexcept;
  SparseCholesky& operator=(SparseCholesky&&) noexcept;

  /// Ordering and symbolic factorisation; needed once per pattern.
  void analyze(std::shared_ptr<const BlockPattern> pattern, int block_size);
  /// A must have the analysed pattern. After anything but `ok` there is no factor to solve with.
  FactorStatus factor(const BlockMatrix& A, Factorisation kind);
  /// In place: b becomes A^{-1} b. `b` has columns() right-hand sides.
  void solve(Eigen::Ref<Eigen::MatrixXd> b);

  /// Of the last LDL^T.
  Inertia inertia() const;
  Statistics statistics() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace pliant
