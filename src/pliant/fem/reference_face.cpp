#include "pliant/fem/reference_face.hpp"

#include <array>
#include <cassert>
#include <cmath>

namespace pliant {

namespace {

/// A number and its derivative.
struct Dual {
  double value, slope;
};

/// The factor of a Lagrange shape function that belongs to the barycentric coordinate t with lattice coordinate n: the
/// product over m < n of (order t - m)/(m + 1).
Dual factor(int order, int n, double t) {
  Dual product{1, 0};
  for (int m = 0; m < n; ++m) {
    const double f = (order * t - m) / (m + 1), slope = static_cast<double>(order) / (m + 1);
    product = {product.value * f, product.slope * f + product.value * slope};
  }
  return product;
}

/// Points and weights of Gauss and Legendre on [0, 1], from Newton's method on P_n.
void gauss_legendre(int n, std::vector<double>& points, std::vector<double>& weights) {
  for (int k = 0; k < n; ++k) {
    double z = std::cos(3.14159265358979323846 * (k + 0.75) / (n + 0.5)), slope = 1;
    for (int iteration = 0; iteration < 100; ++iteration) {
      double now = 1, before = 0;
      for (int j = 1; j <= n; ++j) {
        const double next = ((2 * j - 1) * z * now - (j - 1) * before) / j;
        before = now;
        now = next;
      }
      slope = n * (z * now - before) / (z * z - 1);
      const double change = now / slope;
      z -= change;
      if (std::abs(change) < 1e-15) break;
    }
    points.push_back((1 + z) / 2);
    weights.push_back(1 / ((1 - z * z) * slope * slope));
  }
}

}  // namespace

const ReferenceFace& ReferenceFace::of_order(int order) {
  assert(order >= 1 && order <= 3);
  static const std::array<ReferenceFace, 3> faces = {ReferenceFace(1), ReferenceFace(2), ReferenceFace(3)};
  return faces[at(order - 1)];
}

ReferenceFace::ReferenceFace(int order) : order_(order) {
  const auto add_point = [&](double u, double v, double weight) {
    weights_.push_back(weight);
    Eigen::Matrix<double, 3, Eigen::Dynamic> N(3, nodes());
    for (int i = 0; i <= order; ++i)
      for (int j = 0; i + j <= order; ++j) {
        const Dual a = factor(order, i, u), b = factor(order, j, v), c = factor(order, order - i - j, 1 - u - v);
        N.col(number(order, i, j)) << a.value * b.value * c.value, (a.slope * c.value - a.value * c.slope) * b.value,
            (b.slope * c.value - b.value * c.slope) * a.value;
      }
    shape_.push_back(std::move(N));
  };
  if (order == 1) {
    add_point(1.0 / 3, 1.0 / 3, 0.5);
    return;
  }
  // The square collapsed onto the triangle, u = s, v = (1 - s) t, costs one degree in s.
  std::vector<double> points, weights;
  gauss_legendre((3 * order - 2 + 1) / 2 + 1, points, weights);
  for (std::size_t k = 0; k < points.size(); ++k)
    for (std::size_t l = 0; l < points.size(); ++l)
      add_point(points[k], (1 - points[k]) * points[l], weights[k] * (1 - points[k]) * weights[l]);
}

}  // namespace pliant
