#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "mesh/mesh_test_support.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/quality.hpp"

namespace pliant {
namespace {

using std::numbers::pi;
using test::contains;
using test::input_error;

constexpr double degree = pi / 180;

/// What generators.hpp promises.
void expect_good(const MeshData& data) {
  const MeshQuality q = measure_quality(TetMesh(data, Orphans::reject));
  EXPECT_GT(q.dihedral.least / degree, 25) << data.source;
  EXPECT_LT(q.dihedral.most / degree, 130) << data.source;
  EXPECT_GT(q.quality.least, 0.45) << data.source;
  EXPECT_LT(q.radius_edge, 2.2) << data.source;
  EXPECT_EQ(q.pieces, 1) << data.source;
}

/// The order at which the volume of make(cells) converges to the exact one, over the cells 9, 18 and 36.
template <class Make>
void expect_second_order(double exact, Make&& make) {
  double previous = 0;
  for (Index cells : {9, 18, 36}) {
    const MeshData data = make(cells);
    const double error = exact - TetMesh(data).total_volume();
    EXPECT_GT(error, 0) << data.source;  // the curved surfaces are convex, and the vertices lie on them
    if (previous > 0) {
      EXPECT_NEAR(std::log2(previous / error), 2, 0.05) << data.source;
    }
    previous = error;
  }
  EXPECT_LT(previous, 3e-3 * exact);
}

std::vector<Index> set_of(const MeshData& data, const char* name) {
  EXPECT_TRUE(data.sets.contains(name)) << name;
  return data.sets.at(name);
}

/// Expects that every vertex of the set, and no other, fulfils the condition.
template <class Condition>
void expect_set(const MeshData& data, const char* name, Condition&& condition) {
  const std::vector<Index> set = set_of(data, name);
  EXPECT_FALSE(set.empty()) << name;
  std::vector<Index> expected;
  for (std::size_t v = 0; v < data.vertices.size(); ++v) {
    if (condition(data.vertices[v])) expected.push_back(static_cast<Index>(v));
  }
  EXPECT_EQ(set, expected) << name;
}

TEST(Cylinder, HasGoodElementsAtEverySize) {
  for (Index cells = 4; cells <= 20; ++cells) expect_good(cylinder({.radius = 0.3, .length = 0.5, .cells = cells}));
}

TEST(Cylinder, ConvergesToItsVolumeAtSecondOrder) {
  expect_second_order(pi * 0.25,
                      [](Index cells) { return cylinder({.radius = 0.5, .length = 1, .cells = cells, .along = 2}); });
}

TEST(Cylinder, NamesItsFacesAlongAnyAxis) {
  for (Axis axis : {Axis::x, Axis::y, Axis::z}) {
    const Vec3 origin(1, 2, 3);
    const MeshData data = cylinder({.origin = origin, .radius = 0.5, .length = 2, .axis = axis, .cells = 6});
    const auto a = static_cast<Eigen::Index>(axis);
    const auto height = [&](const Vec3& x) { return x[a] - origin[a]; };
    const auto distance = [&](const Vec3& x) {
      Vec3 d = x - origin;
      d[a] = 0;
      return d.norm();
    };
    expect_set(data, "start", [&](const Vec3& x) { return height(x) == 0; });
    expect_set(data, "end", [&](const Vec3& x) { return height(x) == 2; });
    expect_set(data, "side", [&](const Vec3& x) { return distance(x) > 0.5 - 1e-12; });
    expect_set(data, "boundary",
               [&](const Vec3& x) { return height(x) == 0 || height(x) == 2 || distance(x) > 0.5 - 1e-12; });
    EXPECT_EQ(set_of(data, axis == Axis::x ? "x-min" : axis == Axis::y ? "y-min" : "z-min"), set_of(data, "start"));
  }
}

TEST(Tube, HasGoodElements) {
  for (Index layers = 1; layers <= 5; ++layers) expect_good(tube({.layers = layers}));
  expect_good(tube({.inner_radius = 1, .outer_radius = 1.1, .length = 0.5, .layers = 2}));
}

TEST(Tube, ConvergesToItsVolumeAtSecondOrder) {
  expect_second_order(pi * (0.25 - 0.04) * 1.5, [](Index cells) {
    return tube(
        {.inner_radius = 0.2, .outer_radius = 0.5, .length = 1.5, .layers = 1, .around = 4 * cells, .along = 2});
  });
}

TEST(Tube, NamesItsWalls) {
  const MeshData data = tube({.origin = Vec3(0, 0, -1), .inner_radius = 0.3, .outer_radius = 0.5, .length = 2});
  const auto distance = [](const Vec3& x) { return std::hypot(x[0], x[1]); };
  expect_set(data, "inner", [&](const Vec3& x) { return distance(x) < 0.3 + 1e-12; });
  expect_set(data, "outer", [&](const Vec3& x) { return distance(x) > 0.5 - 1e-12; });
  expect_set(data, "start", [&](const Vec3& x) { return x[2] == -1; });
  expect_set(data, "end", [&](const Vec3& x) { return x[2] == 1; });
}

TEST(Sphere, HasGoodElementsAtEverySize) {
  for (Index cells = 4; cells <= 24; ++cells) expect_good(sphere({.cells = cells}));
}

TEST(Sphere, ConvergesToItsVolumeAtSecondOrder) {
  expect_second_order(4 * pi / 3 * 0.125, [](Index cells) { return sphere({.radius = 0.5, .cells = cells}); });
}

TEST(Sphere, IsTheSameSeenFromEverySide) {
  const MeshData data = sphere({.centre = Vec3(1, 0, 0), .radius = 2, .cells = 10});
  for (const char* pole : {"x-min", "x-max", "y-min", "y-max", "z-min", "z-max"}) {
    EXPECT_EQ(set_of(data, pole).size(), 1u) << pole;
  }
  EXPECT_NEAR((data.vertices[static_cast<std::size_t>(set_of(data, "x-max")[0])] - Vec3(3, 0, 0)).norm(), 0, 1e-14);
  expect_set(data, "boundary", [](const Vec3& x) { return (x - Vec3(1, 0, 0)).norm() > 2 - 1e-12; });
  // No direction is preferred: the second moments of volume of the three axes agree.
  Vec3 moment = Vec3::Zero();
  const TetMesh mesh(data);
  for (std::size_t t = 0; t < mesh.tets().size(); ++t) {
    for (Index v : mesh.tets()[t]) {
      moment += mesh.volume(static_cast<Index>(t)) *
                (mesh.vertices()[static_cast<std::size_t>(v)] - Vec3(1, 0, 0)).cwiseAbs2();
    }
  }
  EXPECT_NEAR(moment[0] / moment[1], 1, 1e-12);
  EXPECT_NEAR(moment[0] / moment[2], 1, 1e-12);
}

TEST(Torus, HasGoodElementsWhenItsHoleIsWide) {
  for (Index cells = 4; cells <= 12; ++cells) {
    const MeshQuality q =
        measure_quality(TetMesh(torus({.radius = 1, .ring_radius = 0.3, .cells = cells}), Orphans::reject));
    EXPECT_GT(q.dihedral.least / degree, 25) << cells;
    EXPECT_LT(q.dihedral.most / degree, 135) << cells;
    EXPECT_GT(q.quality.least, 0.45) << cells;
  }
}

TEST(Torus, ConvergesToItsVolumeAtSecondOrder) {
  expect_second_order(2 * pi * pi * 0.3 * 0.3, [](Index cells) {
    return torus({.radius = 1, .ring_radius = 0.3, .cells = cells, .around = 6 * cells});
  });
}

TEST(Torus, LiesAroundItsAxis) {
  for (Axis axis : {Axis::x, Axis::y, Axis::z}) {
    const TetMesh mesh(torus({.centre = Vec3(0, 0, 1), .radius = 1, .ring_radius = 0.25, .axis = axis}));
    const MeshQuality q = measure_quality(mesh);
    for (int a = 0; a < 3; ++a) {
      const double half = a == static_cast<int>(axis) ? 0.25 : 1.25;
      EXPECT_NEAR((q.upper[a] - q.lower[a]) / 2, half, 0.02);
      EXPECT_NEAR((q.upper[a] + q.lower[a]) / 2, a == 2 ? 1 : 0, 1e-12);
    }
  }
}

TEST(RoundOptions, AreChecked) {
  EXPECT_TRUE(contains(input_error([] { cylinder({.radius = 0}); }), "cylinder: radius is 0; give a positive length"));
  EXPECT_TRUE(contains(input_error([] { cylinder({.cells = 3}); }), "cylinder: cells is 3; give at least 4"));
  EXPECT_TRUE(contains(input_error([] { cylinder({.along = -1}); }), "cylinder: along is -1"));
  EXPECT_TRUE(contains(input_error([] { cylinder({.cells = 2147483647}); }), "more than the"));
  EXPECT_TRUE(contains(input_error([] { cylinder({.radius = 1e-300, .length = 1e300}); }), "more than the"));
  EXPECT_TRUE(contains(input_error([] { tube({.inner_radius = 0.5}); }), "the inner one must be the smaller"));
  EXPECT_TRUE(contains(input_error([] { tube({.around = 7}); }), "tube: around is 7; give an even number"));
  EXPECT_TRUE(contains(input_error([] { tube({.around = 4}); }), "tube: around is 4; give at least 6"));
  EXPECT_TRUE(contains(input_error([] { torus({.ring_radius = 0.5}); }), "the ring must be thinner"));
  EXPECT_TRUE(contains(input_error([] { sphere({.radius = std::nan("")}); }), "sphere: radius is nan"));
  EXPECT_TRUE(contains(input_error([] { sphere({.centre = Vec3(0, HUGE_VAL, 0)}); }), "sphere: centre along y is not"));
  EXPECT_TRUE(contains(input_error([] { sphere({.cells = 2000000}); }), "sphere: the options make"));
}

}  // namespace
}  // namespace pliant
