#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <random>
#include <set>

#include "pliant/base/error.hpp"
#include "pliant/mesh/cutting.hpp"
#include "pliant/mesh/generators.hpp"

namespace pliant {
namespace {

TetMesh bar() { return TetMesh(box({.size = {4, 1, 1}, .cells = {8, 2, 2}})); }

double area(const TetMesh& mesh) {
  double sum = 0;
  for (const Triangle& t : mesh.surface()) {
    const auto corner = [&](std::size_t k) { return mesh.vertices()[static_cast<std::size_t>(t[k])]; };
    sum += 0.5 * (corner(1) - corner(0)).cross(corner(2) - corner(0)).norm();
  }
  return sum;
}

TEST(Cutting, AlongCellsOpensTheCrossSectionAndCopiesItsVertices) {
  const TetMesh mesh = bar();
  const CutMesh cut = cut_mesh(mesh, CutPlane{{2, 0, 0}, {1, 0, 0}});
  EXPECT_EQ(cut.faces, 8);                                            // two triangles a cell
  EXPECT_EQ(cut.mesh.vertices().size(), mesh.vertices().size() + 9);  // 3 x 3 vertices on the section
  EXPECT_NEAR(area(cut.mesh), area(mesh) + 2, 1e-12);
  EXPECT_EQ(cut.mesh.total_volume(), mesh.total_volume());
  Index pieces = 0;
  const std::vector<Index> piece = face_connected_pieces(cut.mesh, pieces);
  EXPECT_EQ(pieces, 2);
  // No vertex belongs to both.
  std::vector<std::set<Index>> of(cut.mesh.vertices().size());
  for (std::size_t e = 0; e < piece.size(); ++e)
    for (Index v : cut.mesh.tets()[e]) of[static_cast<std::size_t>(v)].insert(piece[e]);
  for (const auto& pieces_of : of) EXPECT_EQ(pieces_of.size(), 1u);
  for (std::size_t v = 0; v < cut.origin.size(); ++v)
    EXPECT_EQ(cut.mesh.vertices()[v], mesh.vertices()[static_cast<std::size_t>(cut.origin[v])]);
  // Copies are in the sets of their vertices: half of the section's outline is at y = 0 and so on.
  EXPECT_EQ(cut.mesh.sets().at("y-min").size(), mesh.sets().at("y-min").size() + 3);
}

TEST(Cutting, EndsWhereTheSurfaceEnds) {
  const TetMesh mesh = bar();
  const CutMesh slit = cut_mesh(mesh, CutPlane{{2, 0, 0.5}, {1, 0, 0}, 0.6});
  EXPECT_GT(slit.faces, 0);
  EXPECT_LT(slit.faces, 8);
  Index pieces = 0;
  face_connected_pieces(slit.mesh, pieces);
  EXPECT_EQ(pieces, 1);
  EXPECT_GT(slit.mesh.vertices().size(), mesh.vertices().size());
  // A slit inside the body opens no vertex at its rim; one triangle alone opens none at all.
  const CutMesh inner = cut_mesh(TetMesh(box({.cells = {4, 4, 4}})), CutPlane{{0.5, 0.4, 0.45}, {1, 0, 0}, 0.12});
  EXPECT_EQ(inner.mesh.vertices().size(), 125u);
}

TEST(Cutting, FollowsASurfaceOfTriangles) {
  const TetMesh mesh = bar();
  TriangleMesh wall;
  wall.vertices = {{1.01, -1, -1}, {1.01, 3, -1}, {1.01, -1, 3}, {3.02, -1, -1}, {3.02, 3, -1}, {3.02, -1, 3}};
  wall.triangles = {{0, 1, 2}, {3, 4, 5}};
  const CutMesh cut = cut_mesh(mesh, wall);
  Index pieces = 0;
  face_connected_pieces(cut.mesh, pieces);
  EXPECT_EQ(pieces, 3);
  EXPECT_EQ(cut.mesh.total_volume(), mesh.total_volume());
}

TEST(Cutting, LeavesAMeshAloneThatItMisses) {
  const TetMesh mesh = bar();
  const CutMesh cut = cut_mesh(mesh, CutPlane{{9, 0, 0}, {1, 0, 0}});
  EXPECT_EQ(cut.faces, 0);
  EXPECT_EQ(cut.mesh.vertices().size(), mesh.vertices().size());
  EXPECT_THROW(cut_mesh(mesh, CutPlane{{0, 0, 0}, {0, 0, 0}}), InputError);
  EXPECT_THROW(cut_mesh(mesh, CutPlane{{0, 0, 0}, {1, 0, 0}, -1}), InputError);
  EXPECT_THROW(cut_mesh(mesh, TriangleMesh{}), InputError);
}

TEST(Cutting, AHundredRandomCutsInARowLeaveEveryElementAsItWas) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> place(0, 1), sign(-1, 1);
  const TetMesh start(box({.cells = {7, 6, 5}}));
  TetMesh mesh = start;
  for (int k = 0; k < 100; ++k) {
    CutPlane plane{{place(random), place(random), place(random)}, {sign(random), sign(random), sign(random)}};
    if (k % 3 == 0) plane.radius = 0.3;
    CutMesh cut = cut_mesh(mesh, plane);  // throws when the mesh is no longer valid
    ASSERT_EQ(cut.mesh.tets().size(), start.tets().size());
    ASSERT_EQ(cut.mesh.total_volume(), start.total_volume());
    mesh = std::move(cut.mesh);
  }
  for (std::size_t e = 0; e < start.tets().size(); ++e)
    ASSERT_EQ(mesh.volume(static_cast<Index>(e)), start.volume(static_cast<Index>(e)));
  Index pieces = 0;
  face_connected_pieces(mesh, pieces);
  EXPECT_GT(pieces, 100);
}

}  // namespace
}  // namespace pliant
