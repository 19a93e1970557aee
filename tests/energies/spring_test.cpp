#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "energies/derivative_battery.hpp"
#include "pliant/energies/collider_penalty.hpp"
#include "pliant/energies/elastic.hpp"
#include "pliant/energies/spring_energy.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/spring_network.hpp"

namespace pliant {
namespace {

SpringEnergy energy_of(const SpringNetwork& network, double stiffness) {
  std::vector<Index> ends;
  std::vector<double> rest, strength;
  for (const Spring& s : network.springs) {
    ends.push_back(s.a);
    ends.push_back(s.b);
    strength.push_back(stiffness);
    rest.push_back(
        (network.vertices[static_cast<std::size_t>(s.a)] - network.vertices[static_cast<std::size_t>(s.b)]).norm());
  }
  return {ends, strength, rest};
}

VecX positions(const SpringNetwork& network) {
  VecX x(3 * static_cast<Eigen::Index>(network.vertices.size()));
  for (Index i = 0; i < static_cast<Index>(network.vertices.size()); ++i)
    node(x, i) = network.vertices[static_cast<std::size_t>(i)];
  return x;
}

TEST(Springs, PassTheDerivativeBatteryStretchedAndCompressed) {
  const SpringNetwork network = cloth({.size = {1, 0.8}, .cells = {4, 3}});
  const SpringEnergy energy = energy_of(network, 50);
  const VecX x = positions(network) + 0.05 * testing::random_direction(3 * 20, 3);
  testing::run_derivative_battery(energy, x, 1e-3);
  testing::run_derivative_battery(energy, 0.6 * x, 1e-3);
  EXPECT_EQ(testing::total_value(energy, positions(network)), 0);
}

TEST(Springs, WithBothEndsInOnePlaceAreFinite) {
  const SpringEnergy energy({0, 1}, {10}, {0.5});
  const VecX x = VecX::Zero(6);
  EXPECT_DOUBLE_EQ(testing::total_value(energy, x), 1.25);
  EXPECT_EQ(testing::total_gradient(energy, x).norm(), 0);
  for (Projection projection : {Projection::none, Projection::analytic})
    EXPECT_TRUE(testing::hessian_product(energy, x, VecX::Ones(6), projection).allFinite());
}

TEST(Cloth, HasTheSpringsOfItsGridAndItsWholeArea) {
  const SpringNetwork network = cloth({.size = {2, 3}, .cells = {4, 5}});
  Index count[3] = {0, 0, 0};
  for (const Spring& s : network.springs) ++count[static_cast<int>(s.kind)];
  EXPECT_EQ(network.vertices.size(), 30u);
  EXPECT_EQ(count[0], 4 * 6 + 5 * 5);
  EXPECT_EQ(count[1], 2 * 4 * 5);
  EXPECT_EQ(count[2], 3 * 6 + 5 * 4);
  EXPECT_EQ(network.triangles.size(), 40u);
  EXPECT_EQ(network.sets.at("corners").size(), 4u);
  double area = 0;
  for (double a : network.measure) area += a;
  EXPECT_NEAR(area, 6, 1e-14);
  for (const Triangle& t : network.triangles) {
    const auto& v = network.vertices;
    const Vec3 normal = (v[static_cast<std::size_t>(t[1])] - v[static_cast<std::size_t>(t[0])])
                            .cross(v[static_cast<std::size_t>(t[2])] - v[static_cast<std::size_t>(t[0])]);
    EXPECT_GT(normal.y(), 0);
  }
}

TEST(EdgeSprings, AreTheEdgesOfTheMeshEachOnce) {
  const TetMesh mesh(box({.cells = {1, 1, 1}, .split = BoxSplit::six}));
  const SpringNetwork network = edge_springs(mesh);
  EXPECT_EQ(network.springs.size(), 12u + 6u + 1u);  // edges, one diagonal a face, one of the cube
  double volume = 0;
  for (double v : network.measure) volume += v;
  EXPECT_NEAR(volume, 1, 1e-14);
}

TEST(ColliderPenalty, HasExactDerivativesInsideCurvedShapes) {
  const std::vector<Collider> colliders = {{"ball", SphereShape{Vec3(0.2, 0, 0), 1.5}, {}, 100, 0},
                                           {"ring", TorusShape{Vec3::Zero(), Vec3::UnitY(), 1.0, 0.7}, {}, 70, 0}};
  const ColliderPenalty energy({0, 1, 2, 3}, {1, 2, 0.5, 1}, colliders);
  VecX x(12);
  x << 0.8, 0.1, 0.3, -0.9, 0.2, 0.4, 0.3, -0.2, -1.1, 5, 5, 5;
  testing::expect_gradient_is_derivative(energy, x, 1e-2);
  testing::expect_hessian_is_derivative(energy, x, 1e-2);
  testing::expect_projections(energy, x);
  testing::expect_same_bits_for_any_split(energy, x, Projection::analytic);
}

TEST(FibredElements, PassTheDerivativeBatteryForEveryFibreLawAndOrder) {
  const TetMesh mesh(box({.size = {1, 0.8, 0.5}, .cells = {2, 2, 1}, .split = BoxSplit::six}));
  for (const auto& law : fibre_laws()) {
    for (int order : {1, 2}) {
      SCOPED_TRACE(law->info().name + std::to_string(order));
      const FeMesh fe(mesh, order);
      std::vector<Vec3> directions;
      for (std::size_t e = 0; e < mesh.tets().size(); ++e) {
        const double angle = 0.3 * static_cast<double>(e);
        directions.push_back(2 * Vec3(std::cos(angle), std::sin(angle), 0.3));
      }
      directions[3].setZero();  // an element without fibres
      const Fibres fibres{law, {{4e4, law->info().shape_fallback, 1e4}}, directions, -1};
      const Fibres along{find_fibre_law("reinforcement"), {{2e4, 1, 0}}, {Vec3(0, 0, 1)}, -1};
      const ElasticEnergy energy(fe, find_law("stable-neo-hookean"), {{3e4, 7e4}}, 0, {fibres, along});
      VecX x(3 * fe.node_count());
      for (Index i = 0; i < fe.node_count(); ++i) {
        const Vec3 X = fe.positions()[static_cast<std::size_t>(i)];
        // The muscle changes its formula at 1.4 times a fibre's rest length and below 0.84: stay between.
        node(x, i) = X + Vec3(0.1 * X[0] * X[1] + 0.1 * X[2], 0.1 * X[0] * X[0] - 0.05 * X[1], 0.08 * X[1] * X[2]);
      }
      testing::run_derivative_battery(energy, x, 1e-3);
    }
  }
}

TEST(FibredElements, ContractWithTheirMuscle) {
  const TetMesh mesh(box({}));
  const FeMesh fe(mesh, 1);
  VecX x(3 * fe.node_count());
  for (Index i = 0; i < fe.node_count(); ++i) node(x, i) = fe.positions()[static_cast<std::size_t>(i)];
  const Fibres fibres{find_fibre_law("reinforcement"), {{1e4, 1, 5e3}}, {Vec3(1, 0, 0)}, 1};
  const ElasticEnergy energy(fe, find_law("arap"), {{1, 0}}, 0, {fibres});
  const double off[2] = {1, 0}, on[2] = {0, 1};
  const auto pull = [&](std::span<const double> activation) {
    Mat3 F[1], P[1];
    energy.stresses({x, activation}, {0, 1}, F, P);
    return P[0];
  };
  EXPECT_LT(pull(off).norm(), 1e-12);
  EXPECT_NEAR(pull(on)(0, 0), 5e3, 1e-9);
  EXPECT_NEAR(pull(on).norm(), 5e3, 1e-9);
}

}  // namespace
}  // namespace pliant
