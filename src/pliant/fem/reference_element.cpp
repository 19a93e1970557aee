#include "pliant/fem/reference_element.hpp"

#include <algorithm>
#include <cassert>

#include "pliant/fem/quadrature.hpp"

namespace pliant {

namespace {

/// Coefficients of a polynomial in one barycentric coordinate, lowest power first.
using Polynomial = std::vector<double>;

/// The factor of a Lagrange shape function that belongs to one barycentric coordinate with lattice coordinate n:
/// product over m < n of (order t - m) / (n - m).
Polynomial factor(int order, int n) {
  Polynomial p = {1};
  for (int m = 0; m < n; ++m) {
    Polynomial next(p.size() + 1, 0.0);
    for (std::size_t k = 0; k < p.size(); ++k) {
      next[k] -= p[k] * m / (n - m);
      next[k + 1] += p[k] * order / (n - m);
    }
    p = next;
  }
  return p;
}

double value(const Polynomial& p, double t) {
  double sum = 0;
  for (std::size_t k = p.size(); k-- > 0;) sum = sum * t + p[k];
  return sum;
}

double derivative(const Polynomial& p, double t) {
  double sum = 0;
  for (std::size_t k = p.size(); k-- > 1;) sum = sum * t + static_cast<double>(k) * p[k];
  return sum;
}

Polynomial product(const Polynomial& p, const Polynomial& q) {
  Polynomial r(p.size() + q.size() - 1, 0.0);
  for (std::size_t i = 0; i < p.size(); ++i) {
    for (std::size_t j = 0; j < q.size(); ++j) r[i + j] += p[i] * q[j];
  }
  return r;
}

double factorial(std::size_t n) {
  double f = 1;
  for (std::size_t k = 2; k <= n; ++k) f *= static_cast<double>(k);
  return f;
}

/// Mean over the tetrahedron of the product of one polynomial in each barycentric coordinate, term by term from
/// mean(b0^i b1^j b2^k b3^l) = 3! i! j! k! l! / (i + j + k + l + 3)!.
double mean(const std::array<Polynomial, 4>& p) {
  double sum = 0;
  for (std::size_t i = 0; i < p[0].size(); ++i) {
    for (std::size_t j = 0; j < p[1].size(); ++j) {
      for (std::size_t k = 0; k < p[2].size(); ++k) {
        for (std::size_t l = 0; l < p[3].size(); ++l) {
          sum += p[0][i] * p[1][j] * p[2][k] * p[3][l] * 6 * factorial(i) * factorial(j) * factorial(k) * factorial(l) /
                 factorial(i + j + k + l + 3);
        }
      }
    }
  }
  return sum;
}

/// VTK's numbering of VTK_LAGRANGE_TETRAHEDRON: corners; edges 01 12 20 03 13 23, nodes from the first corner to the
/// second; faces 013 123 032 021.
std::vector<std::array<int, 4>> vtk_lattice(int order) {
  std::vector<std::array<int, 4>> lattice;
  for (std::size_t corner = 0; corner < 4; ++corner) {
    lattice.push_back({});
    lattice.back()[corner] = order;
  }
  constexpr std::array<std::array<std::size_t, 2>, 6> edges = {{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}};
  for (const auto& edge : edges) {
    for (int k = 1; k < order; ++k) {
      lattice.push_back({});
      lattice.back()[edge[0]] = order - k;
      lattice.back()[edge[1]] = k;
    }
  }
  if (order == 3) {
    constexpr std::array<std::size_t, 4> opposite_corner = {2, 0, 1, 3};
    for (std::size_t corner : opposite_corner) {
      lattice.push_back({1, 1, 1, 1});
      lattice.back()[corner] = 0;
    }
  }
  return lattice;
}

std::array<double, 4> barycentric(const Vec3& reference) {
  return {1 - reference.sum(), reference[0], reference[1], reference[2]};
}

}  // namespace

const ReferenceElement& ReferenceElement::of_order(int order) {
  assert(order >= 1 && order <= 3);
  static const std::array<ReferenceElement, 3> elements = {ReferenceElement(1), ReferenceElement(2),
                                                           ReferenceElement(3)};
  return elements[static_cast<std::size_t>(order - 1)];
}

ReferenceElement::ReferenceElement(int order) : order_(order), lattice_(vtk_lattice(order)) {
  for (const auto& n : lattice_) positions_.push_back(Vec3(n[1], n[2], n[3]) / order);

  // The gradient of order p has degree p - 1; the rule integrates products of two exactly, so that the stiffness at
  // rest is exact on straight-edged elements.
  Quadrature rule = quadrature_of_degree(order == 1 ? 1 : 2 * (order - 1));
  weights_ = std::move(rule.weights);
  points_positions_ = std::move(rule.points);
  for (const Vec3& point : points_positions_) {
    const auto gradients = shape_gradients(point);
    for (int a = 0; a < nodes(); ++a) gradients_.push_back(gradients.col(a));
  }

  mass_.resize(nodes(), nodes());
  for (int a = 0; a < nodes(); ++a) {
    for (int b = 0; b <= a; ++b) {
      std::array<Polynomial, 4> p;
      for (std::size_t i = 0; i < 4; ++i) {
        p[i] = product(factor(order, lattice_[static_cast<std::size_t>(a)][i]),
                       factor(order, lattice_[static_cast<std::size_t>(b)][i]));
      }
      mass_(a, b) = mass_(b, a) = mean(p);
    }
  }
  lumped_ = mass_.diagonal() / mass_.diagonal().sum();
}

VecX ReferenceElement::shape(const Vec3& reference) const {
  const auto t = barycentric(reference);
  VecX N(nodes());
  for (int a = 0; a < nodes(); ++a) {
    N[a] = 1;
    for (std::size_t i = 0; i < 4; ++i) N[a] *= value(factor(order_, lattice_[static_cast<std::size_t>(a)][i]), t[i]);
  }
  return N;
}

Eigen::Matrix<double, 3, Eigen::Dynamic> ReferenceElement::shape_gradients(const Vec3& reference) const {
  const auto t = barycentric(reference);
  Eigen::Matrix<double, 3, Eigen::Dynamic> gradients(3, nodes());
  for (int a = 0; a < nodes(); ++a) {
    std::array<double, 4> v, d;
    for (std::size_t i = 0; i < 4; ++i) {
      const Polynomial p = factor(order_, lattice_[static_cast<std::size_t>(a)][i]);
      v[i] = value(p, t[i]);
      d[i] = derivative(p, t[i]);
    }
    // Coordinate j moves barycentric coordinate j + 1 up and coordinate 0 down.
    const double down = d[0] * v[1] * v[2] * v[3];
    gradients.col(a) << v[0] * d[1] * v[2] * v[3] - down, v[0] * v[1] * d[2] * v[3] - down,
        v[0] * v[1] * v[2] * d[3] - down;
  }
  return gradients;
}

}  // namespace pliant
