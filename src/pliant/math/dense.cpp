#include "pliant/math/dense.hpp"

#include <Eigen/Cholesky>

namespace pliant {

void add_product(double scale, const ConstMatView& A, const ConstMatView& B, MatView C) {
  C.noalias() += scale * A * B;
}

void add_transposed_product(double scale, const ConstMatView& A, const ConstMatView& B, MatView C) {
  C.noalias() += scale * A.transpose() * B;
}

struct DenseCholesky::Factor {
  Eigen::LLT<MatX> llt;
};
DenseCholesky::DenseCholesky() : factor_(std::make_unique<Factor>()) {}
DenseCholesky::DenseCholesky(DenseCholesky&&) noexcept = default;
DenseCholesky& DenseCholesky::operator=(DenseCholesky&&) noexcept = default;
DenseCholesky::~DenseCholesky() = default;
void DenseCholesky::factor(const MatX& A) { factor_->llt.compute(A); }
bool DenseCholesky::is_valid() const { return factor_->llt.info() == Eigen::Success; }
VecX DenseCholesky::diagonal() const { return factor_->llt.matrixLLT().diagonal(); }
VecX DenseCholesky::solve(const VecX& b) const { return factor_->llt.solve(b); }
void DenseCholesky::solve_in_place(MatX& b) const { factor_->llt.solveInPlace(b); }

struct DenseLdlt::Factor {
  Eigen::LDLT<MatX> ldlt;
};
DenseLdlt::DenseLdlt() : factor_(std::make_unique<Factor>()) {}
DenseLdlt::DenseLdlt(DenseLdlt&&) noexcept = default;
DenseLdlt& DenseLdlt::operator=(DenseLdlt&&) noexcept = default;
DenseLdlt::~DenseLdlt() = default;
void DenseLdlt::factor(const MatX& A) { factor_->ldlt.compute(A); }
bool DenseLdlt::is_valid() const { return factor_->ldlt.info() == Eigen::Success; }
bool DenseLdlt::is_positive() const { return factor_->ldlt.isPositive(); }
VecX DenseLdlt::solve(const VecX& b) const { return factor_->ldlt.solve(b); }

}  // namespace pliant
