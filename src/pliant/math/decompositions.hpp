#pragma once

#include "pliant/math/types.hpp"

namespace pliant {

// Eigen's decompositions of small matrices, compiled in decompositions.cpp and nowhere else: each costs the compiler
// some ten seconds wherever a file asks Eigen for it. None allocates.

/// The eigenvalues, ascending, of a symmetric matrix of n <= 60 rows, column by column, of which the lower triangle is
/// read; and its eigenvectors as columns where they are asked for.
void symmetric_eigen(const double* matrix, int n, double* values, double* vectors = nullptr);

template <int N>
Eigen::Matrix<double, N, 1> symmetric_eigenvalues(const Eigen::Matrix<double, N, N>& matrix) {
  Eigen::Matrix<double, N, 1> values;
  symmetric_eigen(matrix.data(), N, values.data());
  return values;
}

template <int N>
struct SymmetricEigen {
  explicit SymmetricEigen(const Eigen::Matrix<double, N, N>& matrix) {
    symmetric_eigen(matrix.data(), N, values.data(), vectors.data());
  }
  Eigen::Matrix<double, N, 1> values;   ///< ascending
  Eigen::Matrix<double, N, N> vectors;  ///< its columns
};

/// The same eigenvalues by the roots of the characteristic polynomial: quicker, and good to 1e-8 of the largest.
Vec3 rough_symmetric_eigenvalues(const Mat3& matrix);

/// Of the symmetric matrix of at most 60 rows with this diagonal and what is beside it.
double largest_tridiagonal_eigenvalue(const VecX& diagonal, const VecX& beside);

/// The rotation nearest to A.
Mat3 nearest_rotation(const Mat3& A);

/// Largest first, none negative.
Vec3 singular_values(const Mat3& A);

/// A^{-1} b for a symmetric A; nothing along eigenvectors whose eigenvalue is zero to rounding.
Vec3 solve_symmetric(const Mat3& A, const Vec3& b);

}  // namespace pliant
