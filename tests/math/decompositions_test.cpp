#include "pliant/math/decompositions.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>

#include "pliant/math/dense.hpp"
#include "pliant/math/small_cholesky.hpp"

namespace pliant {
namespace {

MatX random_symmetric(int n) {
  std::srand(static_cast<unsigned>(n));
  const MatX A = MatX::Random(n, n);
  return A + A.transpose();
}

TEST(SymmetricEigen, ValuesAscendAndVectorsAreOrthonormalForEverySize) {
  for (int n : {1, 2, 3, 4, 5, 6, 7, 9, 12, 18, 60}) {
    const MatX A = random_symmetric(n);
    VecX values(n), alone(n);
    MatX V(n, n);
    symmetric_eigen(A.data(), n, values.data(), V.data());
    symmetric_eigen(A.data(), n, alone.data());
    EXPECT_LE((A.lazyProduct(V) - V.lazyProduct(MatX(values.asDiagonal()))).norm(), 1e-13 * n * A.norm()) << n;
    EXPECT_LE((V.transpose().lazyProduct(V) - MatX::Identity(n, n)).norm(), 1e-13 * n) << n;
    EXPECT_LE((values - alone).norm(), 1e-13 * n * A.norm()) << n;
    for (int k = 1; k < n; ++k) EXPECT_LE(values[k - 1], values[k]) << n;
  }
}

TEST(SymmetricEigen, RoughValuesAreThoseOfTheMatrixToEightDigits) {
  const Mat3 A = random_symmetric(3);
  EXPECT_LE((rough_symmetric_eigenvalues(A) - symmetric_eigenvalues<3>(A)).norm(), 1e-8 * A.norm());
}

TEST(SymmetricEigen, TheLargestOfASecondDifferenceIsTheKnownOne) {
  const VecX diagonal = VecX::Constant(7, 2), beside = VecX::Constant(6, -1);
  EXPECT_NEAR(largest_tridiagonal_eigenvalue(diagonal, beside), 2 + 2 * std::cos(M_PI / 8), 1e-14);
}

TEST(SymmetricEigen, SolvesWithNothingAlongNullVectors) {
  const Mat3 A = Vec3(2, 2, 0) * Vec3(1, 1, 0).transpose();
  EXPECT_LE((solve_symmetric(A, Vec3(8, 0, 5)) - Vec3(1, 1, 0)).norm(), 1e-14);
}

TEST(NearestRotation, IsARotationAndWhatIsLeftIsSymmetric) {
  std::srand(2);
  for (int k = 0; k < 20; ++k) {
    const Mat3 A = Mat3::Random(), R = nearest_rotation(A), S = R.transpose() * A;
    EXPECT_LE((R.transpose() * R - Mat3::Identity()).norm(), 1e-14);
    EXPECT_GT(R.col(0).dot(R.col(1).cross(R.col(2))), 0.99);
    EXPECT_LE((S - S.transpose()).norm(), 1e-14);
    const Vec3 s = singular_values(A);
    EXPECT_NEAR(s.squaredNorm(), A.squaredNorm(), 1e-14);
    EXPECT_NEAR(s.prod(), std::abs((A.row(0).transpose().cross(A.row(1).transpose())).dot(A.row(2))), 1e-14);
  }
}

template <class T, int N>
void expect_cholesky(T tolerance) {
  std::srand(N);
  using Matrix = Eigen::Matrix<T, N, N>;
  const Matrix B = Matrix::Random(), A = B * B.transpose() + Matrix::Identity();
  Matrix L = A;
  ASSERT_TRUE(factor_cholesky(L));
  const Matrix lower = L.template triangularView<Eigen::Lower>();
  EXPECT_LE((lower * lower.transpose() - A).norm(), tolerance * A.norm());
  EXPECT_LE((inverse_of_lower(L) * lower - Matrix::Identity()).norm(), tolerance);
  EXPECT_LE((inverse_of_factored(L) * A - Matrix::Identity()).norm(), tolerance * A.norm());
}

TEST(SmallCholesky, FactorsAndInvertsInBothPrecisions) {
  expect_cholesky<double, 1>(1e-15);
  expect_cholesky<double, 3>(1e-14);
  expect_cholesky<double, 6>(1e-14);
  expect_cholesky<float, 1>(1e-6F);
  expect_cholesky<float, 3>(1e-5F);
}

TEST(SmallCholesky, SaysWhereAPivotIsNotPositive) {
  Mat3 A = Vec3(1, -1, 1).asDiagonal();
  EXPECT_FALSE(factor_cholesky(A));
}

TEST(Dense, ProductsFactorsAndInversesAgreeWithPlainSums) {
  for (int n : {1, 3, 12, 40}) {
    const MatX A = random_symmetric(n), B = MatX::Random(n, 4);
    MatX C = B, D = B;
    add_product(-2, A, B, C);
    EXPECT_LE((C - (B - 2 * A.lazyProduct(B))).norm(), 1e-12 * n * C.norm());
    add_transposed_product(3, A, B, D);
    EXPECT_LE((D - (B + 3 * A.transpose().lazyProduct(B))).norm(), 1e-12 * n * D.norm());
    const VecX b = B.col(0);
    DenseLdlt ldlt;
    ldlt.factor(A);
    ASSERT_TRUE(ldlt.is_valid());
    EXPECT_LE((A.lazyProduct(ldlt.solve(b)) - b).norm(), 1e-8);
    MatX positive = A.lazyProduct(A) + MatX::Identity(n, n);
    DenseCholesky cholesky;
    cholesky.factor(positive);
    ASSERT_TRUE(cholesky.is_valid());
    EXPECT_LE((positive.lazyProduct(cholesky.solve(b)) - b).norm(), 1e-10);
    MatX in_place = B;
    cholesky.solve_in_place(in_place);
    EXPECT_LE((positive.lazyProduct(in_place) - B).norm(), 1e-10);
    positive(0, 0) = -1;
    cholesky.factor(positive);
    EXPECT_FALSE(cholesky.is_valid());
  }
}

TEST(Dense, AnIndefiniteMatrixIsValidButNotPositive) {
  DenseLdlt ldlt;
  ldlt.factor(MatX(Vec3(1, -2, 3).asDiagonal()));
  EXPECT_TRUE(ldlt.is_valid());
  EXPECT_FALSE(ldlt.is_positive());
  EXPECT_LE((ldlt.solve(Vec3(1, 2, 3)) - Vec3(1, -1, 1)).norm(), 1e-15);
  EXPECT_LE((solve_symmetric(Vec3(1, -2, 3).asDiagonal(), Vec3(1, 2, 3)) - Vec3(1, -1, 1)).norm(), 1e-15);
}

}  // namespace
}  // namespace pliant
