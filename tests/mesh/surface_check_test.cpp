#include "pliant/mesh/surface_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "mesh/mesh_test_support.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/surface_crossings.hpp"
#include "pliant/mesh/tetrahedralise.hpp"
#include "pliant/mesh/write_mesh.hpp"

namespace pliant {
namespace {

using test::contains;
using test::input_error;

TriangleMesh cube() { return surface_of(TetMesh(box({.origin = Vec3(10, 0, 0), .cells = {3, 3, 3}}))); }

/// Both surfaces side by side, or one inside the other.
TriangleMesh joined(TriangleMesh a, const TriangleMesh& b) {
  const auto shift = static_cast<Index>(a.vertices.size());
  a.vertices.insert(a.vertices.end(), b.vertices.begin(), b.vertices.end());
  for (Triangle triangle : b.triangles) {
    for (Index& v : triangle) v += shift;
    a.triangles.push_back(triangle);
  }
  a.sets.clear();
  return a;
}

TriangleMesh turned(TriangleMesh mesh) {
  for (Triangle& triangle : mesh.triangles) std::swap(triangle[1], triangle[2]);
  return mesh;
}

std::string fault(const TriangleMesh& mesh) {
  return input_error([&] { check_closed(mesh, examine_surface(mesh)); });
}

TEST(SurfaceReport, MeasuresACube) {
  const SurfaceReport r = examine_surface(cube());
  EXPECT_TRUE(r.closed());
  EXPECT_NEAR(r.volume, 1, 1e-14);
  EXPECT_NEAR(r.area, 6, 1e-14);
  EXPECT_EQ(r.pieces, 1);
  EXPECT_EQ(r.edges, 3 * 108 / 2);
  EXPECT_EQ(r.lower, Vec3(10, 0, 0));
  EXPECT_NEAR(examine_surface(turned(cube())).volume, -1, 1e-14);
  EXPECT_EQ(examine_surface(joined(cube(), surface_of(TetMesh(sphere({}))))).pieces, 2);
}

TEST(SurfaceReport, SaysWhyASurfaceCannotBeFilled) {
  TriangleMesh open = cube();
  const Triangle gone = open.triangles.back();
  open.triangles.pop_back();
  EXPECT_TRUE(
      contains(fault(open), "the surface cannot be filled: 3 edges belong to one triangle only: there are holes"));
  TriangleMesh twisted = cube();
  std::swap(twisted.triangles[0][0], twisted.triangles[0][1]);
  EXPECT_TRUE(contains(fault(twisted), "3 edges have triangles that are oriented against each other"));
  TriangleMesh fin = cube();
  fin.vertices.push_back(Vec3(20, 20, 20));
  fin.triangles.push_back({gone[0], gone[1], static_cast<Index>(fin.vertices.size()) - 1});
  const std::string message = fault(fin);
  EXPECT_TRUE(contains(message, "2 edges belong to one triangle only"));
  EXPECT_TRUE(contains(message, "1 edges belong to more than two triangles: the surface touches itself"));
  EXPECT_TRUE(contains(fault(triangle_grid({})), "80 edges belong to one triangle only"));
}

TEST(MergeEqualVertices, ClosesASurfaceOfLooseTriangles) {
  const TriangleMesh whole = cube();
  TriangleMesh loose;
  loose.source = "loose";
  for (const Triangle& triangle : whole.triangles) {
    Triangle corners;
    for (std::size_t k = 0; k < 3; ++k) {
      corners[k] = static_cast<Index>(loose.vertices.size());
      loose.vertices.push_back(whole.vertices[static_cast<std::size_t>(triangle[k])]);
    }
    loose.triangles.push_back(corners);
  }
  EXPECT_FALSE(examine_surface(loose).closed());
  EXPECT_EQ(merge_equal_vertices(loose), 3 * 108 - 56);
  EXPECT_EQ(loose.vertices.size(), 56u);
  EXPECT_TRUE(examine_surface(loose).closed());
  EXPECT_EQ(merge_equal_vertices(loose), 0);
}

TEST(Tetrahedralise, RefusesAnOpenSurfaceWhateverIsInstalled) {
  EXPECT_TRUE(contains(input_error([] { tetrahedralise(triangle_grid({})); }), "the surface cannot be filled"));
  EXPECT_TRUE(contains(input_error([] { tetrahedralise(cube(), {.edge = -1}); }), "the edge length is -1"));
}

TEST(SurfaceCrossings, AreFoundOnceAndOnlyWhereAnEdgePassesThroughATriangle) {
  const TriangleMesh ball = surface_of(TetMesh(sphere({.cells = 8})));
  EXPECT_TRUE(surface_crossings(ball).empty());
  EXPECT_TRUE(surface_crossings(joined(cube(), cube())).empty());  // touching everywhere, crossing nowhere
  // A needle through the middle of one triangle: three of its sides meet it, seen from either.
  TriangleMesh needle;
  needle.vertices = {Vec3(0, 0, 0), Vec3(4, 0, 0), Vec3(0, 4, 0), Vec3(1, 1, -1), Vec3(1.1, 1, 1), Vec3(1, 1.1, 1)};
  needle.triangles = {{0, 1, 2}, {3, 4, 5}};
  const std::vector<std::array<Index, 2>> expected = {{0, 1}};
  EXPECT_EQ(surface_crossings(needle), expected);
  needle.vertices[3].z() = 0.5;  // above the triangle as a whole
  EXPECT_TRUE(surface_crossings(needle).empty());
  const TriangleMesh many = joined(ball, joined(cube(), ball));
  EXPECT_LE(surface_crossings(many, 3).size(), 3u);
}

class Meshers : public testing::TestWithParam<Mesher> {
 protected:
  void SetUp() override {
    const char* program = GetParam() == Mesher::gmsh ? "gmsh" : "tetgen";
    if (!is_installed(program)) GTEST_SKIP() << program << " is not installed; install the package " << program;
  }
};
INSTANTIATE_TEST_SUITE_P(Installed, Meshers, testing::Values(Mesher::gmsh, Mesher::tetgen),
                         [](const auto& mesher) { return mesher.param == Mesher::gmsh ? "gmsh" : "tetgen"; });

TEST_P(Meshers, FillABall) {
  const TriangleMesh surface = surface_of(TetMesh(sphere({.radius = 1, .cells = 8})));
  const TetMesh mesh = tetrahedralise(surface, {.mesher = GetParam()});
  EXPECT_NEAR(mesh.total_volume(), examine_surface(surface).volume, 1e-9);
  EXPECT_EQ(mesh.sets().at("surface").size(), surface.vertices.size());
  const TetMesh finer = tetrahedralise(surface, {.mesher = GetParam(), .edge = 0.15});
  EXPECT_GT(finer.tets().size(), 2 * mesh.tets().size());
}

TEST_P(Meshers, TurnASurfaceThatFacesInwards) {
  const TetMesh mesh = tetrahedralise(turned(cube()), {.mesher = GetParam()});
  EXPECT_NEAR(mesh.total_volume(), 1, 1e-9);
  ASSERT_FALSE(mesh.notes().empty());
  EXPECT_TRUE(contains(mesh.notes()[0], "the surface was turned"));
}

TEST_P(Meshers, LeaveCavitiesEmptyAndFillSeveralBodies) {
  const TriangleMesh hollow =
      joined(cube(), turned(surface_of(TetMesh(sphere({.centre = Vec3(10.5, 0.5, 0.5), .radius = 0.3, .cells = 6})))));
  const double expected = examine_surface(hollow).volume;
  EXPECT_LT(expected, 0.91);
  EXPECT_NEAR(tetrahedralise(hollow, {.mesher = GetParam()}).total_volume(), expected, 1e-9);
  const TriangleMesh two = joined(cube(), surface_of(TetMesh(sphere({.radius = 0.3, .cells = 6}))));
  EXPECT_NEAR(tetrahedralise(two, {.mesher = GetParam()}).total_volume(), examine_surface(two).volume, 1e-9);
}

TEST_P(Meshers, SayWhenTheSurfaceCrossesItself) {
  const TriangleMesh crossing =
      joined(cube(), surface_of(TetMesh(box({.origin = Vec3(10.5, 0.3, 0.2), .cells = {2, 2, 2}}))));
  const std::string message = input_error([&] { tetrahedralise(crossing, {.mesher = GetParam()}); });
  EXPECT_TRUE(contains(message, "it crosses itself, first where the triangles")) << message;
}

}  // namespace
}  // namespace pliant
