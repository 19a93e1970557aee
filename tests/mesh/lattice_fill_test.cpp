#include "pliant/mesh/lattice_fill.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "mesh/mesh_test_support.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/quality.hpp"
#include "pliant/mesh/tetrahedralise.hpp"
#include "pliant/mesh/write_mesh.hpp"

namespace pliant {
namespace {

/// A mesh that is asked for as coarse as this has about so many tetrahedra, the volume of the surface within `share`
/// of it, and no bad element.
TetMesh filled(const TriangleMesh& surface, Index tets, double volume, double share) {
  TetMesh mesh = tetrahedralise(surface, {.coarse = tets});
  const MeshQuality quality = measure_quality(mesh);
  EXPECT_NEAR(quality.tets, tets, 0.25 * tets);
  EXPECT_NEAR(quality.total_volume, volume, share * volume);
  EXPECT_GT(quality.quality.least, 0.25);
  EXPECT_EQ(quality.pieces, 1);
  return mesh;
}

TEST(LatticeFill, MakesACoarseBallOfAFineOne) {
  const TriangleMesh fine = surface_of(TetMesh(sphere({.radius = 0.5, .cells = 24})));
  const TetMesh ball = filled(fine, 1500, 4 * std::numbers::pi / 3 * 0.125, 0.06);
  double nearest = 1, farthest = 0;
  for (Index v : ball.sets().at("surface")) {
    const double r = ball.vertices()[static_cast<std::size_t>(v)].norm();
    nearest = std::min(nearest, r);
    farthest = std::max(farthest, r);
  }
  EXPECT_GT(nearest, 0.49);
  EXPECT_LT(farthest, 0.56);  // a vertex that cannot be drawn in without spoiling an element
}

TEST(LatticeFill, KeepsTheHoleOfARingAndWhatIsThinnerThanItsCells) {
  const double volume = 2 * std::numbers::pi * std::numbers::pi * 0.4 * 0.1 * 0.1;
  const TriangleMesh ring = surface_of(TetMesh(torus({.radius = 0.4, .ring_radius = 0.1})));
  filled(ring, 4000, volume, 0.25);
  const TriangleMesh plate = surface_of(TetMesh(box({.size = {1, 0.01, 1}, .cells = {40, 1, 40}})));
  EXPECT_EQ(measure_quality(tetrahedralise(plate, {.coarse = 2000})).pieces, 1);
}

TEST(LatticeFill, TakesOverlappingPiecesAsOneAndRefusesNumbersItCannotMake) {
  TriangleMesh two = surface_of(TetMesh(box({.cells = {2, 2, 2}})));
  const TriangleMesh other = surface_of(TetMesh(box({.origin = {0.5, 0.25, 0.25}, .size = {1, 0.5, 0.5}})));
  const auto shift = static_cast<Index>(two.vertices.size());
  two.vertices.insert(two.vertices.end(), other.vertices.begin(), other.vertices.end());
  for (const Triangle& t : other.triangles) two.triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
  two.sets.clear();
  filled(two, 3000, 1 + 0.5 * 0.25, 0.1);
  EXPECT_TRUE(test::contains(test::input_error([&] { tetrahedralise(two, {.coarse = 3}); }), "ask for 50 to"));
}

}  // namespace
}  // namespace pliant
