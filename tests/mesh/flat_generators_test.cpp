#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <cmath>

#include "mesh/mesh_test_support.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/quality.hpp"

namespace pliant {
namespace {

using test::contains;
using test::input_error;

TEST(Sheet, LiesInThePlaneOfItsNormal) {
  for (Axis normal : {Axis::x, Axis::y, Axis::z}) {
    const MeshData data = sheet(
        {.origin = Vec3(1, 2, 3), .size = {2, 0.5}, .thickness = 0.01, .normal = normal, .cells = {8, 3}, .layers = 2});
    const MeshQuality q = measure_quality(TetMesh(data, Orphans::reject));
    const auto n = static_cast<int>(normal);
    EXPECT_NEAR((q.upper - q.lower)[n], 0.01, 1e-15);
    EXPECT_NEAR((q.upper - q.lower)[n == 0 ? 1 : 0], 2, 1e-15);
    EXPECT_NEAR((q.upper - q.lower)[n == 2 ? 1 : 2], 0.5, 1e-15);
    EXPECT_NEAR(q.total_volume, 0.01, 1e-15);
    EXPECT_EQ(q.tets, 5 * 8 * 3 * 2);
    EXPECT_EQ(data.sets.at("bottom").size(), 9u * 4);
    EXPECT_EQ(data.sets.at("top").size(), 9u * 4);
    EXPECT_EQ(data.sets.at("edge").size(), 3u * (2 * 8 + 2 * 3));
    EXPECT_EQ(data.sets.at("corners").size(), 4u * 3);
    for (Index v : data.sets.at("top")) {
      EXPECT_EQ(data.vertices[static_cast<std::size_t>(v)][n], Vec3(1, 2, 3)[n] + 0.01);
    }
  }
}

TEST(Sheet, HasGoodElementsWhenItsCellsAreCubes) {
  const MeshQuality q =
      measure_quality(TetMesh(sheet({.size = {1, 1}, .thickness = 0.1, .cells = {20, 20}, .layers = 2})));
  EXPECT_NEAR(q.dihedral.least, std::acos(1 / std::sqrt(3.0)), 1e-12);
}

TEST(Lattice, HasTheVolumeOfItsStruts) {
  const LatticeOptions options{.origin = Vec3(-1, 0, 0), .size = Vec3(2, 1, 1.2), .cells = {4, 2, 3}, .strut = 0.1};
  const MeshData data = lattice(options);
  const MeshQuality q = measure_quality(TetMesh(data, Orphans::reject));
  // Struts take S and openings G of each axis; a point is solid when it is in a strut along two axes at least.
  const Vec3 S(0.5, 0.3, 0.4);
  const Vec3 G = options.size - S;
  EXPECT_NEAR(q.total_volume, S[0] * S[1] * S[2] + S[0] * S[1] * G[2] + S[0] * G[1] * S[2] + G[0] * S[1] * S[2], 1e-12);
  EXPECT_EQ(q.pieces, 1);
  EXPECT_EQ(q.lower, Vec3(-1, 0, 0));
  EXPECT_NEAR((q.upper - Vec3(1, 1, 1.2)).norm(), 0, 1e-15);
  EXPECT_EQ(data.sets.at("joints").size(), 5u * 3 * 4 * 27);  // two cells across: 3 x 3 x 3 vertices a joint
  EXPECT_GT(q.quality.least, 0.7);
  EXPECT_GT(q.dihedral.least, 0.7);  // 40 degrees
}

TEST(Lattice, HasOneCellAcrossAndOneOpeningAtLeast) {
  const TetMesh mesh(lattice({.cells = {1, 1, 1}, .strut = 0.2, .across = 1}), Orphans::reject);
  EXPECT_NEAR(mesh.total_volume(), 8 * 0.008 + 12 * 0.04 * 0.6, 1e-14);
}

TEST(TriangleGrid, FacesItsNormalAndFillsItsArea) {
  for (Axis normal : {Axis::x, Axis::y, Axis::z}) {
    const TriangleMesh mesh = triangle_grid({.size = {2, 1}, .normal = normal, .cells = {6, 5}});
    check_triangle_mesh(mesh);
    EXPECT_EQ(mesh.vertices.size(), 42u);
    EXPECT_EQ(mesh.triangles.size(), 60u);
    Vec3 area = Vec3::Zero();
    for (const auto& [a, b, c] : mesh.triangles) {
      const auto x = [&](Index v) { return mesh.vertices[static_cast<std::size_t>(v)]; };
      const Vec3 part = (x(b) - x(a)).cross(x(c) - x(a)) / 2;
      EXPECT_NEAR(part[static_cast<Eigen::Index>(normal)], 1.0 / 30, 1e-15);
      area += part;
    }
    EXPECT_NEAR((area - 2 * Vec3::Unit(static_cast<Eigen::Index>(normal))).norm(), 0, 1e-13);
    EXPECT_EQ(mesh.sets.at("corners"), (std::vector<Index>{0, 6, 35, 41}));
    EXPECT_EQ(mesh.sets.at("boundary").size(), 22u);
  }
  EXPECT_EQ(triangle_grid({.cells = {6, 5}}).sets.at("x-min").size(), 6u);
}

TEST(FlatOptions, AreChecked) {
  EXPECT_TRUE(contains(input_error([] { sheet({.thickness = 0}); }), "sheet: thickness is 0"));
  EXPECT_TRUE(contains(input_error([] { sheet({.size = {1, -1}}); }), "sheet: size is -1"));
  EXPECT_TRUE(contains(input_error([] { sheet({.layers = 0}); }), "sheet: layers is 0; give at least 1"));
  EXPECT_TRUE(contains(input_error([] { lattice({.strut = 0.25}); }), "leave no openings in 1 m along x"));
  EXPECT_TRUE(contains(input_error([] { lattice({.across = 0}); }), "lattice: across is 0"));
  EXPECT_TRUE(contains(input_error([] { lattice({.strut = 1e-9}); }), "more than the"));
  EXPECT_TRUE(contains(input_error([] { triangle_grid({.cells = {0, 1}}); }), "triangle_grid: cells is 0"));
  EXPECT_TRUE(contains(input_error([] { triangle_grid({.cells = {2147483647, 2147483647}}); }), "more than the"));
}

}  // namespace
}  // namespace pliant
