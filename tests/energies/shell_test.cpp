#include <gtest/gtest.h>

#include "energies/derivative_battery.hpp"
#include "pliant/base/error.hpp"
#include "pliant/energies/hinge_angle.hpp"
#include "pliant/energies/shell_energy.hpp"
#include "pliant/energies/tie_energy.hpp"
#include "pliant/mesh/spring_network.hpp"

namespace pliant {
namespace {

VecX flat(std::span<const Vec3> vertices) {
  VecX x(3 * static_cast<Eigen::Index>(vertices.size()));
  for (Index i = 0; i < static_cast<Index>(vertices.size()); ++i) node(x, i) = vertices[at(i)];
  return x;
}

/// A sheet that is curved at rest.
SpringNetwork curved_sheet() {
  SpringNetwork sheet = cloth({.size = {1, 0.8}, .cells = {4, 3}});
  for (Vec3& p : sheet.vertices) p.y() = 0.3 * p.x() * p.x() - 0.2 * p.x() * p.z();
  return sheet;
}

TEST(Shell, PassesTheDerivativeBatteryStretchedAndBent) {
  const SpringNetwork sheet = curved_sheet();
  // Thick, so that bending counts for as much as stretching.
  const ShellEnergy energy(sheet.vertices, sheet.triangles, {.young = 1e3, .poisson = 0.3, .thickness = 0.2}, 0);
  const VecX rest = flat(sheet.vertices);
  testing::run_derivative_battery(energy, rest + 0.03 * testing::random_direction(rest.size(), 3), 1e-3);
  testing::run_derivative_battery(energy, 0.8 * rest + 0.03 * testing::random_direction(rest.size(), 4), 1e-3);
  EXPECT_LT(testing::total_value(energy, rest), 1e-25);
}

TEST(Shell, BeyondItsStrainLimitPassesTheDerivativeBattery) {
  const SpringNetwork sheet = curved_sheet();
  const ShellEnergy energy(sheet.vertices, sheet.triangles,
                           {.young = 1e3, .poisson = 0.3, .thickness = 0.2, .strain_limit = 0.05}, 0);
  const VecX rest = flat(sheet.vertices);
  // Within the limit, beyond it in some directions, and in all of them.
  for (double stretch : {0.9, 1.05, 1.3})
    testing::run_derivative_battery(energy, stretch * rest + 0.03 * testing::random_direction(rest.size(), 3), 1e-4);
  // Where both principal strains are the same, too.
  testing::expect_hessian_is_derivative(energy, 1.3 * rest, 1e-4);
}

TEST(Shell, BeyondItsStrainLimitStoresTheCubeOfTheExcess) {
  const SpringNetwork sheet = cloth({.size = {2, 1}, .cells = {4, 2}});
  const double Y = 1e6, t = 0.01, s = 0.1, limit = s + s * s / 2, stretch = 1.2;
  const auto stored = [&](double strain_limit, double x_stretch) {
    const ShellEnergy energy(sheet.vertices, sheet.triangles, {Y, 0.0, t, 1, strain_limit}, 0);
    VecX x = flat(sheet.vertices);
    for (Index i = 0; i < static_cast<Index>(sheet.vertices.size()); ++i) x[3 * i] *= x_stretch;
    return testing::total_value(energy, x);
  };
  EXPECT_EQ(stored(s, 1.0999), stored(0, 1.0999));
  const double e = (stretch * stretch - 1) / 2, excess = e - limit, area = 2;
  const double expected = area * t * 1000 * Y / 6 * excess * excess * excess / limit;
  EXPECT_NEAR(stored(s, stretch) - stored(0, stretch), expected, 1e-10 * expected);
}

TEST(Shell, StretchedInItsPlaneStoresWhatPlaneStressSays) {
  const SpringNetwork sheet = cloth({.size = {2, 1}, .cells = {4, 2}});
  const double Y = 1e6, nu = 0.3, t = 0.01, stretch = 1e-4;
  const ShellEnergy energy(sheet.vertices, sheet.triangles, {Y, nu, t}, 0);
  VecX x = flat(sheet.vertices);
  for (Index i = 0; i < x.size() / 3; ++i) {
    x[3 * i] *= 1 + stretch;
    x[3 * i + 2] *= 1 - nu * stretch;
  }
  // Free to become narrower, it resists by Young's modulus.
  EXPECT_NEAR(testing::total_value(energy, x), 0.5 * Y * stretch * stretch * 2 * t, 1e-3 * Y * stretch * stretch * t);
}

TEST(Shell, BentToACylinderStoresThePlatesEnergy) {
  const double Y = 1e6, nu = 0.25, t = 0.01, radius = 3;
  const double D = Y * t * t * t / (12 * (1 - nu * nu));
  const SpringNetwork sheet = cloth({.size = {1, 0.5}, .cells = {40, 20}});
  const ShellEnergy energy(sheet.vertices, sheet.triangles, {Y, nu, t}, 0);
  VecX x = flat(sheet.vertices);
  for (Index i = 0; i < x.size() / 3; ++i) {
    const double angle = x[3 * i] / radius;
    node(x, i) = Vec3(radius * std::sin(angle), radius * (1 - std::cos(angle)), x[3 * i + 2]);
  }
  // The vertices are on the cylinder, and chords of it are shorter than their arcs: the membrane's part is that of a
  // shell that does not bend.
  const ShellEnergy membrane(sheet.vertices, sheet.triangles, {Y, nu, t, 0}, 0);
  const double bending = testing::total_value(energy, x) - testing::total_value(membrane, x);
  // All but half a cell at either end has hinges. Along the rims Poisson's effect is free, elsewhere it is held.
  const double whole = 0.5 * D / (radius * radius) * (1 - 1.0 / 40) * 0.5;
  EXPECT_LT(bending, 1.005 * whole);
  EXPECT_GT(bending, 0.99 * whole);
}

TEST(Shell, OfCongruentTrianglesHasThePlatesEnergyOfEveryCurvature) {
  const double Y = 1e6, nu = 0.3, t = 0.01;
  const double D = Y * t * t * t / (12 * (1 - nu * nu));
  SpringNetwork sheet;
  const Index n = 6;  // a lattice of slanted triangles
  for (Index i = 0; i <= n; ++i)
    for (Index j = 0; j <= n; ++j) sheet.vertices.push_back(Vec3(0.1 * i + 0.03 * j, 0, 0.08 * j - 0.02 * i));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      const Index a = i * (n + 1) + j, b = a + n + 1;
      sheet.triangles.push_back({a, b, b + 1});
      sheet.triangles.push_back({a, b + 1, a + 1});
    }
  const ShellEnergy energy(sheet.vertices, sheet.triangles, {Y, nu, t}, 0),
      membrane(sheet.vertices, sheet.triangles, {Y, nu, t, 0}, 0);
  for (const Vec3& k : {Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1), Vec3(1, -2, 0.5)}) {
    VecX x = flat(sheet.vertices);
    constexpr double kSmall = 1e-4;  // where angles and curvatures are the same
    for (Index i = 0; i < x.size() / 3; ++i) {
      const double X = x[3 * i], Z = x[3 * i + 2];
      x[3 * i + 1] = kSmall * (0.5 * k[0] * X * X + 0.5 * k[1] * Z * Z + k[2] * X * Z);
    }
    std::vector<double> whole(at(energy.stencils().count())), stretched(whole.size());
    energy.evaluate(x, {0, energy.stencils().count()}, whole.data(), nullptr);
    membrane.evaluate(x, {0, energy.stencils().count()}, stretched.data(), nullptr);
    const double trace = k[0] + k[1], squares = k[0] * k[0] + k[1] * k[1] + 2 * k[2] * k[2];
    const double expected = 0.5 * D * kSmall * kSmall * ((1 - nu) * squares + nu * trace * trace);
    for (Index s = 0; s < energy.stencils().count(); ++s) {
      const Index* nodes = energy.stencils()[s];
      if (nodes[3] == nodes[0] || nodes[4] == nodes[0] || nodes[5] == nodes[0]) continue;  // at the rim
      EXPECT_NEAR((whole[at(s)] - stretched[at(s)]) / energy.areas()[at(s)], expected, 1e-4 * expected) << s;
    }
  }
}

