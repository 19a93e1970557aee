#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <cmath>
#include <limits>

#include "mesh/mesh_test_support.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/tet_mesh.hpp"

namespace pliant {
namespace {

using test::contains;
using test::input_error;
using test::unit_tet;

std::string error_of(MeshData data, Orphans orphans = Orphans::drop) {
  return input_error([&] { TetMesh mesh(std::move(data), orphans); });
}

TEST(TetMesh, MeasuresTheUnitTetrahedron) {
  const TetMesh mesh(unit_tet());
  EXPECT_DOUBLE_EQ(mesh.volume(0), 1.0 / 6);
  EXPECT_DOUBLE_EQ(mesh.total_volume(), 1.0 / 6);
  EXPECT_EQ(mesh.dropped_vertices(), 0);
  EXPECT_EQ(mesh.source(), "test");
}

TEST(TetMesh, HasFourOutwardFacesOnASingleElement) {
  const TetMesh mesh(unit_tet());
  ASSERT_EQ(mesh.surface().size(), 4u);
  const Vec3 inside(0.25, 0.25, 0.25);
  for (const auto& [a, b, c] : mesh.surface()) {
    const Vec3& x = mesh.vertices()[static_cast<std::size_t>(a)];
    const Vec3& y = mesh.vertices()[static_cast<std::size_t>(b)];
    const Vec3& z = mesh.vertices()[static_cast<std::size_t>(c)];
    EXPECT_GT((y - x).cross(z - x).dot(x - inside), 0);
  }
  for (Index t : mesh.surface_tets()) EXPECT_EQ(t, 0);
}

TEST(TetMesh, DropsOrphansAndRenumbersSetsAndSurface) {
  MeshData data = unit_tet();
  data.vertices.insert(data.vertices.begin() + 1, Vec3(9, 9, 9));
  data.vertices.push_back(Vec3(8, 8, 8));
  data.tets = {{0, 2, 3, 4}};
  data.sets["some"] = {5, 4, 1, 2, 4};
  const TetMesh mesh(data);
  EXPECT_EQ(mesh.dropped_vertices(), 2);
  ASSERT_EQ(mesh.vertices().size(), 4u);
  EXPECT_EQ(mesh.vertices()[1], Vec3(1, 0, 0));
  EXPECT_EQ(mesh.tets()[0], (Tet{0, 1, 2, 3}));
  EXPECT_EQ(mesh.sets().at("some"), (std::vector<Index>{1, 3}));
  const TetMesh plain(unit_tet());
  EXPECT_TRUE(std::equal(mesh.surface().begin(), mesh.surface().end(), plain.surface().begin(), plain.surface().end()));
}

TEST(TetMesh, RejectsOrphansWhenAsked) {
  MeshData data = unit_tet();
  data.vertices.push_back(Vec3(8, 8, 8));
  data.vertices.push_back(Vec3(9, 8, 8));
  const std::string error = error_of(data, Orphans::reject);
  EXPECT_TRUE(contains(error, "test: vertex 4 belongs to no tetrahedron; 2 such vertices"));
}

TEST(TetMesh, NamesTheElementThatIndexesOutOfRange) {
  MeshData data = unit_tet();
  data.tets.push_back({0, 1, 2, 4});
  EXPECT_TRUE(contains(error_of(data),
                       "test: element 1 (vertices 0 1 2 4) names vertex 4, but the vertices are numbered 0 to 3"));
  data.tets[1] = {0, 1, -1, 3};
  EXPECT_TRUE(contains(error_of(data), "element 1 (vertices 0 1 -1 3) names vertex -1"));
}

TEST(TetMesh, NamesTheSetThatIndexesOutOfRange) {
  MeshData data = unit_tet();
  data.sets["clamp"] = {0, 17};
  EXPECT_TRUE(contains(error_of(data), "the vertex set \"clamp\" names vertex 17"));
}

TEST(TetMesh, NamesTheVertexThatIsNotFinite) {
  MeshData data = unit_tet();
  data.vertices[2][1] = std::numeric_limits<double>::quiet_NaN();
  data.vertices[3][0] = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(contains(error_of(data),
                       "test: vertex 2 has a coordinate that is not a finite number (0 nan 0); 2 such vertices"));
}

TEST(TetMesh, NamesTheElementThatRepeatsAVertex) {
  MeshData data = unit_tet();
  data.tets.push_back({3, 1, 2, 3});
  EXPECT_TRUE(contains(error_of(data), "test: element 1 (vertices 3 1 2 3) uses a vertex twice"));
}

TEST(TetMesh, NamesTheInvertedElementWithItsVolumeAndTheirNumber) {
  MeshData data = box({.cells = {2, 1, 1}});
  std::swap(data.tets[3][0], data.tets[3][1]);
  std::swap(data.tets[7][0], data.tets[7][1]);
  const Tet tet = data.tets[3];
  const std::string error = error_of(data);
  EXPECT_TRUE(contains(error, "box 2x1x1: element 3 (vertices " + std::to_string(tet[0]) + " " +
                                  std::to_string(tet[1]) + " " + std::to_string(tet[2]) + " " + std::to_string(tet[3]) +
                                  ") is inverted"));
  EXPECT_TRUE(contains(error, "volume -0.0833333 m^3; 2 such element(s) of 10"));
}

TEST(TetMesh, CallsAnElementDegenerateRelativeToItsSize) {
  // Tiny, but of good shape: fine. Large, but flat to thirteen digits: refused.
  MeshData tiny = unit_tet();
  for (Vec3& x : tiny.vertices) x *= 1e-9;
  EXPECT_NO_THROW(TetMesh{tiny});
  MeshData flat = unit_tet();
  for (Vec3& x : flat.vertices) x *= 1e6;
  flat.vertices[3] = Vec3(0, 0, 1e-7);
  EXPECT_TRUE(contains(error_of(flat), "element 0 (vertices 0 1 2 3) is degenerate"));
  flat.vertices[3] = Vec3(0, 0, 0);
  EXPECT_TRUE(contains(error_of(flat), "volume 0 m^3"));
}

TEST(TetMesh, RefusesCoordinatesWhoseVolumeOverflows) {
  MeshData data = unit_tet();
  for (Vec3& x : data.vertices) x *= 1e200;
  EXPECT_TRUE(contains(error_of(data), "element 0"));
}

TEST(TetMesh, NamesDuplicateElements) {
  MeshData data = box({.cells = {2, 2, 2}});
  Tet copy = data.tets[7];
  std::rotate(copy.begin(), copy.begin() + 1, copy.begin() + 3);  // an even permutation keeps the orientation
  data.tets.push_back(copy);
  EXPECT_TRUE(contains(error_of(data), "elements 7 and 40 are the same tetrahedron"));
  EXPECT_TRUE(contains(error_of(data), "1 such pair(s)"));
}

TEST(TetMesh, RefusesAFaceSharedByThreeElements) {
  MeshData data = unit_tet();
  data.vertices.push_back(Vec3(1, 1, 1));
  data.vertices.push_back(Vec3(2, 2, 2));
  data.tets.push_back({1, 3, 2, 4});
  data.tets[1] = {1, 2, 3, 4};
  data.tets.push_back({1, 2, 3, 5});
  EXPECT_TRUE(contains(error_of(data),
                       "the face of vertices 1 2 3 is shared by three or more elements, among them 0 and 1; 1 such"));
}

TEST(TetMesh, RefusesTwoElementsOnTheSameSideOfAFace) {
  MeshData data = unit_tet();
  data.vertices.push_back(Vec3(0.1, 0.1, 0.5));
  data.tets.push_back({0, 1, 2, 4});
  EXPECT_TRUE(contains(error_of(data), "elements 0 and 1 lie on the same side of their common face (vertices 0 1 2)"));
}

TEST(TetMesh, RefusesAMeshWithoutElements) {
  MeshData data = unit_tet();
  data.tets.clear();
  EXPECT_TRUE(contains(error_of(data), "test: the mesh has no tetrahedra"));
}

TEST(TetMesh, RefusesRegionLabelsOfTheWrongNumber) {
  MeshData data = unit_tet();
  data.regions = {1, 2};
  EXPECT_TRUE(contains(error_of(data), "2 region labels for 1 tetrahedra"));
}

/// Two tets on a common face, labelled 7 ("gel") and 9.
MeshData two_regions() {
  MeshData data = unit_tet();
  data.vertices.push_back(Vec3(1, 1, 1));
  data.tets.push_back({1, 2, 3, 4});
  data.regions = {7, 9};
  data.region_names[7] = "gel";
  return data;
}

TEST(TetMesh, FindsARegionByNameAndByLabel) {
  const TetMesh mesh(two_regions());
  EXPECT_EQ(mesh.region_tets("gel"), (std::vector<Index>{0}));
  EXPECT_EQ(mesh.region_tets("7"), (std::vector<Index>{0}));
  EXPECT_EQ(mesh.region_tets("9"), (std::vector<Index>{1}));
}

TEST(TetMesh, NamesTheRegionThatMayHaveBeenMeant) {
  const TetMesh mesh(two_regions());
  EXPECT_TRUE(contains(input_error([&] { mesh.region_tets("gell"); }), "no region \"gell\"; did you mean \"gel\"?"));
  EXPECT_TRUE(contains(input_error([&] { mesh.region_tets("skeleton"); }), "it has gel, 7, 9."));
  const TetMesh plain(unit_tet());
  EXPECT_TRUE(contains(input_error([&] { plain.region_tets("gel"); }), "carry no region labels"));
}

TEST(TetMesh, ChecksElementFields) {
  MeshData data = two_regions();
  data.element_fields["fibre"] = {3, {1, 0, 0, 0, 1, 0}};
  EXPECT_EQ(TetMesh(data).element_fields().at("fibre").values[4], 1);
  data.element_fields["fibre"].values.pop_back();
  EXPECT_TRUE(contains(input_error([&] { TetMesh mesh(data); }),
                       "the element field \"fibre\" has 5 values for 2 tetrahedra with 3 component(s); give 6"));
  data.element_fields["fibre"] = {1, {0, std::numeric_limits<double>::quiet_NaN()}};
  EXPECT_TRUE(contains(input_error([&] { TetMesh mesh(data); }), "the element field \"fibre\" is nan in element 1"));
  data.element_fields["fibre"] = {0, {}};
  EXPECT_TRUE(contains(input_error([&] { TetMesh mesh(data); }), "with 0 component(s)"));
}

}  // namespace
}  // namespace pliant
