// Statics with a known solution: prescribe a smooth displacement u, derive the body force -Div P from the law itself,
// solve, and compare in L2. The error must fall with order k + 1 for elements of order k.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

constexpr double pi = std::numbers::pi;

Vec3 displacement(const Vec3& X) {
  return 0.05 * Vec3(std::sin(pi * X.x()) * std::cos(X.y()) + X.z() * X.z(), std::cos(pi * X.y()) * X.x(),
                     std::sin(2 * X.z() + X.x()) * X.y());
}

Mat3 deformation_gradient(const Vec3& X) {
  Mat3 F = Mat3::Identity();
  F.col(0) += 0.05 * Vec3(pi * std::cos(pi * X.x()) * std::cos(X.y()), std::cos(pi * X.y()),
                          std::cos(2 * X.z() + X.x()) * X.y());
  F.col(1) += 0.05 * Vec3(-std::sin(pi * X.x()) * std::sin(X.y()), -pi * std::sin(pi * X.y()) * X.x(),
                          std::sin(2 * X.z() + X.x()));
  F.col(2) += 0.05 * Vec3(2 * X.z(), 0, 2 * std::cos(2 * X.z() + X.x()) * X.y());
  return F;
}

/// -Div P by differences of fourth order; exact to some ten digits, far below the discretisation error.
Vec3 body_force(const Material& material, const Vec3& X) {
  const double d = 2e-3;
  Vec3 force = Vec3::Zero();
  for (int j = 0; j < 3; ++j) {
    const auto column = [&](double s) -> Vec3 {
      return material.stress(deformation_gradient(X + s * d * Vec3::Unit(j))).col(j);
    };
    force -= (8 * (column(1) - column(-1)) - (column(2) - column(-2))) / (12 * d);
  }
  return force;
}

/// Gauss-Legendre points on [0, 1], five of them, exact to degree nine.
struct Rule {
  std::vector<Vec3> points;
  std::vector<double> weights;  // sum to 1
};

/// A rule of high order on the reference tet: the cube's, collapsed.
Rule collapsed_rule() {
  const double a = std::sqrt(5 - 2 * std::sqrt(10.0 / 7)) / 3, b = std::sqrt(5 + 2 * std::sqrt(10.0 / 7)) / 3;
  const double wa = (322 + 13 * std::sqrt(70.0)) / 900, wb = (322 - 13 * std::sqrt(70.0)) / 900;
  const double s[5] = {-b, -a, 0, a, b}, w[5] = {wb, wa, 128.0 / 225, wa, wb};
  Rule rule;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j)
      for (int k = 0; k < 5; ++k) {
        const double r = (1 + s[i]) / 2, t = (1 + s[j]) / 2, u = (1 + s[k]) / 2;
        rule.points.push_back({r, (1 - r) * t, (1 - r) * (1 - t) * u});
        rule.weights.push_back(6 * w[i] * w[j] * w[k] / 8 * (1 - r) * (1 - r) * (1 - t));
      }
  return rule;
}

double l2_error(int order, Index cells) {
  const Rule rule = collapsed_rule();
  ModelBuilder builder;
  BodyOptions body;
  body.mesh = testing::box_mesh({1, 1, 1}, {cells, cells, cells}, BoxSplit::six);
  body.material = testing::material("stable-neo-hookean", 1e4, 0.3);
  body.order = order;
  builder.add_body(body);
  const FeMesh& mesh = *builder.body(0).elements;
  const int n = mesh.reference().nodes();

  Script sides{"sides", mesh.nodes_of(body.mesh->sets().at("boundary")), {}, Imposition::direct};
  for (Index i : sides.nodes) sides.motion.field.push_back(displacement(mesh.positions()[i]));
  sides.motion.field_scale.keys = {{0, 1}};
  builder.add_script(sides);

  const auto corner = [&](Index e, int a) { return mesh.positions()[mesh.elements()[e * n + a]]; };
  const auto at = [&](Index e, const Vec3& r) -> Vec3 {
    return corner(e, 0) + r.x() * (corner(e, 1) - corner(e, 0)) + r.y() * (corner(e, 2) - corner(e, 0)) +
           r.z() * (corner(e, 3) - corner(e, 0));
  };
  std::vector<VecX> shapes;
  for (const Vec3& point : rule.points) shapes.push_back(mesh.reference().shape(point));
  std::vector<Vec3> force(mesh.node_count(), Vec3::Zero());
  for (Index e = 0; e < mesh.element_count(); ++e)
    for (std::size_t q = 0; q < rule.points.size(); ++q) {
      const Vec3 f = mesh.volumes()[e] * rule.weights[q] * body_force(body.material, at(e, rule.points[q]));
      for (int a = 0; a < n; ++a) force[mesh.elements()[e * n + a]] += shapes[q][a] * f;
    }
  for (Index i = 0; i < mesh.node_count(); ++i) builder.add_load(std::span(&i, 1), force[i]);

  const auto model = builder.build();
  State state = model->rest_state();
  const StepReport report =
      make_stepper(model, "pod-newton", {{"integrator", "quasistatic"}, {"criterion", "residual"}, {"tolerance", 1e-9}})
          ->step(state, 1.0);
  EXPECT_TRUE(report.converged()) << report.detail;

  double error = 0;
  for (Index e = 0; e < mesh.element_count(); ++e)
    for (std::size_t q = 0; q < rule.points.size(); ++q) {
      const Vec3 X = at(e, rule.points[q]);
      Vec3 x = Vec3::Zero();
      for (int a = 0; a < n; ++a) x += shapes[q][a] * node(state.x, mesh.elements()[e * n + a]);
      error += mesh.volumes()[e] * rule.weights[q] * (x - X - displacement(X)).squaredNorm();
    }
  return std::sqrt(error);
}

void expect_order(int order, Index coarse, Index fine) {
  const double rate =
      std::log(l2_error(order, coarse) / l2_error(order, fine)) / std::log(double(fine) / double(coarse));
  EXPECT_NEAR(rate, order + 1, 0.2) << "elements of order " << order;
}

TEST(ManufacturedSolution, LinearElementsConvergeWithOrderTwoInL2) { expect_order(1, 6, 11); }
TEST(ManufacturedSolution, QuadraticElementsConvergeWithOrderThreeInL2) { expect_order(2, 4, 7); }
TEST(ManufacturedSolution, CubicElementsConvergeWithOrderFourInL2) { expect_order(3, 2, 4); }

}  // namespace
}  // namespace pliant
