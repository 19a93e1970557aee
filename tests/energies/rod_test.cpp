#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>

#include "energies/derivative_battery.hpp"
#include "pliant/base/error.hpp"
#include "pliant/energies/rod_energy.hpp"
#include "pliant/mesh/rod_line.hpp"

namespace pliant {
namespace {

VecX flat_line(std::span<const Vec3> vertices) {
  VecX x(3 * static_cast<Eigen::Index>(vertices.size()));
  for (Index i = 0; i < static_cast<Index>(vertices.size()); ++i) node(x, i) = vertices[at(i)];
  return x;
}

/// Segments of several lengths, in space.
std::vector<Vec3> wound_line() {
  std::vector<Vec3> points;
  for (int i = 0; i < 7; ++i) {
    const double t = 0.1 * i + 0.01 * i * i;
    points.emplace_back(std::cos(3 * t), std::sin(3 * t), 0.8 * t);
  }
  return points;
}

/// Thick, so that bending counts for as much as stretching.
const RodMaterial kThick{.young = 1e3, .radius = 0.2};

TEST(Rod, PassesTheDerivativeBatteryStretchedAndBentOpenAndClosed) {
  const std::vector<Vec3> line = wound_line();
  const VecX rest = flat_line(line);
  for (bool closed : {false, true})
    for (std::optional<double> curvature : {std::optional<double>(), std::optional(0.0), std::optional(4.0)}) {
      RodMaterial material = kThick;
      material.rest_curvature = curvature;
      const RodEnergy energy(line, closed, material, 0);
      for (double scale : {0.7, 1.3})
        testing::run_derivative_battery(energy, scale * rest + 0.03 * testing::random_direction(rest.size(), 3), 1e-4);
    }
}

TEST(Rod, BentSharplyPassesTheDerivativeBattery) {
  // By 150 degrees, where 1 + cos theta has lost its digits.
  const std::vector<Vec3> line = {{0, 0, 0}, {1, 0, 0}, {1 + std::cos(2.6), std::sin(2.6), 0}, {0.5, 1, 0.7}};
  RodMaterial material = kThick;
  material.rest_curvature = 0;
  testing::run_derivative_battery(RodEnergy(line, false, material, 0), flat_line(line), 1e-4);
}

TEST(Rod, AtRestHasNoEnergyAndNoForce) {
  for (bool closed : {false, true}) {
    const std::vector<Vec3> line = wound_line();
    const RodEnergy energy(line, closed, kThick, 0);
    EXPECT_LT(testing::total_value(energy, flat_line(line)), 1e-25);
    EXPECT_LT(testing::total_gradient(energy, flat_line(line)).norm(), 1e-11);
  }
}

TEST(Rod, FoldedBackOntoItselfHasNoFiniteEnergy) {
  const RodEnergy energy(std::vector<Vec3>{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, false, kThick, 0);
  EXPECT_TRUE(std::isinf(testing::total_value(energy, flat_line(std::vector<Vec3>{{0, 0, 0}, {1, 0, 0}, {0, 0, 0}}))));
}

TEST(Rod, BentToARingStoresHalfItsRigidityTimesTheSquareOfTheCurvature) {
  const int n = 100;
  const double R = 0.5, radius = 0.01, Y = 1e7;
  std::vector<Vec3> ring;
  for (int i = 0; i < n; ++i) {
    const double angle = 2 * std::numbers::pi * i / n;
    ring.emplace_back(R * std::cos(angle), R * std::sin(angle), 0);
  }
  const RodEnergy energy(ring, true, {.young = Y, .radius = radius, .rest_curvature = 0}, 0);
  const double B = Y * std::numbers::pi * std::pow(radius, 4) / 4;
  const double expected = 0.5 * B / (R * R) * 2 * std::numbers::pi * R;
  EXPECT_NEAR(testing::total_value(energy, flat_line(ring)), expected, 1e-3 * expected);
  // The fibre on its outside is longer by r/R.
  for (const RodEnergy::Strain& strain : energy.strains(flat_line(ring)))
    EXPECT_NEAR(strain.largest(radius), radius / R, 1e-3 * radius / R);
  const RodEnergy bent(ring, true, {.young = Y, .radius = radius, .rest_curvature = 1 / R}, 0);
  EXPECT_LT(testing::total_value(bent, flat_line(ring)), 1e-6 * expected);
}

TEST(Rod, DividesItsLineBetweenItsPointsByTheirDistances) {
  const SpringNetwork rod = rod_network({.points = {{0, 0, 0}, {1, 0, 0}, {1, 3, 0}}, .segments = 8});
  ASSERT_EQ(rod.vertices.size(), 9u);
  EXPECT_EQ(rod.vertices[2], Vec3(1, 0, 0));  // the corner stays
  EXPECT_EQ(rod.springs.size(), 8u);
  double length = 0;
  for (double share : rod.measure) length += share;
  EXPECT_NEAR(length, 4, 1e-14);
  EXPECT_EQ(rod.sets.at("last-segment"), (std::vector<Index>{7, 8}));
  const SpringNetwork ring = rod_network({.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, .segments = 1, .closed = true});
  EXPECT_EQ(ring.vertices.size(), 3u);
  EXPECT_EQ(ring.springs.back().b, 0);
  EXPECT_TRUE(ring.sets.empty());
}

TEST(Rod, IsRefusedWithoutALength) {
  EXPECT_THROW(rod_network({.points = {{0, 0, 0}}}), InputError);
  EXPECT_THROW(rod_network({.points = {{0, 0, 0}, {0, 0, 0}}}), InputError);
  EXPECT_THROW(rod_network({.points = {{0, 0, 0}, {1, 0, 0}}, .closed = true}), InputError);
  EXPECT_THROW(rod_network({.points = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 0, 0}}, .closed = true}), InputError);
}

TEST(Rod, HasATubeThatIsClosedAndFacesOut) {
  const std::vector<Vec3> line = wound_line();
  for (bool closed : {false, true}) {
    const double radius = 0.02;
    const RodTube tube = rod_tube(static_cast<Index>(line.size()), closed);
    const auto corners = rod_tube_corners(line, (line[1] - line[0]).normalized(), radius, closed);
    double volume = 0, length = closed ? (line.front() - line.back()).norm() : 0;
    for (std::size_t i = 1; i < line.size(); ++i) length += (line[i] - line[i - 1]).norm();
    std::map<std::pair<Index, Index>, int> sides;
    for (const Triangle& t : tube.triangles) {
      volume += corners[at(t[0])].dot(corners[at(t[1])].cross(corners[at(t[2])])) / 6;
      for (std::size_t k = 0; k < 3; ++k) ++sides[{t[k], t[(k + 1) % 3]}];
    }
    for (const auto& [side, count] : sides) {
      EXPECT_EQ(count, 1);
      EXPECT_TRUE(sides.contains({side.second, side.first}));
    }
    // Of an octagon's area, less at the bends.
    const double expected = 2 * std::sqrt(2.0) * radius * radius * length;
    EXPECT_NEAR(volume, expected, 0.1 * expected) << closed;
  }
}

}  // namespace
}  // namespace pliant
