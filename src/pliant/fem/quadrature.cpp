#include "pliant/fem/quadrature.hpp"

#include <cassert>
#include <cmath>

namespace pliant {

namespace {

/// The four points with barycentric coordinates (1 - 3a, a, a, a) and permutations.
void add_corner_orbit(Quadrature& rule, double a, double weight) {
  for (int corner = 0; corner < 4; ++corner) {
    Vec3 point = Vec3::Constant(a);
    if (corner > 0) point[corner - 1] = 1 - 3 * a;
    rule.points.push_back(point);
    rule.weights.push_back(weight);
  }
}

/// The six points with barycentric coordinates (a, a, 1/2 - a, 1/2 - a) and permutations.
void add_edge_orbit(Quadrature& rule, double a, double weight) {
  const double b = 0.5 - a;
  for (const Vec3& point : {Vec3(a, b, b), Vec3(b, a, b), Vec3(b, b, a), Vec3(b, a, a), Vec3(a, b, a), Vec3(a, a, b)}) {
    rule.points.push_back(point);
    rule.weights.push_back(weight);
  }
}

}  // namespace

Quadrature quadrature_of_degree(int degree) {
  assert(degree >= 0 && degree <= 5);
  Quadrature rule;
  if (degree <= 1) {
    rule.points.push_back(Vec3::Constant(0.25));
    rule.weights.push_back(1);
  } else if (degree == 2) {
    add_corner_orbit(rule, (5 - std::sqrt(5.0)) / 20, 0.25);
  } else {
    // Walkington 2000: the fewest points known for degree 5, all inside and with positive weights. (The rules of 5 and
    // 11 points for degree 3 and 4 have a negative weight, which can make an element of positive energies indefinite.)
    add_corner_orbit(rule, 0.31088591926330060980, 0.11268792571801585080);
    add_corner_orbit(rule, 0.092735250310891226402, 0.073493043116361949544);
    add_edge_orbit(rule, 0.045503704125649649492, 0.042546020777081466438);
  }
  return rule;
}

}  // namespace pliant