TEST(Shell, IsRefusedWithoutAreasAndWhereThreeTrianglesMeet) {
  const std::vector<Vec3> vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, -1, 0}, {2, 0, 0}};
  const ShellMaterial material;
  EXPECT_THROW(ShellEnergy(vertices, std::vector<Triangle>{{0, 1, 5}}, material, 0), InputError);
  EXPECT_THROW(ShellEnergy(vertices, std::vector<Triangle>{{0, 1, 2}, {1, 0, 3}, {0, 1, 4}}, material, 0), InputError);
}

TEST(Ties, PassTheDerivativeBatteryBetweenBodiesAndToTheWorld) {
  const VecX x = testing::random_direction(15, 5);
  const TieEnergy between({{{0, 1, 2}, {0.5, 0.5, -1}, Vec3::Zero(), 10, 0.3, 0},
                           {{3, 4}, {1, -1}, Vec3::Zero(), 7, 0, 0},
                           {{0, 1, 1, 4}, {1, 0.2, -0.7, -0.5}, Vec3::Zero(), 5, 2.5, 0}});
  testing::run_derivative_battery(between, x, 1e-3);
  const TieEnergy to_world({{{0, 1}, {0.4, 0.6}, Vec3(0.3, 2, 0), 10, 0.8, 2}, {{3}, {1}, Vec3(1, 0, 0), 3, 0, 1}});
  testing::expect_gradient_is_derivative(to_world, x, 1e-3);
  testing::expect_hessian_is_derivative(to_world, x, 1e-3);
  testing::expect_projections(to_world, x);
  TieDamping damping(to_world);
  damping.begin_step(x + 0.1 * testing::random_direction(15, 6), 0, 0.01);
  testing::expect_projections(damping, x);
  EXPECT_TRUE(to_world.ties()[0].is_to_world());
  EXPECT_FALSE(between.ties()[2].is_to_world());
}

