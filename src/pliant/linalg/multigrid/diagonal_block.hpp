#pragma once

#include <cmath>

#include "pliant/math/decompositions.hpp"
#include "pliant/math/small_cholesky.hpp"

namespace pliant::multigrid {

/// The inverse of a diagonal block, by which smoothers scale. Where it is not positive definite, or nearly singular,
/// that of its eigenvalues without their signs, none less than a millionth of the largest.
template <int B>
Eigen::Matrix<double, B, B> inverse_of_diagonal(const Eigen::Matrix<double, B, B>& a) {
  constexpr double kLeast = 1e-6;
  Eigen::Matrix<double, B, B> L = a;
  if (factor_cholesky(L) && L.diagonal().minCoeff() > std::sqrt(kLeast) * L.diagonal().maxCoeff())
    return inverse_of_factored(L);
  const SymmetricEigen<B> eigen(a);
  const double least = std::max(kLeast * eigen.values.cwiseAbs().maxCoeff(), 1e-30);
  const Eigen::Matrix<double, B, B> scaled =
      eigen.vectors * eigen.values.cwiseAbs().cwiseMax(least).cwiseInverse().asDiagonal();
  return scaled * eigen.vectors.transpose();
}

}  // namespace pliant::multigrid
