#pragma once

#include <span>

#include "pliant/math/types.hpp"

/// Vectors of L-BFGS are kept in float, which halves the bytes its passes are bound by and costs nothing else: a pair
/// is an estimate. All arithmetic is in double.
namespace pliant::history {

/// sums[k] = v_k . g for all vectors, in one pass over g.
void dots(std::span<const float* const> vectors, const double* g, Index size, double* sums);
/// out = in + sum_k weights[k] v_k; in may be out.
void combine(std::span<const float* const> vectors, const double* weights, const double* in, Index size, double* out);

struct Descent {
  double slope = 0;    ///< g . d
  double largest = 0;  ///< |d|_inf; not finite where d is not
};
/// d = -d, measured against g.
Descent turn(const double* g, Index size, double* d);

struct Curvature {
  double ss = 0, sy = 0, yy = 0;
};
/// s = alpha dx, y = g_new - g, with their products.
Curvature pair(double alpha, const double* dx, const double* g_new, const double* g, Index size, float* s, float* y);

}  // namespace pliant::history
