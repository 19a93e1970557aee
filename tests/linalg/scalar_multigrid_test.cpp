#include "pliant/linalg/scalar_multigrid.hpp"

#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include <random>

#include "linalg/test_matrices.hpp"
#include "pliant/linalg/sparse_cholesky.hpp"

namespace pliant {
namespace {

/// sum over edges of k (x_a - x_b)^2 on a grid, with the first nodes eliminated and `mass` on the diagonal.
BlockMatrix laplacian(Index n, double mass, double jump) {
  const auto pattern = test::grid_pattern(n, n, n);
  BlockMatrix A(pattern, 1);
  A.set_zero();
  for (Index i = 0; i < pattern->rows(); ++i) {
    *A.block(pattern->diagonal(i)) += mass;
    for (std::int64_t k = pattern->diagonal(i) + 1; k < pattern->row_start()[at(i) + 1]; ++k) {
      const Index j = pattern->columns()[at(k)];
      const double stiffness = i % n < n / 2 ? 1 : jump;
      *A.block(k) -= stiffness;
      *A.block(pattern->diagonal(i)) += stiffness;
      *A.block(pattern->diagonal(j)) += stiffness;
    }
  }
  std::vector<std::uint8_t> held(at(pattern->rows()), 0);
  for (Index i = 0; i < n * n; ++i) held[at(i)] = 1;
  if (mass == 0) A.eliminate(held);
  return A;
}

VecX random_vector(Index nodes) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  VecX b(3 * nodes);
  for (double& value : b) value = normal(random);
  return b;
}

double error_of(const BlockMatrix& A, ScalarMultigrid& multigrid, double tolerance, int& iterations) {
  const VecX b = random_vector(A.pattern().rows());
  VecX x, product;
  iterations = multigrid.solve(b, x, tolerance);
  A.multiply(x, product);
  return (product - b).norm() / b.norm();
}

TEST(ScalarMultigrid, TakesAsManyIterationsForManyNodesAsForFew) {
  int few = 0, many = 0;
  for (auto [n, iterations] : {std::pair{12, &few}, std::pair{32, &many}}) {
    const BlockMatrix A = laplacian(n, 0, 1);
    ScalarMultigrid multigrid;
    multigrid.set(A);
    ASSERT_TRUE(multigrid.is_usable());
    EXPECT_LT(error_of(A, multigrid, 1e-4, *iterations), 1.1e-4);
    EXPECT_LT(multigrid.complexity(), 2);
  }
  EXPECT_LE(many, 1.5 * few);
  EXPECT_LE(many, 14);
}

TEST(ScalarMultigrid, CopesWithStiffnessThatJumpsAndWithMassThatRules) {
  int iterations = 0;
  for (const BlockMatrix& A : {laplacian(16, 0, 1e4), laplacian(16, 1e-3, 1), laplacian(16, 1e4, 1)}) {
    ScalarMultigrid multigrid;
    multigrid.set(A);
    ASSERT_TRUE(multigrid.is_usable());
    EXPECT_LT(error_of(A, multigrid, 1e-3, iterations), 1.1e-3);
    EXPECT_LE(iterations, 20);
  }
}

TEST(ScalarMultigrid, SaysThatAFreeBodyIsSingular) {
  ScalarMultigrid multigrid;
  BlockMatrix A = laplacian(12, 1, 1);
  for (Index i = 0; i < A.pattern().rows(); ++i) *A.block(A.pattern().diagonal(i)) -= 1;
  multigrid.set(A);
  EXPECT_FALSE(multigrid.is_usable());
}

TEST(ScalarMultigrid, HasTheSameBitsOnOneThreadAndOnMany) {
  const BlockMatrix A = laplacian(24, 0, 10);
  const VecX b = random_vector(A.pattern().rows());
  const auto solve = [&](int threads) {
    VecX x;
    tbb::task_arena arena(threads);
    arena.execute([&] {
      ScalarMultigrid multigrid;
      multigrid.set(A);
      multigrid.solve(b, x, 1e-3);
    });
    return x;
  };
  EXPECT_EQ(solve(1), solve(4));
}

}  // namespace
}  // namespace pliant
