#pragma once

#include "pliant/math/types.hpp"

namespace pliant {

/// Clamps the negative eigenvalues of a symmetric matrix of n <= 60 rows at zero by a full eigendecomposition. A matrix
/// without negative eigenvalues beyond rounding is left exactly as it is. Does not allocate.
void project_psd(double* matrix, int n);

template <int Rows, int Most>
void project_psd(Eigen::Matrix<double, Rows, Rows, 0, Most, Most>& A) {
  project_psd(A.data(), static_cast<int>(A.rows()));
}

}  // namespace pliant
