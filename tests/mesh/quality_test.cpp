#include "pliant/mesh/quality.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "pliant/mesh/generators.hpp"

namespace pliant {
namespace {

TEST(MeanRatio, IsOneForTheRegularTetrahedronWhateverItsSize) {
  for (double s : {1e-3, 1.0, 50.0}) {
    EXPECT_NEAR(mean_ratio(s * Vec3(1, 1, 1), s * Vec3(-1, 1, -1), s * Vec3(1, -1, -1), s * Vec3(-1, -1, 1)), 1, 1e-14);
  }
}

TEST(MeanRatio, HasTheKnownValueForTheUnitCornerAndVanishesWithTheVolume) {
  // V = 1/6, edges 1, 1, 1, sqrt 2 three times: 12 (1/2)^(2/3) / 9.
  EXPECT_NEAR(mean_ratio(Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)), 12 * std::pow(0.5, 2.0 / 3) / 9,
              1e-14);
  EXPECT_EQ(mean_ratio(Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(1, 1, 0)), 0);
}

TEST(DihedralAngles, AreThoseOfTheRegularTetrahedronAndOfTheUnitCorner) {
  for (double angle : dihedral_angles(Vec3(1, 1, 1), Vec3(-1, 1, -1), Vec3(1, -1, -1), Vec3(-1, -1, 1))) {
    EXPECT_NEAR(angle, std::acos(1.0 / 3), 1e-14);
  }
  auto corner = dihedral_angles(Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1));
  std::sort(corner.begin(), corner.end());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(corner[i], std::acos(1 / std::sqrt(3.0)), 1e-14);
  for (std::size_t i = 3; i < 6; ++i) EXPECT_NEAR(corner[i], std::numbers::pi / 2, 1e-14);
}

TEST(RadiusEdgeRatio, IsThatOfTheRegularTetrahedronAndOfTheUnitCorner) {
  EXPECT_NEAR(radius_edge_ratio(Vec3(1, 1, 1), Vec3(-1, 1, -1), Vec3(1, -1, -1), Vec3(-1, -1, 1)), std::sqrt(6.0) / 4,
              1e-14);
  EXPECT_NEAR(radius_edge_ratio(Vec3(5, 0, 0), Vec3(6, 0, 0), Vec3(5, 1, 0), Vec3(5, 0, 1)), std::sqrt(3.0) / 2, 1e-14);
}

TEST(MeshQuality, SummarisesABox) {
  const MeshQuality q = measure_quality(TetMesh(box({.size = Vec3(2, 1, 1), .cells = {2, 1, 1}})));
  EXPECT_EQ(q.vertices, 12);
  EXPECT_EQ(q.tets, 10);
  EXPECT_EQ(q.surface_triangles, 20);
  EXPECT_EQ(q.edges, 20 + 11);  // of the two cells, and one diagonal for each of their 11 faces
  EXPECT_EQ(q.pieces, 1);
  EXPECT_EQ(q.lower, Vec3(0, 0, 0));
  EXPECT_EQ(q.upper, Vec3(2, 1, 1));
  EXPECT_NEAR(q.total_volume, 2, 1e-14);
  EXPECT_NEAR(q.surface_area, 10, 1e-13);
  EXPECT_NEAR(q.volume.least, 1.0 / 6, 1e-15);
  EXPECT_NEAR(q.volume.mean, 0.2, 1e-15);
  EXPECT_NEAR(q.volume.most, 1.0 / 3, 1e-15);
  EXPECT_NEAR(q.edge_length.least, 1, 1e-15);
  EXPECT_NEAR(q.edge_length.most, std::sqrt(2.0), 1e-15);
  EXPECT_NEAR(q.edge_length.mean, (20 + 11 * std::sqrt(2.0)) / 31, 1e-14);
  EXPECT_NEAR(q.quality.most, 1, 1e-14);  // the inner tet is regular
  EXPECT_NEAR(q.quality.least, 12 * std::pow(0.5, 2.0 / 3) / 9, 1e-14);
  EXPECT_NEAR(q.dihedral.least, std::acos(1 / std::sqrt(3.0)), 1e-14);
  EXPECT_NEAR(q.dihedral.most, std::numbers::pi / 2, 1e-14);
  EXPECT_NEAR(q.radius_edge, std::sqrt(3.0) / 2, 1e-14);
  EXPECT_EQ(q.worst, 1);
  EXPECT_EQ(q.poor, 0);
}

TEST(MeshQuality, CountsPiecesAndPoorElements) {
  MeshData data = box({.size = Vec3(1, 1, 1e-3)});
  const MeshData other = box({.origin = Vec3(5, 0, 0)});
  const auto shift = static_cast<Index>(data.vertices.size());
  data.vertices.insert(data.vertices.end(), other.vertices.begin(), other.vertices.end());
  for (Tet tet : other.tets) {
    for (Index& v : tet) v += shift;
    data.tets.push_back(tet);
  }
  const MeshQuality q = measure_quality(TetMesh(std::move(data)));
  EXPECT_EQ(q.pieces, 2);
  EXPECT_EQ(q.poor, 5);
}

}  // namespace
}  // namespace pliant
