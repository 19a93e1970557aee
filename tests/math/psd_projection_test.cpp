#include "pliant/math/psd_projection.hpp"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Matrix = Eigen::Matrix<double, 12, 12>;

Matrix symmetric_with(const Eigen::Matrix<double, 12, 1>& eigenvalues, Eigen::Matrix<double, 12, 12>& vectors) {
  std::srand(5);
  vectors =
      Eigen::SelfAdjointEigenSolver<Matrix>(Matrix(Matrix::Random().selfadjointView<Eigen::Lower>())).eigenvectors();
  return vectors * eigenvalues.asDiagonal() * vectors.transpose();
}

TEST(PsdProjection, ClampsNegativeEigenvaluesAndKeepsTheOthers) {
  Matrix vectors;
  Eigen::Matrix<double, 12, 1> values;
  values << -5, -1, -1e-3, 0, 0, 0, 1e-3, 1, 1, 2, 3, 100;
  Matrix A = symmetric_with(values, vectors);
  project_psd(A);
  const Matrix expected = vectors * values.cwiseMax(0).asDiagonal() * vectors.transpose();
  EXPECT_LT((A - expected).norm(), 1e-12);
  EXPECT_GT(Eigen::SelfAdjointEigenSolver<Matrix>(A).eigenvalues().minCoeff(), -1e-12);
  EXPECT_LT((A * vectors.middleCols<3>(3)).norm(), 1e-12) << "null vectors stay null";
}

TEST(PsdProjection, LeavesASemidefiniteMatrixExactlyAsItIs) {
  Matrix vectors;
  Eigen::Matrix<double, 12, 1> values;
  values << 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 3, 4;
  Matrix A = symmetric_with(values, vectors);
  A = (0.5 * (A + A.transpose())).eval();
  const Matrix before = A;
  project_psd(A);
  EXPECT_EQ(A, before);
}

}  // namespace
}  // namespace pliant
