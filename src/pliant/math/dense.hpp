#pragma once

#include <memory>

#include "pliant/math/types.hpp"

namespace pliant {

// What is done with dense matrices of any size, by Eigen and compiled in dense.cpp alone: a product or a factor costs
// the compiler some five seconds in every file that asks Eigen for it.

using MatX = Eigen::MatrixXd;
using MatView = Eigen::Ref<MatX>;
using ConstMatView = Eigen::Ref<const MatX>;

/// C += scale A B and C += scale A^T B; C is neither A nor B.
void add_product(double scale, const ConstMatView& A, const ConstMatView& B, MatView C);
void add_transposed_product(double scale, const ConstMatView& A, const ConstMatView& B, MatView C);

/// A symmetric matrix factored as L L^T.
class DenseCholesky {
 public:
  DenseCholesky();
  DenseCholesky(DenseCholesky&&) noexcept;
  DenseCholesky& operator=(DenseCholesky&&) noexcept;
  ~DenseCholesky();
  void factor(const MatX& A);
  /// Whether A was positive definite.
  bool is_valid() const;
  /// Of L.
  VecX diagonal() const;
  VecX solve(const VecX& b) const;
  void solve_in_place(MatX& b) const;

 private:
  struct Factor;
  std::unique_ptr<Factor> factor_;
};

/// A symmetric matrix factored as L D L^T, with pivots.
class DenseLdlt {
 public:
  DenseLdlt();
  DenseLdlt(DenseLdlt&&) noexcept;
  DenseLdlt& operator=(DenseLdlt&&) noexcept;
  ~DenseLdlt();
  void factor(const MatX& A);
  bool is_valid() const;
  /// No negative pivot.
  bool is_positive() const;
  VecX solve(const VecX& b) const;

 private:
  struct Factor;
  std::unique_ptr<Factor> factor_;
};

}  // namespace pliant
