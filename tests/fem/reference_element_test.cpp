#include "pliant/fem/reference_element.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "pliant/fem/quadrature.hpp"

namespace pliant {
namespace {

double factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }

/// Mean of x^i y^j z^k over the reference tetrahedron.
double monomial_mean(int i, int j, int k) {
  return 6 * factorial(i) * factorial(j) * factorial(k) / factorial(i + j + k + 3);
}

double monomial(const Vec3& p, int i, int j, int k) {
  return std::pow(p[0], i) * std::pow(p[1], j) * std::pow(p[2], k);
}

Vec3 monomial_gradient(const Vec3& p, int i, int j, int k) {
  return {i == 0 ? 0 : i * monomial(p, i - 1, j, k), j == 0 ? 0 : j * monomial(p, i, j - 1, k),
          k == 0 ? 0 : k * monomial(p, i, j, k - 1)};
}

template <class Body>
void for_monomials(int degree, Body&& body) {
  for (int i = 0; i <= degree; ++i) {
    for (int j = 0; i + j <= degree; ++j) {
      for (int k = 0; i + j + k <= degree; ++k) body(i, j, k);
    }
  }
}

std::vector<Vec3> random_points() {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Vec3> points;
  while (points.size() < 20) {
    const Vec3 p(uniform(engine), uniform(engine), uniform(engine));
    if (p.sum() < 1) points.push_back(p);
  }
  return points;
}

TEST(Quadrature, IntegratesEveryMonomialUpToItsDegreeWithPositiveWeightsInside) {
  for (int degree = 0; degree <= 5; ++degree) {
    const Quadrature rule = quadrature_of_degree(degree);
    for_monomials(degree, [&](int i, int j, int k) {
      double sum = 0;
      for (std::size_t q = 0; q < rule.points.size(); ++q) sum += rule.weights[q] * monomial(rule.points[q], i, j, k);
      EXPECT_NEAR(sum, monomial_mean(i, j, k), 1e-15) << degree << ": " << i << j << k;
    });
    for (std::size_t q = 0; q < rule.points.size(); ++q) {
      EXPECT_GT(rule.weights[q], 0);
      EXPECT_GT(rule.points[q].minCoeff(), 0);
      EXPECT_LT(rule.points[q].sum(), 1);
    }
  }
}

class Element : public ::testing::TestWithParam<int> {
 protected:
  const ReferenceElement& element_ = ReferenceElement::of_order(GetParam());
  int order_ = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Orders, Element, ::testing::Values(1, 2, 3));

TEST_P(Element, HasTheNodesOfItsOrder) {
  EXPECT_EQ(element_.nodes(), (order_ + 1) * (order_ + 2) * (order_ + 3) / 6);
  for (int a = 0; a < element_.nodes(); ++a) {
    const auto& n = element_.lattice()[static_cast<std::size_t>(a)];
    EXPECT_EQ(n[0] + n[1] + n[2] + n[3], order_);
    EXPECT_LT((element_.positions()[static_cast<std::size_t>(a)] - Vec3(n[1], n[2], n[3]) / order_).norm(), 1e-16);
  }
}

TEST_P(Element, ShapeFunctionsAreOneAtTheirNodeAndZeroAtTheOthers) {
  for (int a = 0; a < element_.nodes(); ++a) {
    const VecX N = element_.shape(element_.positions()[static_cast<std::size_t>(a)]);
    EXPECT_LT((N - VecX::Unit(element_.nodes(), a)).norm(), 1e-14);
  }
}

TEST_P(Element, ShapeFunctionsSumToOneAndGradientsToZero) {
  for (const Vec3& p : random_points()) {
    EXPECT_NEAR(element_.shape(p).sum(), 1, 1e-14);
    EXPECT_LT(element_.shape_gradients(p).rowwise().sum().norm(), 1e-13);
  }
}

TEST_P(Element, ReproducesPolynomialsOfItsOrderAndTheirGradients) {
  for_monomials(order_, [&](int i, int j, int k) {
    VecX values(element_.nodes());
    for (int a = 0; a < element_.nodes(); ++a) {
      values[a] = monomial(element_.positions()[static_cast<std::size_t>(a)], i, j, k);
    }
    for (const Vec3& p : random_points()) {
      EXPECT_NEAR(element_.shape(p).dot(values), monomial(p, i, j, k), 1e-14);
      EXPECT_LT((element_.shape_gradients(p) * values - monomial_gradient(p, i, j, k)).norm(), 1e-13);
    }
  });
}

TEST_P(Element, TabulatesGradientsAtItsQuadraturePoints) {
  for (int q = 0; q < element_.points(); ++q) {
    const auto gradients = element_.shape_gradients(element_.points_positions()[static_cast<std::size_t>(q)]);
    for (int a = 0; a < element_.nodes(); ++a) EXPECT_EQ(element_.gradient(q, a), Vec3(gradients.col(a)));
  }
}

TEST_P(Element, QuadratureIntegratesProductsOfTwoGradientsExactly) {
  for_monomials(2 * (order_ - 1), [&](int i, int j, int k) {
    double sum = 0;
    for (std::size_t q = 0; q < element_.weights().size(); ++q) {
      sum += element_.weights()[q] * monomial(element_.points_positions()[q], i, j, k);
    }
    EXPECT_NEAR(sum, monomial_mean(i, j, k), 1e-15);
  });
}

TEST_P(Element, MassIsTheExactIntegralOfProductsOfPolynomials) {
  EXPECT_NEAR(element_.mass().sum(), 1, 1e-14);
  const auto sample = [&](int i, int j, int k) {
    VecX values(element_.nodes());
    for (int a = 0; a < element_.nodes(); ++a) {
      values[a] = monomial(element_.positions()[static_cast<std::size_t>(a)], i, j, k);
    }
    return values;
  };
  for_monomials(order_, [&](int i, int j, int k) {
    for_monomials(order_, [&](int l, int m, int n) {
      EXPECT_NEAR(sample(i, j, k).dot(element_.mass() * sample(l, m, n)), monomial_mean(i + l, j + m, k + n), 1e-14);
    });
  });
}

TEST_P(Element, LumpedMassIsPositiveAndSumsToOne) {
  EXPECT_GT(element_.lumped_mass().minCoeff(), 0);
  EXPECT_NEAR(element_.lumped_mass().sum(), 1, 1e-15);
  if (order_ == 1) {
    EXPECT_LT((element_.lumped_mass() - VecX::Constant(4, 0.25)).norm(), 1e-15);
  }
}

TEST(ElementNumbering, IsThatOfVtk) {
  // Lattice coordinates read from VTK 9.1 (cell types 10, 24 and 71).
  const std::vector<std::array<int, 4>> quadratic = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}, {0, 0, 0, 2},
                                                     {1, 1, 0, 0}, {0, 1, 1, 0}, {1, 0, 1, 0}, {1, 0, 0, 1},
                                                     {0, 1, 0, 1}, {0, 0, 1, 1}};
  const std::vector<std::array<int, 4>> cubic = {{3, 0, 0, 0}, {0, 3, 0, 0}, {0, 0, 3, 0}, {0, 0, 0, 3}, {2, 1, 0, 0},
                                                 {1, 2, 0, 0}, {0, 2, 1, 0}, {0, 1, 2, 0}, {1, 0, 2, 0}, {2, 0, 1, 0},
                                                 {2, 0, 0, 1}, {1, 0, 0, 2}, {0, 2, 0, 1}, {0, 1, 0, 2}, {0, 0, 2, 1},
                                                 {0, 0, 1, 2}, {1, 1, 0, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}, {1, 1, 1, 0}};
  EXPECT_EQ(ReferenceElement::of_order(2).lattice(), quadratic);
  EXPECT_EQ(ReferenceElement::of_order(3).lattice(), cubic);
}

}  // namespace
}  // namespace pliant
