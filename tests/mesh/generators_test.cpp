#include "pliant/mesh/generators.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "mesh/mesh_test_support.hpp"
#include "pliant/mesh/tet_geometry.hpp"

namespace pliant {
namespace {

using test::contains;
using test::input_error;

class Box : public testing::TestWithParam<BoxSplit> {
 protected:
  BoxOptions options() const {
    return {.origin = Vec3(-1, 2, 0.5), .size = Vec3(2, 1.5, 0.7), .cells = {4, 3, 2}, .split = GetParam()};
  }
};

INSTANTIATE_TEST_SUITE_P(Splits, Box, testing::Values(BoxSplit::five, BoxSplit::six, BoxSplit::twelve),
                         [](const auto& split) {
                           return split.param == BoxSplit::five  ? "five"
                                  : split.param == BoxSplit::six ? "six"
                                                                 : "twelve";
                         });

TEST_P(Box, HasTheCountsAndCornersAskedFor) {
  const MeshData data = box(options());
  const bool has_centres = GetParam() == BoxSplit::twelve;
  EXPECT_EQ(data.vertices.size(), 5u * 4 * 3 + (has_centres ? 24 : 0));
  EXPECT_EQ(data.tets.size(), (GetParam() == BoxSplit::five ? 5u : has_centres ? 12u : 6u) * 24);
  EXPECT_EQ(data.vertices.front(), Vec3(-1, 2, 0.5));
  EXPECT_EQ(data.vertices[5 * 4 * 3 - 1], Vec3(-1 + 2.0, 2 + 1.5, 0.5 + 0.7));
  EXPECT_EQ(data.vertices[1], Vec3(-0.5, 2, 0.5));  // x runs fastest
}

TEST_P(Box, FillsItsVolumeWithPositiveElements) {
  const TetMesh mesh(box(options()), Orphans::reject);
  for (Index t = 0; t < static_cast<Index>(mesh.tets().size()); ++t) EXPECT_GT(mesh.volume(t), 0);
  EXPECT_NEAR(mesh.total_volume(), 2 * 1.5 * 0.7, 1e-14);
}

TEST_P(Box, Conforms) {
  const MeshData data = box(options());
  std::map<std::array<Index, 3>, int> shared;
  for (const Tet& tet : data.tets) {
    for (const auto& face : tet_faces) {
      std::array<Index, 3> key = {tet[face[0]], tet[face[1]], tet[face[2]]};
      std::sort(key.begin(), key.end());
      ++shared[key];
    }
  }
  // A face in the interior belongs to two elements; one that belongs to a single element lies in a side of the box.
  const Vec3 lower = data.vertices.front();
  const Vec3 upper = data.vertices[5 * 4 * 3 - 1];
  for (const auto& [key, count] : shared) {
    bool in_side = false;
    for (int a = 0; a < 3; ++a) {
      for (double plane : {lower[a], upper[a]}) {
        in_side = in_side || std::all_of(key.begin(), key.end(), [&](Index v) {
                    return data.vertices[static_cast<std::size_t>(v)][a] == plane;
                  });
      }
    }
    EXPECT_EQ(count, in_side ? 1 : 2);
  }
}

TEST_P(Box, HasAClosedSurfaceWhoseFluxIsTheVolume) {
  const TetMesh mesh(box(options()));
  EXPECT_EQ(mesh.surface().size(), 4u * (4 * 3 + 3 * 2 + 4 * 2));
  std::set<std::pair<Index, Index>> directed;
  double flux = 0;  // of x / 3, whose divergence is 1
  Vec3 area = Vec3::Zero();
  for (const auto& [a, b, c] : mesh.surface()) {
    for (const auto& edge : {std::pair{a, b}, std::pair{b, c}, std::pair{c, a}})
      EXPECT_TRUE(directed.insert(edge).second);
    const Vec3& x = mesh.vertices()[static_cast<std::size_t>(a)];
    const Vec3& y = mesh.vertices()[static_cast<std::size_t>(b)];
    const Vec3& z = mesh.vertices()[static_cast<std::size_t>(c)];
    const Vec3 normal = (y - x).cross(z - x) / 2;
    area += normal;
    flux += normal.dot(x + y + z) / 9;
  }
  for (const auto& [a, b] : directed) EXPECT_TRUE(directed.contains({b, a}));
  EXPECT_NEAR(flux, mesh.total_volume(), 1e-13);
  EXPECT_NEAR(area.norm(), 0, 1e-13);
}

TEST_P(Box, ListsItsSurfaceInTheOrderOfItsElements) {
  const TetMesh mesh(box(options()));
  EXPECT_TRUE(std::is_sorted(mesh.surface_tets().begin(), mesh.surface_tets().end()));
  for (std::size_t i = 0; i < mesh.surface().size(); ++i) {
    const Tet& tet = mesh.tets()[static_cast<std::size_t>(mesh.surface_tets()[i])];
    for (Index v : mesh.surface()[i]) EXPECT_NE(std::find(tet.begin(), tet.end(), v), tet.end());
  }
}

TEST_P(Box, NamesItsSides) {
  const MeshData data = box(options());
  ASSERT_EQ(data.sets.size(), 7u);
  const auto check = [&](const char* name, int axis, double value, std::size_t count) {
    const auto& set = data.sets.at(name);
    EXPECT_EQ(set.size(), count) << name;
    for (Index v : set) EXPECT_EQ(data.vertices[static_cast<std::size_t>(v)][axis], value) << name;
  };
  check("x-min", 0, -1, 12);
  check("x-max", 0, 1, 12);
  check("y-min", 1, 2, 15);
  check("y-max", 1, 3.5, 15);
  check("z-min", 2, 0.5, 20);
  check("z-max", 2, 0.5 + 0.7, 20);
  EXPECT_EQ(data.sets.at("boundary").size(), 60u - 3 * 2 * 1);
}

TEST(BoxOptions, AreChecked) {
  const auto error = [](const BoxOptions& options) { return input_error([&] { box(options); }); };
  EXPECT_TRUE(contains(error({.size = Vec3(1, 0, 1)}), "box: size along y is 0"));
  EXPECT_TRUE(contains(error({.size = Vec3(1, 1, -2)}), "box: size along z is -2"));
  EXPECT_TRUE(
      contains(error({.size = Vec3(std::numeric_limits<double>::quiet_NaN(), 1, 1)}), "box: size along x is nan"));
  EXPECT_TRUE(
      contains(error({.size = Vec3(std::numeric_limits<double>::infinity(), 1, 1)}), "box: size along x is inf"));
  EXPECT_TRUE(contains(error({.origin = Vec3(0, std::numeric_limits<double>::infinity(), 1)}), "box: origin along y"));
  EXPECT_TRUE(contains(error({.cells = {1, 0, 1}}), "box: 0 cells along y"));
  EXPECT_TRUE(contains(error({.cells = {2000, 2000, 2000}}), "box: 2000 x 2000 x 2000 cells make 8.01e+09 vertices"));
  EXPECT_TRUE(contains(error({.cells = {2147483647, 2147483647, 2147483647}}), "more than the"));
}

TEST(Generators, ALatticeWithoutOpeningsAlongOneAxisIsANet) {
  const TetMesh net(lattice({.size = {1, 0.05, 1}, .cells = {4, 0, 4}, .strut = 0.04, .across = 1}));
  // Five struts each way, 1 m long, less where they cross.
  const double area = 2 * 5 * 0.04 - 25 * 0.04 * 0.04;
  EXPECT_NEAR(net.total_volume(), 0.05 * area, 1e-12);
  EXPECT_THROW(lattice({.size = {1, 0.05, 1}, .cells = {4, 0, 0}, .strut = 0.04}), InputError);
}

}  // namespace
}  // namespace pliant
