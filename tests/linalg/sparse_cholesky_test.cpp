#include "pliant/linalg/sparse_cholesky.hpp"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <cstring>
#include <limits>

#include "linalg/test_matrices.hpp"

namespace pliant {
namespace {

using Eigen::MatrixXd;
using test::dense;
using test::grid_pattern;
using test::pattern_of;
using test::random_pattern;
using test::random_spd;
using test::random_symmetric;
using test::shift;
using test::spring_matrix;
using test::unknowns;

/// The backward error max_c |b - A x| / (|A| |x| + |b|), with an estimate from below of |A|.
double residual(const BlockMatrix& A, const MatrixXd& x, const MatrixXd& b) {
  double largest = 0, worst = 0;
  for (double a : A.values()) largest = std::max(largest, std::abs(a));
  VecX product;
  for (Eigen::Index c = 0; c < b.cols(); ++c) {
    A.multiply(x.col(c), product);
    worst = std::max(worst, (product - b.col(c)).norm() / (largest * x.col(c).norm() + b.col(c).norm()));
  }
  return worst;
}

/// Factors, solves for `columns` random right-hand sides and checks the residual.
MatrixXd expect_solves(SparseCholesky& solver, const BlockMatrix& A, Factorisation kind, Eigen::Index columns,
                       double tolerance = 1e-14) {
  const FactorStatus status = solver.factor(A, kind);
  EXPECT_EQ(status, FactorStatus::ok) << to_string(status);
  if (status != FactorStatus::ok) return {};
  const MatrixXd b = MatrixXd::Random(unknowns(A), columns);
  MatrixXd x = b;
  solver.solve(x);
  EXPECT_LT(residual(A, x, b), tolerance) << unknowns(A) << " unknowns";
  return x;
}

SparseCholesky analyzed(const BlockMatrix& A) {
  SparseCholesky solver;
  solver.analyze(A.shared_pattern(), A.block_size());
  return solver;
}

TEST(SparseCholesky, SolvesRandomDefiniteMatricesLikeADenseSolver) {
  std::mt19937 random(1);
  for (int block_size : {1, 3}) {
    for (Index rows : {1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 200}) {
      for (double density : {0.0, 0.5, 2.0, 6.0}) {
        const auto pattern = random_pattern(rows, static_cast<int>(density * rows), random);
        const BlockMatrix A = random_spd(pattern, block_size, random);
        SparseCholesky solver = analyzed(A);
        ASSERT_EQ(solver.factor(A, Factorisation::llt), FactorStatus::ok);
        const MatrixXd b = MatrixXd::Random(unknowns(A), 3);
        MatrixXd x = b;
        solver.solve(x);
        const MatrixXd exact = dense(A).llt().solve(b);
        EXPECT_LT((x - exact).norm(), 1e-12 * exact.norm()) << rows << " nodes, " << density << " edges per node";
      }
    }
  }
}

TEST(SparseCholesky, SolvesSpecialPatterns) {
  std::mt19937 random(2);
  std::vector<Index> arrow, chain, two_parts;
  for (Index i = 1; i < 150; ++i) {
    arrow.insert(arrow.end(), {0, i});
    chain.insert(chain.end(), {i - 1, i});
    if (i != 70) two_parts.insert(two_parts.end(), {i - 1, i});
  }
  std::vector<Index> everything(120);
  for (Index i = 0; i < 120; ++i) everything[static_cast<std::size_t>(i)] = i;
  const std::shared_ptr<const BlockPattern> patterns[] = {
      pattern_of(1, {}, 2),       pattern_of(6000, {}, 2),       pattern_of(150, arrow, 2),
      pattern_of(150, chain, 2),  pattern_of(150, two_parts, 2), pattern_of(120, everything, 120),
      pattern_of(3000, chain, 2),  // one component among many isolated nodes
  };
  for (const auto& pattern : patterns) {
    for (int block_size : {1, 3}) {
      const BlockMatrix A = random_spd(pattern, block_size, random);
      SparseCholesky solver = analyzed(A);
      expect_solves(solver, A, Factorisation::llt, 2);
    }
  }
}

TEST(SparseCholesky, TakesAnEmptyMatrix) {
  const BlockMatrix A(std::make_shared<const BlockPattern>(0, std::span<const BlockPattern::Cliques>{}), 3);
  SparseCholesky solver = analyzed(A);
  MatrixXd b(0, 2);
  for (auto kind : {Factorisation::llt, Factorisation::ldlt}) {
    EXPECT_EQ(solver.factor(A, kind), FactorStatus::ok);
    solver.solve(b);
  }
  EXPECT_EQ(solver.statistics().factor_entries, 0);
}

TEST(SparseCholesky, SolvesGridsOfManySizes) {
  std::mt19937 random(3);
  for (int block_size : {1, 3}) {
    for (Index n : {2, 3, 4, 6, 9, 12}) {
      const BlockMatrix A = spring_matrix(grid_pattern(n, n + 1, n), block_size, 1e-3, random);
      SparseCholesky solver = analyzed(A);
      expect_solves(solver, A, Factorisation::llt, 4);
    }
  }
}

TEST(SparseCholesky, SolvesAnyNumberOfRightHandSides) {
  std::mt19937 random(4);
  const BlockMatrix A = spring_matrix(grid_pattern(6, 5, 7), 3, 1e-2, random);
  SparseCholesky solver = analyzed(A);
  for (Eigen::Index columns : {1, 2, 7, 32, 33, 70}) expect_solves(solver, A, Factorisation::llt, columns);
  for (Eigen::Index columns : {1, 5}) expect_solves(solver, A, Factorisation::ldlt, columns);
}

TEST(SparseCholesky, SolvesInPlaceInsideALargerMatrix) {
  std::mt19937 random(5);
  const BlockMatrix A = spring_matrix(grid_pattern(4, 4, 4), 3, 1e-2, random);
  SparseCholesky solver = analyzed(A);
  ASSERT_EQ(solver.factor(A, Factorisation::llt), FactorStatus::ok);
  MatrixXd wide = MatrixXd::Random(unknowns(A) + 5, 4);
  const MatrixXd before = wide;
  solver.solve(wide.block(2, 1, unknowns(A), 2));
  EXPECT_LT(residual(A, wide.block(2, 1, unknowns(A), 2), before.block(2, 1, unknowns(A), 2)), 1e-14);
  wide.block(2, 1, unknowns(A), 2) = before.block(2, 1, unknowns(A), 2);
  EXPECT_EQ(wide, before);
}

TEST(SparseCholesky, RefactorsOtherValuesOnTheSameAnalysis) {
  std::mt19937 random(6);
  const auto pattern = grid_pattern(7, 6, 5);
  SparseCholesky solver;
  solver.analyze(pattern, 3);
  for (int k = 0; k < 4; ++k) {
    const BlockMatrix A = spring_matrix(pattern, 3, k + 0.1, random);
    expect_solves(solver, A, Factorisation::llt, 1);
    expect_solves(solver, A, Factorisation::ldlt, 1);
  }
}

TEST(SparseCholesky, AcceptsAnEqualPatternThatIsAnotherObject) {
  std::mt19937 random(7);
  SparseCholesky solver;
  solver.analyze(grid_pattern(4, 3, 3), 3);
  expect_solves(solver, spring_matrix(grid_pattern(4, 3, 3), 3, 1, random), Factorisation::llt, 1);
}

TEST(SparseCholesky, WorksAfterAMoveAndAfterANewAnalysis) {
  std::mt19937 random(8);
  const BlockMatrix A = spring_matrix(grid_pattern(5, 5, 5), 3, 0.1, random);
  const BlockMatrix B = spring_matrix(grid_pattern(3, 4, 5), 1, 0.1, random);
  SparseCholesky first = analyzed(A);
  ASSERT_EQ(first.factor(A, Factorisation::llt), FactorStatus::ok);
  SparseCholesky second = std::move(first);
  const MatrixXd b = MatrixXd::Random(unknowns(A), 1);
  MatrixXd x = b;
  second.solve(x);
  EXPECT_LT(residual(A, x, b), 1e-14);
  EXPECT_EQ(first.statistics().factor_entries, 0);  // NOLINT: moved from on purpose
  first.analyze(B.shared_pattern(), 1);
  expect_solves(first, B, Factorisation::llt, 1);
  second = std::move(first);
  expect_solves(second, B, Factorisation::llt, 1);
  second.analyze(A.shared_pattern(), 3);
  expect_solves(second, A, Factorisation::llt, 1);
}

TEST(SparseCholesky, HasAFactorAsLargeAsTheDenseOneForADensePattern) {
  std::vector<Index> everything(20);
  for (Index i = 0; i < 20; ++i) everything[static_cast<std::size_t>(i)] = i;
  SparseCholesky solver;
  solver.analyze(pattern_of(20, everything, 20), 3);
  EXPECT_EQ(solver.statistics().factor_entries, 60 * 61 / 2);
  EXPECT_NEAR(solver.statistics().flops, 60.0 * 60 * 60 / 3, 1);
}

TEST(SparseCholesky, DetectsANegativePivotAnywhereInTheTree) {
  std::mt19937 random(9);
  const BlockMatrix A = spring_matrix(grid_pattern(9, 9, 9), 3, 0.5, random);
  SparseCholesky solver = analyzed(A);
  for (Index node = 0; node < A.pattern().rows(); node += 13) {
    BlockMatrix bad = A;
    bad.block(bad.pattern().diagonal(node))[4] = -0.1;
    EXPECT_EQ(solver.factor(bad, Factorisation::llt), FactorStatus::not_positive_definite) << "node " << node;
  }
  expect_solves(solver, A, Factorisation::llt, 1);  // and recovers
}

TEST(SparseCholesky, TellsDefiniteFromIndefiniteOnEitherSideOfTheSmallestEigenvalue) {
  std::mt19937 random(10);
  BlockMatrix A = spring_matrix(grid_pattern(6, 5, 4), 3, 0.1, random);
  const double smallest = dense(A).selfadjointView<Eigen::Lower>().eigenvalues().minCoeff();
  SparseCholesky solver = analyzed(A);
  shift(A, -smallest * (1 - 1e-6));
  EXPECT_EQ(solver.factor(A, Factorisation::llt), FactorStatus::ok);
  shift(A, -smallest * 2e-6);
  EXPECT_EQ(solver.factor(A, Factorisation::llt), FactorStatus::not_positive_definite);
}

TEST(SparseCholesky, FindsTheInertiaOfShiftedMatrices) {
  std::mt19937 random(11);
  for (int block_size : {1, 3}) {
    const BlockMatrix A = spring_matrix(grid_pattern(5, 4, 4), block_size, 0.1, random);
    const VecX eigenvalues = dense(A).selfadjointView<Eigen::Lower>().eigenvalues();
    SparseCholesky solver = analyzed(A);
    for (Eigen::Index k : {Eigen::Index(2), eigenvalues.size() / 3, eigenvalues.size() - 2}) {
      BlockMatrix shifted = A;
      shift(shifted, -0.5 * (eigenvalues[k] + eigenvalues[k + 1]));
      EXPECT_EQ(solver.factor(shifted, Factorisation::llt), FactorStatus::not_positive_definite);
      expect_solves(solver, shifted, Factorisation::ldlt, 2, 1e-13);
      EXPECT_EQ(solver.inertia().negative, k + 1);
      EXPECT_EQ(solver.inertia().zero, 0);
    }
  }
}

TEST(SparseCholesky, SolvesSaddlePointMatricesWithZeroDiagonals) {
  std::mt19937 random(12);
  // A definite part, and as many constraint nodes as a fifth of its nodes, each coupled to three of them.
  const Index bodies = 100, constraints = 20;
  std::vector<Index> edges;
  std::uniform_int_distribution<Index> any(0, bodies - 1);
  for (int k = 0; k < 300; ++k) edges.insert(edges.end(), {any(random), any(random)});
  for (Index c = 0; c < constraints; ++c) {
    for (Index k = 0; k < 3; ++k) edges.insert(edges.end(), {5 * c + k, bodies + c});
  }
  BlockMatrix A = random_spd(pattern_of(bodies + constraints, edges, 2), 3, random);
  for (Index c = bodies; c < bodies + constraints; ++c) {
    double* block = A.block(A.pattern().diagonal(c));
    std::fill(block, block + 9, 0.0);
  }
  SparseCholesky solver = analyzed(A);
  expect_solves(solver, A, Factorisation::ldlt, 3, 1e-13);
  EXPECT_EQ(solver.inertia().negative, 3 * constraints);
  EXPECT_EQ(solver.inertia().zero, 0);
}

TEST(SparseCholesky, SolvesWithEliminatedUnknownsBesideLargeStiffnesses) {
  std::mt19937 random(13);
  BlockMatrix A = spring_matrix(grid_pattern(6, 6, 6), 3, 0, random);
  for (double& a : A.values()) a *= 1e11;
  std::vector<std::uint8_t> fixed(static_cast<std::size_t>(unknowns(A)), 0);
  std::fill_n(fixed.begin(), 3 * 36, std::uint8_t{1});
  A.eliminate(fixed);
  SparseCholesky solver = analyzed(A);
  expect_solves(solver, A, Factorisation::llt, 1);
  MatrixXd x = expect_solves(solver, A, Factorisation::ldlt, 1);
  EXPECT_EQ(solver.inertia().negative, 0);
  EXPECT_EQ(solver.inertia().zero, 0);
}

TEST(SparseCholesky, CallsASingularMatrixSingular) {
  std::mt19937 random(14);
  const BlockMatrix A = spring_matrix(grid_pattern(5, 5, 5), 3, 0, random);  // translations are free
  SparseCholesky solver = analyzed(A);
  EXPECT_EQ(solver.factor(A, Factorisation::ldlt), FactorStatus::singular);
  EXPECT_EQ(solver.inertia().zero, 3);
  const BlockMatrix zero(A.shared_pattern(), 3);
  EXPECT_EQ(solver.factor(zero, Factorisation::ldlt), FactorStatus::singular);
  EXPECT_EQ(solver.factor(zero, Factorisation::llt), FactorStatus::not_positive_definite);
}

TEST(SparseCholesky, RefusesNumbersThatAreNotFinite) {
  std::mt19937 random(15);
  const BlockMatrix A = spring_matrix(grid_pattern(4, 4, 4), 3, 1, random);
  SparseCholesky solver = analyzed(A);
  for (double wrong : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                       -std::numeric_limits<double>::infinity()}) {
    for (std::size_t place : {std::size_t{0}, A.values().size() / 2, A.values().size() - 1}) {
      BlockMatrix bad = A;
      bad.values()[place] = wrong;
      EXPECT_EQ(solver.factor(bad, Factorisation::llt), FactorStatus::not_finite);
      EXPECT_EQ(solver.factor(bad, Factorisation::ldlt), FactorStatus::not_finite);
    }
  }
}

TEST(SparseCholesky, GivesTheSameBitsOnOneThreadAndOnMany) {
  std::mt19937 random(16);
  const BlockMatrix A = spring_matrix(grid_pattern(14, 14, 14), 3, 1e-2, random);  // large enough for tiles
  const MatrixXd b = MatrixXd::Random(unknowns(A), 2);
  const auto solution = [&](int threads) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    tbb::task_arena arena(threads);
    return arena.execute([&] {
      SparseCholesky solver = analyzed(A);
      EXPECT_EQ(solver.factor(A, Factorisation::llt), FactorStatus::ok);
      MatrixXd x = b;
      solver.solve(x);
      MatrixXd single = b.col(0);
      solver.solve(single);
      MatrixXd both(b.rows(), 3);
      both << x, single;
      return both;
    });
  };
  const MatrixXd alone = solution(1);
  for (int threads : {2, 4}) {
    for (int repeat = 0; repeat < 2; ++repeat) {
      const MatrixXd together = solution(threads);
      EXPECT_EQ(std::memcmp(alone.data(), together.data(), sizeof(double) * static_cast<std::size_t>(alone.size())), 0);
    }
  }
}

}  // namespace
}  // namespace pliant
