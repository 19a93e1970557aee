#include "pliant/mesh/triangle_mesh.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "mesh/mesh_test_support.hpp"

namespace pliant {
namespace {

using test::contains;
using test::input_error;

TriangleMesh one_triangle() {
  TriangleMesh mesh;
  mesh.vertices = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
  mesh.triangles = {{0, 1, 2}};
  mesh.source = "test";
  return mesh;
}

TEST(TriangleMesh, IsChecked) {
  EXPECT_NO_THROW(check_triangle_mesh(one_triangle()));
  const auto error = [](auto&& damage) {
    TriangleMesh mesh = one_triangle();
    damage(mesh);
    return input_error([&] { check_triangle_mesh(mesh); });
  };
  EXPECT_TRUE(contains(error([](TriangleMesh& m) { m.triangles.clear(); }), "test: the surface has no triangles"));
  EXPECT_TRUE(contains(error([](TriangleMesh& m) { m.triangles[0][1] = 3; }),
                       "test: triangle 0 names vertex 3, but the vertices are numbered 0 to 2"));
  EXPECT_TRUE(contains(error([](TriangleMesh& m) { m.triangles[0][1] = -1; }), "triangle 0 names vertex -1"));
  EXPECT_TRUE(contains(error([](TriangleMesh& m) { m.triangles[0][1] = 0; }),
                       "triangle 0 (vertices 0 0 2) uses a vertex twice"));
  EXPECT_TRUE(contains(error([](TriangleMesh& m) { m.vertices[2][0] = std::numeric_limits<double>::infinity(); }),
                       "test: vertex 2 has a coordinate that is not a finite number"));
  EXPECT_TRUE(contains(error([](TriangleMesh& m) { m.sets["edge"] = {5}; }), "the vertex set \"edge\" names vertex 5"));
}

}  // namespace
}  // namespace pliant
