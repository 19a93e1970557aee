#include "pliant/linalg/block_matrix.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "linalg/test_matrices.hpp"

namespace pliant {
namespace {

using test::dense;
using test::random_pattern;
using test::random_symmetric;

TEST(BlockPattern, IsTheSortedUnionOfItsCliques) {
  std::mt19937 random(1);
  const Index rows = 1500;  // more than one chunk of rows
  std::uniform_int_distribution<Index> any(0, rows - 1);
  std::vector<Index> tets(4 * 3000), edges(2 * 500);
  for (Index& i : tets) i = any(random);
  for (Index& i : edges) i = any(random);
  const BlockPattern::Cliques cliques[] = {{tets, 4}, {edges, 2}};
  const BlockPattern pattern(rows, cliques);

  std::set<std::pair<Index, Index>> expected;
  for (Index i = 0; i < rows; ++i) expected.insert({i, i});
  for (const auto& list : cliques) {
    for (std::size_t s = 0; s < list.nodes.size(); s += static_cast<std::size_t>(list.size)) {
      for (int a = 0; a < list.size; ++a) {
        for (int b = 0; b < list.size; ++b) {
          const Index i = list.nodes[s + static_cast<std::size_t>(a)], j = list.nodes[s + static_cast<std::size_t>(b)];
          if (i <= j) expected.insert({i, j});
        }
      }
    }
  }
  std::set<std::pair<Index, Index>> found;
  for (Index i = 0; i < rows; ++i) {
    EXPECT_EQ(pattern.columns()[static_cast<std::size_t>(pattern.diagonal(i))], i);
    for (std::int64_t k = pattern.row_start()[static_cast<std::size_t>(i)];
         k < pattern.row_start()[static_cast<std::size_t>(i) + 1]; ++k) {
      const Index j = pattern.columns()[static_cast<std::size_t>(k)];
      EXPECT_EQ(pattern.find(i, j), k);
      found.insert({i, j});
    }
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(static_cast<std::size_t>(pattern.blocks()), expected.size());
  EXPECT_EQ(pattern, BlockPattern(rows, cliques));
}

TEST(BlockPattern, FindsNothingWhereThereIsNoBlock) {
  const std::vector<Index> edge{0, 2};
  const BlockPattern::Cliques cliques[] = {{edge, 2}};
  const BlockPattern pattern(3, cliques);
  EXPECT_EQ(pattern.find(0, 1), -1);
  EXPECT_EQ(pattern.find(1, 2), -1);
  EXPECT_GE(pattern.find(0, 2), 0);
}

TEST(BlockPattern, OfNoRowsIsEmpty) {
  const BlockPattern pattern(0, {});
  EXPECT_EQ(pattern.rows(), 0);
  EXPECT_EQ(pattern.blocks(), 0);
  EXPECT_EQ(pattern.row_start().size(), 1u);
}

TEST(BlockMatrix, MultipliesLikeItsDenseForm) {
  std::mt19937 random(2);
  for (int block_size : {1, 3}) {
    const BlockMatrix A = random_symmetric(random_pattern(1100, 4000, random), block_size, random);
    const VecX x = VecX::Random(block_size * 1100);
    VecX y;
    A.multiply(x, y);
    EXPECT_LT((y - dense(A) * x).norm(), 1e-12 * y.norm());
  }
}

TEST(BlockMatrix, OfBlockSizeOneActsOnEachCoordinate) {
  std::mt19937 random(3);
  const BlockMatrix A = random_symmetric(random_pattern(90, 200, random), 1, random);
  const VecX x = VecX::Random(270);
  VecX y;
  A.multiply(x, y);
  for (int c = 0; c < 3; ++c) {
    const VecX xc = x(Eigen::seqN(c, 90, 3)), yc = y(Eigen::seqN(c, 90, 3));
    EXPECT_LT((yc - dense(A) * xc).norm(), 1e-13 * y.norm());
  }
}

TEST(BlockMatrix, EliminatesFixedUnknownsToTheIdentity) {
  std::mt19937 random(4);
  BlockMatrix A = random_symmetric(random_pattern(40, 120, random), 3, random);
  Eigen::MatrixXd expected = dense(A);
  std::vector<std::uint8_t> fixed(120, 0);
  for (std::size_t i = 0; i < fixed.size(); i += 1 + i % 5) {
    fixed[i] = 1;
    const auto k = static_cast<Eigen::Index>(i);
    expected.row(k).setZero();
    expected.col(k).setZero();
    expected(k, k) = 1;
  }
  A.eliminate(fixed);
  EXPECT_EQ((dense(A) - expected).norm(), 0.0);
}

}  // namespace
}  // namespace pliant
