#include "pliant/math/psd_projection.hpp"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Matrix = Eigen::Matrix<double, 12, 12>;

/// With eigenvectors that are the product of reflections.
Matrix symmetric_with(const Eigen::Matrix<double, 12, 1>& eigenvalues, Matrix& vectors) {
  std::srand(5);
  vectors.setIdentity();
  for (int k = 0; k < 12; ++k) {
    const Eigen::Matrix<double, 12, 1> u = Eigen::Matrix<double, 12, 1>::Random().normalized();
    vectors -= (2 * vectors * u * u.transpose()).eval();
  }
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