TEST(Ties, ThatSlideOrAreMovedPassTheDerivativeBattery) {
  const VecX x = testing::random_direction(24, 5);
  Tie along_world{{0, 1, 2, 3}, {0.4, 0.3, 0.2, 0.1}, Vec3(0.3, 2, 0), 10, 0, 0};
  along_world.axis = Vec3(0.6, 0.8, 0);
  along_world.freedom = TieFreedom::line;
  Tie along_body{{0, 1, 2, 3, 4, 5, 6, 7}, {0.4, 0.3, 0.2, 0.1, -0.7, -0.2, 0.3, -0.4}, Vec3::Zero(), 10, 0, 0};
  along_body.axis_weights = {0, 0, 0, 0, 1, -0.5, 0.3, -0.8};
  along_body.freedom = TieFreedom::line;
  Tie over_world = along_world, over_body = along_body;
  over_world.freedom = over_body.freedom = TieFreedom::plane;
  Tie moved = along_body;
  moved.freedom = TieFreedom::none;
  moved.axis_weights.clear();
  moved.motion =
      std::make_shared<TieMotion>(TieMotion{{{{0, 0.5}}}, true, Vec3(0.1, 0, 0), Vec3::UnitZ(), Vec3(1, 0.5, 0)});
  moved.slopes.assign(8, Vec3::Zero());
  for (std::size_t k = 4; k < 8; ++k) moved.slopes[k] = Vec3(0.1, -0.2, 0.3) * (static_cast<double>(k) - 5.5);
  Tie rope{{0, 4}, {1, -1}, Vec3::Zero(), 7, 0.1, 0}, strut = rope;
  rope.side = TieSide::longer;
  strut.side = TieSide::shorter;
  strut.rest_length = 9;
  for (const Tie& tie : {along_world, along_body, over_world, over_body, moved, rope, strut}) {
    const TieEnergy energy({tie});
    testing::expect_gradient_is_derivative(energy, x, 1e-3);
    testing::expect_hessian_is_derivative(energy, x, 1e-3);
  }
  // What the corotational solvers add to their inverse is what the others add to their matrix.
  for (const Tie& tie : {along_world, along_body, over_world, over_body}) {
    const TieEnergy energy({tie});
    const auto size = static_cast<Index>(tie.nodes.size());
    std::vector<double> blocks(9 * static_cast<std::size_t>(local_blocks(energy.stencils().size)));
    energy.hessians({x}, {0, 1}, Projection::analytic, blocks.data());
    std::vector<VecX> columns;
    TieEnergy::append_columns(tie, {x}, columns);
    double error = 0, whole = 0;
    for (Index b = 0; b < size; ++b)
      for (Index a = 0; a <= b; ++a) {
        const Mat3 block = Mat3::Map(blocks.data() + 9 * (b * (b + 1) / 2 + a));
        Mat3 sum = Mat3::Zero();
        for (const VecX& c : columns)
          sum += c.segment<3>(3 * Eigen::Index(a)) * c.segment<3>(3 * Eigen::Index(b)).transpose();
        error = std::max(error, (sum - block).norm());
        whole = std::max(whole, block.norm());
      }
    EXPECT_LT(error, 1e-12 * whole);
  }
  // What slides is free along its line, and over its plane.
  VecX moved_on = x;
  for (Index i = 0; i < 4; ++i) node(moved_on, i) += 0.7 * along_world.axis;
  const TieEnergy line({along_world}), plane({over_world});
  EXPECT_NEAR(testing::total_value(line, moved_on), testing::total_value(line, x), 1e-12);
  for (Index i = 0; i < 4; ++i) node(moved_on, i) = node(x, i) + Vec3(-0.8, 0.6, 2);
  EXPECT_NEAR(testing::total_value(plane, moved_on), testing::total_value(plane, x), 1e-12);
  std::swap(rope.side, strut.side);
  const TieEnergy slack({rope, strut});
  double values[2], gradients[12];
  slack.evaluate({x}, {0, 2}, values, gradients);
  EXPECT_EQ(values[0] + values[1], 0);
  EXPECT_EQ(Eigen::Map<VecX>(gradients, 12).norm(), 0);
}

}  // namespace
}  // namespace pliant
