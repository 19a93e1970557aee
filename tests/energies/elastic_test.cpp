#include "pliant/energies/elastic.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <tuple>

#include "energies/derivative_battery.hpp"
#include "pliant/base/error.hpp"
#include "pliant/mesh/generators.hpp"
#include "support/scalar_elastic.hpp"
#include "support/simd_targets.hpp"

namespace pliant {
namespace {

constexpr Lame kLame = {3e4, 7e4};

struct Body {
  TetMesh mesh;
  FeMesh fe;
  explicit Body(int order, std::array<Index, 3> cells = {2, 2, 1})
      : mesh(box({.size = {1, 0.8, 0.5}, .cells = cells, .split = BoxSplit::six})), fe(mesh, order) {}

  VecX rest() const {
    VecX x(3 * fe.node_count());
    for (Index i = 0; i < fe.node_count(); ++i) node(x, i) = fe.positions()[static_cast<std::size_t>(i)];
    return x;
  }
  /// Bent, sheared and stretched smoothly, without inversion.
  VecX deformed() const {
    VecX x = rest();
    for (Index i = 0; i < fe.node_count(); ++i) {
      const Vec3 X = node(x, i);
      node(x, i) +=
          Vec3(0.2 * X[0] * X[1] - 0.1 * X[2], 0.3 * X[0] * X[0] - 0.25 * X[1], 0.15 * X[1] * X[2] + 0.1 * X[0]);
    }
    return x + 0.01 * testing::random_direction(x.size(), 5);
  }
};

class Elastic : public ::testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  std::string name_ = std::get<0>(GetParam());
  Body body_{std::get<1>(GetParam())};
  ElasticEnergy energy_{body_.fe, find_law(name_), {kLame}, 0};
};
INSTANTIATE_TEST_SUITE_P(LawsAndOrders, Elastic,
                         ::testing::Combine(::testing::Values("neo-hookean", "stable-neo-hookean", "fixed-corotated",
                                                              "linear-corotated", "stvk", "arap"),
                                            ::testing::Values(1, 2, 3)),
                         [](const auto& instance) {
                           std::string name =
                               std::get<0>(instance.param) + "_P" + std::to_string(std::get<1>(instance.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(Elastic, PassesTheDerivativeBattery) { testing::run_derivative_battery(energy_, body_.deformed(), 2e-3); }

TEST_P(Elastic, PassesTheDerivativeBatteryUnderStrongCompression) {
  VecX x = body_.deformed();
  for (Index i = 0; i < body_.fe.node_count(); ++i) node(x, i)[0] *= 0.4;
  testing::run_derivative_battery(energy_, x, 1e-3);
}

template <int Nodes>
void expect_scalar_reference(const Body& body, const ElasticEnergy& energy, const std::string& law) {
  const testing::ScalarElastic<Nodes> reference(body.fe, {testing::scalar_kind(law), kLame});
  const Range range = testing::all_stencils(energy);
  const auto count = static_cast<std::size_t>(range.size());
  const VecX x = body.deformed();
  std::vector<double> v(count), g(3 * Nodes * count), v0(count), g0(g.size());
  std::vector<double> h0(count * 9 * local_blocks(Nodes));
  reference.evaluate(x, range, v0.data(), g0.data());
  reference.hessians(x, range, h0.data());
  const double force = *std::max_element(g0.begin(), g0.end());
  const double stiffness = *std::max_element(h0.begin(), h0.end());
  testing::for_each_target([&](const char* target) {
    SCOPED_TRACE(target);
    energy.evaluate(x, range, v.data(), g.data());
    const auto h = testing::local_hessians(energy, x, range, Projection::none);
    for (std::size_t k = 0; k < v.size(); ++k) ASSERT_NEAR(v[k], v0[k], 1e-12 * v0[k] + 1e-15 * kLame.lambda);
    for (std::size_t k = 0; k < g.size(); ++k) ASSERT_NEAR(g[k], g0[k], 1e-11 * force);
    for (std::size_t k = 0; k < h.size(); ++k) ASSERT_NEAR(h[k], h0[k], 1e-9 * stiffness);
  });
}

TEST_P(Elastic, AgreesWithTheScalarReferenceOnEveryTarget) {
  switch (body_.fe.reference().order()) {
    case 1:
      return expect_scalar_reference<4>(body_, energy_, name_);
    case 2:
      return expect_scalar_reference<10>(body_, energy_, name_);
    default:
      return expect_scalar_reference<20>(body_, energy_, name_);
  }
}

TEST_P(Elastic, HasNoForceAtRestNorUnderRigidMotion) {
  const VecX rest = body_.rest();
  const Mat3 R = Eigen::AngleAxisd(1.1, Vec3(1, 2, -1).normalized()).toRotationMatrix();
  VecX moved(rest.size());
  for (Index i = 0; i < body_.fe.node_count(); ++i) node(moved, i) = R * node(rest, i) + Vec3(10, -20, 5);
  for (const VecX& x : {rest, moved}) {
    EXPECT_NEAR(testing::total_value(energy_, x), 0, 1e-9 * kLame.lambda * 1e-3);
    EXPECT_LT(testing::total_gradient(energy_, x).norm(), 1e-11 * kLame.lambda);
  }
}

TEST_P(Elastic, IntegratesAnAffineDeformationExactly) {
  Mat3 F;
  F << 1.1, 0.2, 0, -0.1, 0.9, 0.15, 0.05, 0, 1.2;
  VecX x = body_.rest();
  for (Index i = 0; i < body_.fe.node_count(); ++i) node(x, i) = (F * node(x, i)).eval();
  const Material material{find_law(name_), kLame};
  EXPECT_NEAR(testing::total_value(energy_, x), 0.4 * material.energy(F), 1e-12 * kLame.lambda);
  std::vector<Mat3> gradients(static_cast<std::size_t>(body_.fe.element_count()));
  energy_.deformation_gradients(x, testing::all_stencils(energy_), gradients.data());
  for (const Mat3& G : gradients) EXPECT_LT((G - F).norm(), 1e-13);
  // Interior nodes are in equilibrium: the patch test.
  const VecX g = testing::total_gradient(energy_, x);
  for (Index i = 0; i < body_.fe.node_count(); ++i) {
    const Vec3& X = body_.fe.positions()[static_cast<std::size_t>(i)];
    const bool inside = X.minCoeff() > 1e-9 && X[0] < 1 - 1e-9 && X[1] < 0.8 - 1e-9 && X[2] < 0.5 - 1e-9;
    if (inside) {
      EXPECT_LT(node(g, i).norm(), 1e-12 * kLame.lambda);
    }
  }
}

TEST_P(Elastic, HessianOfALinearlyElasticSolidAtRestIsExactInQuadraticAndCubicFields) {
  // At rest the energy's quadratic form of a polynomial field u of the element's order is the integral of
  // mu |eps|^2 + lambda/2 (tr eps)^2 times two; here of u = x^order e_1, eps_11 = order x^(order - 1).
  const int order = body_.fe.reference().order();
  VecX u = VecX::Zero(3 * body_.fe.node_count());
  for (Index i = 0; i < body_.fe.node_count(); ++i) {
    node(u, i)[0] = std::pow(body_.fe.positions()[static_cast<std::size_t>(i)][0], order);
  }
  const double lambda = name_ == "arap" ? 0 : kLame.lambda;
  const double integral = 0.4 * order * order / (2.0 * order - 1);  // of eps_11^2 over the box
  const double expected = (2 * kLame.mu + lambda) * integral;
  EXPECT_NEAR(u.dot(testing::hessian_product(energy_, body_.rest(), u)), expected, 1e-11 * expected);
}

TEST_P(Elastic, FindsTheFirstInvertedElement) {
  VecX x = body_.rest();
  EXPECT_EQ(energy_.first_inverted(x), -1);
  const Index bad = body_.fe.element_count() / 2;
  const Index* nodes = energy_.stencils()[bad];
  VecX mirrored = x;
  node(mirrored, nodes[3]) +=
      2 * (node(x, nodes[0]) - node(x, nodes[3])) + 1.5 * (node(x, nodes[1]) - node(x, nodes[0]));
  const Index found = energy_.first_inverted(mirrored);
  ASSERT_GE(found, 0);
  ASSERT_LE(found, bad);
  std::vector<double> values(static_cast<std::size_t>(body_.fe.element_count()));
  energy_.evaluate(mirrored, testing::all_stencils(energy_), values.data(), nullptr);
  if (!energy_.law().info().survives_inversion) {
    const auto first = std::find_if(values.begin(), values.end(), [](double v) { return std::isinf(v); });
    EXPECT_EQ(found, first - values.begin());
  }
}

TEST(ElasticParameters, AreUsedElementByElementAndCounted) {
  const Body body(1);
  std::vector<Lame> lame;
  for (Index e = 0; e < body.fe.element_count(); ++e) lame.push_back({1e3 * (e + 1), 2e3 * (e + 2)});
  const auto law = find_law("neo-hookean");
  const ElasticEnergy mixed(body.fe, law, lame, 0);
  const VecX x = body.deformed();
  for (Index e : {0, 7, 15, 16, body.fe.element_count() - 1}) {
    const ElasticEnergy uniform(body.fe, law, {lame[static_cast<std::size_t>(e)]}, 0);
    double a, b;
    mixed.evaluate(x, {e, e + 1}, &a, nullptr);
    uniform.evaluate(x, {e, e + 1}, &b, nullptr);
    EXPECT_EQ(a, b);
  }
  lame.pop_back();
  EXPECT_THROW(ElasticEnergy(body.fe, law, lame, 0), InputError);
}

TEST(ElasticNodes, BeginWhereTheModelPutsTheBody) {
  const Body body(2);
  const auto law = find_law("fixed-corotated");
  const ElasticEnergy here(body.fe, law, {kLame}, 0), there(body.fe, law, {kLame}, 5);
  VecX shifted = VecX::Random(15 + 3 * body.fe.node_count());
  shifted.tail(3 * body.fe.node_count()) = body.deformed();
  EXPECT_EQ(testing::total_value(here, body.deformed()), testing::total_value(there, shifted));
  EXPECT_EQ(there.stencils().nodes[0], here.stencils().nodes[0] + 5);
}

TEST(ElasticOrder, InMemoryIsTheSameSumAsInTheMesh) {
  const TetMesh mesh(box({.size = {1, 2, 3}, .cells = {3, 4, 5}}));
  const FeMesh elements(mesh, 2);
  const ElasticEnergy energy(elements, find_law("stable-neo-hookean"), {{1e4, 2e4}}, 0);
  const Energy& sorted = energy.in_memory_order();
  const Index count = energy.stencils().count();
  ASSERT_EQ(sorted.stencils().count(), count);
  VecX x = Eigen::Map<const VecX>(elements.positions().data()->data(), 3 * elements.node_count());
  x += 0.02 * VecX::Random(x.size());
  std::vector<double> a(static_cast<std::size_t>(count)), b(a.size());
  energy.evaluate(x, {0, count}, a.data(), nullptr);
  sorted.evaluate(x, {0, count}, b.data(), nullptr);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  EXPECT_EQ(a, b);
  // Neighbours in memory share nodes: far fewer of them per chunk than corners.
  std::vector<Index> chunk(sorted.stencils().nodes.begin(), sorted.stencils().nodes.begin() + 10 * 64);
  std::sort(chunk.begin(), chunk.end());
  EXPECT_LT(std::unique(chunk.begin(), chunk.end()) - chunk.begin(), 260);
}

}  // namespace
}  // namespace pliant
