#include "pliant/math/decompositions.hpp"

#include <Eigen/Eigenvalues>
#include <cassert>
#include <limits>

#include "pliant/math/svd3.hpp"

namespace pliant {

namespace {

using Matrix60 = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 60, 60>;

/// `Rows` and `Most`: as Eigen takes the numbers of rows. Fewer than eight at most are summed in order.
template <int Rows, int Most>
void decompose(const double* matrix, int n, double* values, double* vectors) {
  using Matrix = Eigen::Matrix<double, Rows, Rows, 0, Most, Most>;
  using Vector = Eigen::Matrix<double, Rows, 1, 0, Most, 1>;
  const Matrix A = Eigen::Map<const Matrix>(matrix, n, n);
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(A, vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  Eigen::Map<Vector>(values, n) = eigen.eigenvalues();
  if (vectors) Eigen::Map<Matrix>(vectors, n, n) = eigen.eigenvectors();
}

}  // namespace

void symmetric_eigen(const double* matrix, int n, double* values, double* vectors) {
  assert(n <= 60);
  if (n == 3)  // which has a way of its own to three diagonals
    decompose<3, 3>(matrix, n, values, vectors);
  else if (n <= 6)
    decompose<Eigen::Dynamic, 6>(matrix, n, values, vectors);
  else
    decompose<Eigen::Dynamic, 60>(matrix, n, values, vectors);
}

Vec3 rough_symmetric_eigenvalues(const Mat3& matrix) {
  Eigen::SelfAdjointEigenSolver<Mat3> eigen;
  eigen.computeDirect(matrix, Eigen::EigenvaluesOnly);
  return eigen.eigenvalues();
}

double largest_tridiagonal_eigenvalue(const VecX& diagonal, const VecX& beside) {
  Eigen::SelfAdjointEigenSolver<Matrix60> eigen;
  eigen.computeFromTridiagonal(diagonal, beside, Eigen::EigenvaluesOnly);
  return eigen.eigenvalues().maxCoeff();
}

namespace {

struct Svd3 {
  explicit Svd3(const Mat3& A) {
    for (int p = 0; p < kBatch; ++p)
      for (int c = 0; c < 9; ++c) A_[c][p] = A.data()[c];
    rotation_svd(A_, U_, s_, V_);
  }
  Mat3 U() const { return first(U_); }
  Mat3 V() const { return first(V_); }
  Vec3 s() const { return {s_[0][0], s_[1][0], s_[2][0]}; }

 private:
  static Mat3 first(const Batch9& batch) {
    Mat3 M;
    for (int c = 0; c < 9; ++c) M.data()[c] = batch[c][0];
    return M;
  }
  Batch9 A_, U_, V_;
  Batch3 s_;
};

}  // namespace

Mat3 nearest_rotation(const Mat3& A) {
  const Svd3 svd(A);
  return svd.U() * svd.V().transpose();
}

Vec3 singular_values(const Mat3& A) { return Svd3(A).s().cwiseAbs(); }

Vec3 solve_symmetric(const Mat3& A, const Vec3& b) {
  const SymmetricEigen<3> eigen(A);
  const double least = std::numeric_limits<double>::epsilon() * eigen.values.cwiseAbs().maxCoeff();
  Vec3 along = eigen.vectors.transpose() * b;
  for (int k = 0; k < 3; ++k) along[k] = std::abs(eigen.values[k]) <= least ? 0 : along[k] / eigen.values[k];
  return eigen.vectors * along;
}

}  // namespace pliant
