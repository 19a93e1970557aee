#pragma once

#include <Eigen/Eigenvalues>

namespace pliant {

/// Clamps the negative eigenvalues of a symmetric matrix at zero by a full eigendecomposition. A matrix without
/// negative eigenvalues beyond rounding is left exactly as it is. Matrices of a fixed largest size do not allocate.
template <class Matrix>
void project_psd(Matrix& A) {
  const Eigen::SelfAdjointEigenSolver<typename Matrix::PlainObject> eigen(A);
  const auto& values = eigen.eigenvalues();
  const auto& vectors = eigen.eigenvectors();
  const double largest = values.cwiseAbs().maxCoeff();
  const double rounding = static_cast<double>(A.rows()) * 2.220446049250313e-16 * largest;
  // Taking the negative part away costs less than rebuilding from the positive one, and leaves null vectors null.
  for (Eigen::Index k = 0; k < values.size() && values[k] < -rounding; ++k) {
    A.noalias() -= (values[k] * vectors.col(k)) * vectors.col(k).transpose();
  }
}

}  // namespace pliant
