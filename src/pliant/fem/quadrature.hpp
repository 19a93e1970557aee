#pragma once

#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

/// A rule on the reference tetrahedron with positive weights that sum to 1 and all points inside.
struct Quadrature {
  std::vector<Vec3> points;
  std::vector<double> weights;
};

/// Exact for polynomials up to `degree` (at most 5): 1 point for degree 1, 4 for degree 2, 14 for degree 5.
Quadrature quadrature_of_degree(int degree);

}  // namespace pliant
