#include "pliant/math/psd_projection.hpp"

#include <algorithm>
#include <cmath>

#include "pliant/math/decompositions.hpp"

namespace pliant {

void project_psd(double* matrix, int n) {
  double values[60], vectors[60 * 60];
  symmetric_eigen(matrix, n, values, vectors);
  double largest = 0;
  for (int k = 0; k < n; ++k) largest = std::max(largest, std::abs(values[k]));
  const double rounding = n * 2.220446049250313e-16 * largest;
  // Taking the negative part away costs less than rebuilding from the positive one, and leaves null vectors null.
  for (int k = 0; k < n && values[k] < -rounding; ++k) {
    const double* v = vectors + k * n;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) matrix[j * n + i] -= values[k] * v[i] * v[j];
  }
}

}  // namespace pliant
