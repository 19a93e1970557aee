#include "pliant/fem/fe_mesh.hpp"

#include <gtest/gtest.h>

#include <set>

#include "pliant/base/error.hpp"
#include "pliant/mesh/generators.hpp"

namespace pliant {
namespace {

class OrderedMesh : public ::testing::TestWithParam<int> {
 protected:
  OrderedMesh()
      : mesh_(box({.size = {2, 1, 1.5}, .cells = {2, 3, 2}, .split = BoxSplit::six})), fe_(mesh_, GetParam()) {}
  TetMesh mesh_;
  FeMesh fe_;
  int order_ = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Orders, OrderedMesh, ::testing::Values(1, 2, 3));

TEST_P(OrderedMesh, BeginsWithTheMeshVertices) {
  ASSERT_GE(fe_.positions().size(), mesh_.vertices().size());
  for (std::size_t v = 0; v < mesh_.vertices().size(); ++v) EXPECT_EQ(fe_.positions()[v], mesh_.vertices()[v]);
  for (Index e = 0; e < fe_.element_count(); ++e) {
    for (int c = 0; c < 4; ++c) {
      EXPECT_EQ(fe_.elements()[static_cast<std::size_t>(e * fe_.reference().nodes() + c)],
                mesh_.tets()[static_cast<std::size_t>(e)][static_cast<std::size_t>(c)]);
    }
  }
}

TEST_P(OrderedMesh, ConformsSoThatNoTwoNodesCoincideAndNodesLieWhereElementsExpectThem) {
  // A box of cells cut into tetrahedra of order p has the lattice points of p times as many cells.
  EXPECT_EQ(fe_.node_count(), (2 * order_ + 1) * (3 * order_ + 1) * (2 * order_ + 1));
  std::set<std::array<long, 3>> seen;
  for (const Vec3& x : fe_.positions()) {
    EXPECT_TRUE(seen.insert({std::lround(x[0] * 1e6), std::lround(x[1] * 1e6), std::lround(x[2] * 1e6)}).second);
  }
  const ReferenceElement& reference = fe_.reference();
  for (Index e = 0; e < fe_.element_count(); ++e) {
    const Tet& tet = mesh_.tets()[static_cast<std::size_t>(e)];
    for (int a = 0; a < reference.nodes(); ++a) {
      Vec3 expected = Vec3::Zero();
      for (std::size_t c = 0; c < 4; ++c) {
        expected +=
            reference.lattice()[static_cast<std::size_t>(a)][c] * mesh_.vertices()[static_cast<std::size_t>(tet[c])];
      }
      const Index n = fe_.elements()[static_cast<std::size_t>(e * reference.nodes() + a)];
      EXPECT_LT((fe_.positions()[static_cast<std::size_t>(n)] - expected / order_).norm(), 1e-14);
    }
  }
}

TEST_P(OrderedMesh, KeepsVolumeAndInverseEdges) {
  double volume = 0;
  for (Index e = 0; e < fe_.element_count(); ++e) {
    const auto k = static_cast<std::size_t>(e);
    const Tet& tet = mesh_.tets()[k];
    volume += fe_.volumes()[k];
    for (std::size_t c = 0; c < 3; ++c) {
      const Vec3 edge =
          mesh_.vertices()[static_cast<std::size_t>(tet[c + 1])] - mesh_.vertices()[static_cast<std::size_t>(tet[0])];
      EXPECT_LT((fe_.inverse_edges()[k] * edge - Vec3::Unit(static_cast<Eigen::Index>(c))).norm(), 1e-14);
    }
  }
  EXPECT_NEAR(volume, 3, 1e-13);
}

TEST_P(OrderedMesh, ExtendsAFaceOfTheBoxToAllNodesOnIt) {
  const auto nodes = fe_.nodes_of(mesh_.sets().at("x-min"));
  Index expected = 0;
  for (const Vec3& x : fe_.positions()) expected += x[0] == 0;
  EXPECT_EQ(static_cast<Index>(nodes.size()), expected);
  for (Index n : nodes) EXPECT_EQ(fe_.positions()[static_cast<std::size_t>(n)][0], 0);
}

TEST(FeMeshInput, RejectsOrdersItDoesNotHave) {
  const TetMesh mesh(box({}));
  EXPECT_THROW(FeMesh(mesh, 0), InputError);
  EXPECT_THROW(FeMesh(mesh, 4), InputError);
}

}  // namespace
}  // namespace pliant
