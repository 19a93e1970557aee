#pragma once

#include <cmath>

#include "pliant/math/types.hpp"

namespace pliant {

/// The lower triangle of a symmetric matrix becomes L of A = L L^T; what is above stays. False, and L unfinished, where
/// a pivot is not positive. (Eigen's takes the compiler a hundred times as long, for each size.)
template <class T, int N>
bool factor_cholesky(Eigen::Matrix<T, N, N>& A) {
  for (int k = 0; k < N; ++k) {
    T squares = 0;
    for (int j = 0; j < k; ++j) squares += A(k, j) * A(k, j);
    const T pivot = A(k, k) - squares;
    if (pivot <= 0) return false;
    const T root = A(k, k) = std::sqrt(pivot);
    for (int i = k + 1; i < N; ++i) {
      T sum = 0;
      for (int j = 0; j < k; ++j) sum += A(i, j) * A(k, j);
      A(i, k) = (A(i, k) - sum) / root;
    }
  }
  return true;
}

/// L^{-1}, from the lower triangle of L.
template <class T, int N>
Eigen::Matrix<T, N, N> inverse_of_lower(const Eigen::Matrix<T, N, N>& L) {
  Eigen::Matrix<T, N, N> X = Eigen::Matrix<T, N, N>::Identity();
  for (int c = 0; c < N; ++c)
    for (int i = c; i < N; ++i) {
      const T r = X(i, c) *= 1 / L(i, i);
      for (int k = i + 1; k < N; ++k) X(k, c) -= r * L(k, i);
    }
  return X;
}

/// (L L^T)^{-1}, from the lower triangle of L.
template <class T, int N>
Eigen::Matrix<T, N, N> inverse_of_factored(const Eigen::Matrix<T, N, N>& L) {
  Eigen::Matrix<T, N, N> X = inverse_of_lower(L);
  for (int c = 0; c < N; ++c)
    for (int i = N - 1; i >= 0; --i) {
      T sum = 0;
      for (int k = i + 1; k < N; ++k) sum += L(k, i) * X(k, c);
      X(i, c) = (X(i, c) - sum) * (1 / L(i, i));
    }
  return X;
}

}  // namespace pliant
