#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <csignal>

#include <cstring>

#include "linalg/test_matrices.hpp"
#include "pliant/base/error.hpp"
#include "pliant/linalg/direct_solver.hpp"
#include "pliant/linalg/sparse_cholesky.hpp"

namespace pliant {
namespace {

using Eigen::MatrixXd;
using test::dense;
using test::grid_pattern;
using test::pattern_of;
using test::random_spd;
using test::shift;
using test::spring_matrix;
using test::unknowns;

/// Adds a positive semidefinite coupling among all pairs of the listed nodes that the pattern couples.
void stiffen(BlockMatrix& A, const std::vector<Index>& nodes, double by) {
  const int b = A.block_size();
  for (Index i : nodes) {
    for (Index j : nodes) {
      const std::int64_t k = i < j ? A.pattern().find(i, j) : -1;
      if (k < 0) continue;
      for (int c = 0; c < b; ++c) {
        A.block(k)[c + c * b] -= by;
        A.block(A.pattern().diagonal(i))[c + c * b] += by;
        A.block(A.pattern().diagonal(j))[c + c * b] += by;
      }
    }
  }
}

bool same_bits(const MatrixXd& a, const MatrixXd& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), sizeof(double) * std::size_t(a.size())) == 0;
}

MatrixXd solution(SparseCholesky& solver, const MatrixXd& b) {
  MatrixXd x = b;
  solver.solve(x);
  return x;
}

TEST(Refactor, EqualsTheFullFactorisationBitForBit) {
  std::mt19937 random(21);
  for (int block_size : {1, 3}) {
    BlockMatrix A = spring_matrix(grid_pattern(10, 9, 8), block_size, 1e-2, random);
    SparseCholesky partial, full;
    partial.analyze(A.shared_pattern(), block_size);
    partial.keep_updates(true);
    full.analyze(A.shared_pattern(), block_size);
    ASSERT_EQ(partial.factor(A), FactorStatus::ok);
    const MatrixXd b = MatrixXd::Random(unknowns(A), 2);
    for (const std::vector<Index>& dirty :
         std::vector<std::vector<Index>>{{0, 1, 10, 11}, {}, {719}, {300, 301, 310, 311, 400, 401, 5, 6}}) {
      stiffen(A, dirty, 0.5);
      ASSERT_EQ(partial.refactor(A, dirty), FactorStatus::ok);
      ASSERT_EQ(full.factor(A), FactorStatus::ok);
      EXPECT_TRUE(same_bits(solution(partial, b), solution(full, b))) << dirty.size() << " dirty nodes";
      EXPECT_LE(partial.statistics().last_flops, full.statistics().last_flops);
      if (dirty.empty()) {
        EXPECT_EQ(partial.statistics().last_flops, 0);
      }
    }
  }
}

TEST(Refactor, ComputesThePathToTheRootAndNoMore) {
  std::mt19937 random(22);
  BlockMatrix A = spring_matrix(grid_pattern(12, 6, 6), 3, 1e-2, random);
  SparseCholesky solver;
  solver.analyze(A.shared_pattern(), 3);
  solver.keep_updates(true);
  ASSERT_EQ(solver.factor(A), FactorStatus::ok);
  const auto costs = solver.supernode_costs();
  double sum = 0;
  for (const auto& cost : costs) {
    sum += cost.flops;
    EXPECT_GT(cost.seconds, 0);
  }
  EXPECT_DOUBLE_EQ(sum, solver.statistics().flops);
  const Index node = solver.order()[0];
  double path = 0;
  for (Index s = 0; s >= 0; s = costs[std::size_t(s)].parent) path += costs[std::size_t(s)].flops;
  const std::vector<Index> dirty{node};
  ASSERT_EQ(solver.refactor(A, dirty), FactorStatus::ok);
  EXPECT_DOUBLE_EQ(solver.statistics().last_flops, path);
}

TEST(Refactor, ComputesEverythingWhenUpdatesAreNotKeptOrTheLastOneFailed) {
  std::mt19937 random(23);
  const BlockMatrix A = spring_matrix(grid_pattern(6, 6, 6), 3, 1e-2, random);
  SparseCholesky solver;
  solver.analyze(A.shared_pattern(), 3);
  const std::vector<Index> dirty{7};
  ASSERT_EQ(solver.factor(A), FactorStatus::ok);
  ASSERT_EQ(solver.refactor(A, dirty), FactorStatus::ok);
  EXPECT_EQ(solver.statistics().last_flops, solver.statistics().flops);
  solver.keep_updates(true);
  BlockMatrix bad = A;
  bad.block(bad.pattern().diagonal(7))[0] = -1e3;
  ASSERT_EQ(solver.factor(A), FactorStatus::ok);
  ASSERT_EQ(solver.refactor(bad, dirty), FactorStatus::not_positive_definite);
  ASSERT_EQ(solver.refactor(A, dirty), FactorStatus::ok);
  EXPECT_EQ(solver.statistics().last_flops, solver.statistics().flops);
  const MatrixXd b = MatrixXd::Random(unknowns(A), 1);
  EXPECT_LT((dense(A) * solution(solver, b) - b).norm(), 1e-11 * b.norm());
}

TEST(Refactor, IsCheapWhereTheRegionWasNamedBeforehand) {
  std::mt19937 random(24);
  BlockMatrix A = spring_matrix(grid_pattern(16, 10, 10), 3, 1e-2, random);
  std::vector<Index> region;
  for (Index z = 0; z < 3; ++z)
    for (Index y = 0; y < 3; ++y)
      for (Index x = 0; x < 3; ++x) region.push_back(x + 16 * (y + 10 * z));
  SparseCholesky anywhere, last;
  anywhere.analyze(A.shared_pattern(), 3);
  last.analyze(A.shared_pattern(), 3, {.last_nodes = region});
  for (SparseCholesky* solver : {&anywhere, &last}) {
    solver->keep_updates(true);
    ASSERT_EQ(solver->factor(A), FactorStatus::ok);
    BlockMatrix changed = A;
    stiffen(changed, region, 1);
    ASSERT_EQ(solver->refactor(changed, region), FactorStatus::ok);
    const MatrixXd b = MatrixXd::Random(unknowns(A), 1);
    VecX product;
    changed.multiply(solution(*solver, b), product);
    EXPECT_LT((product - b).norm(), 1e-10 * b.norm());
  }
  EXPECT_LT(last.statistics().last_flops, 0.1 * last.statistics().flops);
  EXPECT_LT(last.statistics().last_flops, 0.3 * anywhere.statistics().last_flops);
}

TEST(Refactor, RecomputesAPartOfAnIndefiniteFactorisation) {
  std::mt19937 random(25);
  BlockMatrix A = spring_matrix(grid_pattern(8, 6, 6), 3, -0.7, random);
  SparseCholesky solver;
  solver.analyze(A.shared_pattern(), 3);
  solver.keep_updates(true);
  ASSERT_EQ(solver.factor(A, Factorisation::ldlt), FactorStatus::ok);
  const std::vector<Index> dirty{0, 1, 8, 9};
  stiffen(A, dirty, 2);
  ASSERT_EQ(solver.refactor(A, dirty), FactorStatus::ok);
  EXPECT_LT(solver.statistics().last_flops, solver.statistics().flops);
  const MatrixXd b = MatrixXd::Random(unknowns(A), 2);
  EXPECT_LT((dense(A) * solution(solver, b) - b).norm(), 1e-11 * b.norm());
  const VecX eigenvalues = dense(A).selfadjointView<Eigen::Lower>().eigenvalues();
  EXPECT_EQ(solver.inertia().negative, (eigenvalues.array() < 0).count());
}

TEST(Schur, ComplementAndCondensationAgreeWithDenseAlgebra) {
  std::mt19937 random(26);
  for (int block_size : {1, 3}) {
    for (auto kind : {Factorisation::llt, Factorisation::ldlt}) {
      const double ground = kind == Factorisation::llt ? 1e-2 : -0.3;
      const BlockMatrix A = spring_matrix(grid_pattern(6, 5, 4), block_size, ground, random);
      const std::vector<Index> nodes{77, 3, 40, 41, 119};
      SparseCholesky solver;
      solver.analyze(A.shared_pattern(), block_size, {.last_nodes = nodes, .schur = true});
      ASSERT_EQ(solver.factor(A, kind), FactorStatus::ok);
      const MatrixXd full = dense(A);
      std::vector<Eigen::Index> d, q;
      for (Index node : nodes)
        for (int c = 0; c < block_size; ++c) d.push_back(Eigen::Index(block_size) * node + c);
      for (Eigen::Index u = 0; u < full.rows(); ++u)
        if (std::find(d.begin(), d.end(), u) == d.end()) q.push_back(u);
      const MatrixXd map = -full(q, q).partialPivLu().solve(full(q, d));
      const MatrixXd S = full(d, d) + full(d, q) * map;
      ASSERT_TRUE(solver.has_schur_complement());
      EXPECT_LT((solver.schur_complement() - S).norm(), 1e-10 * S.norm());
      MatrixXd X = MatrixXd::Constant(full.rows(), Eigen::Index(d.size()), 7.0);  // what is not given is overwritten
      for (std::size_t k = 0; k < d.size(); ++k) {
        for (std::size_t l = 0; l < d.size(); ++l) X(d[k], Eigen::Index(l)) = k == l;
      }
      solver.condense(X);
      EXPECT_LT((X(q, Eigen::all) - map).norm(), 1e-10 * map.norm());
      EXPECT_LT((X(d, Eigen::all) - MatrixXd::Identity(S.rows(), S.cols())).norm(), 1e-14);
      const MatrixXd b = MatrixXd::Random(full.rows(), 3);
      EXPECT_LT((full * solution(solver, b) - b).norm(), 1e-10 * b.norm());
    }
  }
}

TEST(Schur, IsThereWhenOnlyTheLastBlockIsNotDefinite) {
  std::mt19937 random(27);
  BlockMatrix A = spring_matrix(grid_pattern(4, 4, 4), 3, 1e-2, random);
  const std::vector<Index> nodes{10, 20};
  A.block(A.pattern().diagonal(10))[0] = -5;
  SparseCholesky solver;
  solver.analyze(A.shared_pattern(), 3, {.last_nodes = nodes, .schur = true});
  EXPECT_EQ(solver.factor(A), FactorStatus::not_positive_definite);
  ASSERT_TRUE(solver.has_schur_complement());
  EXPECT_LT(solver.schur_complement()(0, 0), 0);
}

TEST(Schur, TakesAllNodesAndNodesThatNothingCouples) {
  std::mt19937 random(28);
  const BlockMatrix A = random_spd(pattern_of(4, {0, 1}, 2), 3, random);
  const std::vector<Index> all{2, 0, 3, 1}, apart{3, 2};
  for (const auto& nodes : {all, apart}) {
    SparseCholesky solver;
    solver.analyze(A.shared_pattern(), 3, {.last_nodes = nodes, .schur = true});
    ASSERT_EQ(solver.factor(A), FactorStatus::ok);
    std::vector<Eigen::Index> d;
    for (Index node : nodes)
      for (int c = 0; c < 3; ++c) d.push_back(3 * Eigen::Index(node) + c);
    const MatrixXd expected = dense(A)(d, d);
    EXPECT_LT((solver.schur_complement() - expected).norm(), 1e-14 * expected.norm());
  }
}

TEST(ExplicitFactor, SolvesToSixDigitsForAnyNumberOfRightHandSides) {
  std::mt19937 random(31);
  for (int block_size : {1, 3}) {
    for (const auto& pattern : {grid_pattern(1, 1, 1), grid_pattern(3, 2, 1), grid_pattern(13, 11, 12)}) {
      const BlockMatrix A = spring_matrix(pattern, block_size, 1, random);
      SparseCholesky solver;
      solver.analyze(A.shared_pattern(), block_size);
      ASSERT_EQ(solver.factor(A), FactorStatus::ok);
      solver.make_explicit();
      for (Eigen::Index columns : {1, 2, 3, 5}) {
        const MatrixXd b = MatrixXd::Random(unknowns(A), columns);
        const MatrixXd x = solution(solver, b);
        for (Eigen::Index c = 0; c < columns; ++c) {
          VecX product;
          A.multiply(x.col(c), product);
          EXPECT_LT((product - b.col(c)).norm(), 1e-5 * b.col(c).norm());
        }
      }
      if (block_size == 1) {
        const VecX b = VecX::Random(3 * unknowns(A));
        VecX x, product;
        solver.solve_coordinates(b, x);
        for (int c = 0; c < 3; ++c) {
          const VecX x_c = x(Eigen::seqN(c, unknowns(A), 3)), b_c = b(Eigen::seqN(c, unknowns(A), 3));
          A.multiply(x_c, product);
          EXPECT_LT((product - b_c).norm(), 1e-5 * b_c.norm());
        }
      }
      ASSERT_EQ(solver.factor(A), FactorStatus::ok);  // in double again
      const MatrixXd b = MatrixXd::Random(unknowns(A), 1);
      VecX product;
      A.multiply(solution(solver, b), product);
      EXPECT_LT((product - b).norm(), 1e-12 * b.norm());
    }
  }
}

TEST(FactorInFloat, SolvesToSevenDigitsForAnyNumberOfRightHandSides) {
  std::mt19937 random(29);
  for (int block_size : {1, 3}) {
    const BlockMatrix A = spring_matrix(grid_pattern(9, 8, 7), block_size, 1, random);
    SparseCholesky solver;
    solver.analyze(A.shared_pattern(), block_size);
    ASSERT_EQ(solver.factor(A), FactorStatus::ok);
    const std::int64_t bytes = solver.statistics().factor_bytes;
    solver.store_in_float();
    EXPECT_EQ(2 * solver.statistics().factor_bytes, bytes);
    for (Eigen::Index columns : {1, 2, 3, 4, 5, 13, 31, 40}) {
      const MatrixXd b = MatrixXd::Random(unknowns(A), columns);
      const MatrixXd x = solution(solver, b);
      for (Eigen::Index c = 0; c < columns; ++c) {
        VecX product;
        A.multiply(x.col(c), product);
        EXPECT_LT((product - b.col(c)).norm(), 1e-5 * b.col(c).norm());
      }
    }
    ASSERT_EQ(solver.factor(A), FactorStatus::ok);  // in double again
    const MatrixXd b = MatrixXd::Random(unknowns(A), 1);
    VecX product;
    A.multiply(solution(solver, b), product);
    EXPECT_LT((product - b).norm(), 1e-12 * b.norm());
  }
}

TEST(ChangePattern, KeepsTheOrderAndSolvesWithTheNewEdges) {
  std::mt19937 random(30);
  const auto grid = grid_pattern(7, 7, 7);
  std::vector<Index> edges;  // the grid's, and a few contacts between far nodes
  for (Index i = 0; i < grid->rows(); ++i) {
    for (std::int64_t k = grid->diagonal(i) + 1; k < grid->row_start()[std::size_t(i) + 1]; ++k)
      edges.insert(edges.end(), {i, grid->columns()[std::size_t(k)]});
  }
  edges.insert(edges.end(), {0, 340, 5, 300, 20, 21 + 49});
  const auto with_contacts = pattern_of(grid->rows(), edges, 2);
  SparseCholesky reused, fresh;
  reused.analyze(grid, 3);
  reused.change_pattern(with_contacts);
  fresh.analyze(with_contacts, 3);
  const BlockMatrix A = spring_matrix(with_contacts, 3, 1e-2, random);
  ASSERT_EQ(reused.factor(A), FactorStatus::ok);
  const MatrixXd b = MatrixXd::Random(unknowns(A), 1);
  EXPECT_LT((dense(A) * solution(reused, b) - b).norm(), 1e-11 * b.norm());
  EXPECT_LT(reused.statistics().flops, 2.5 * fresh.statistics().flops);
}

TEST(Ordering, DoesNotGetWorseWithMoreAttempts) {
  const NodeGraph graph = node_graph(*grid_pattern(12, 12, 12));
  const double one = elimination_work(graph, elimination_order(graph, {}));
  const double best = elimination_work(graph, elimination_order(graph, {.attempts = 4}));
  EXPECT_LE(best, one);
  EXPECT_GT(best, 0.5 * one);
}

TEST(Ordering, IsTheSameOnOneThreadAndOnMany) {
  const NodeGraph graph = node_graph(*grid_pattern(25, 24, 23));  // large enough to be split among threads
  const auto order = [&](int threads) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, std::size_t(threads));
    tbb::task_arena arena(threads);
    return arena.execute([&] { return nested_dissection(graph); });
  };
  const auto one = order(1);
  for (int repeat = 0; repeat < 3; ++repeat) EXPECT_EQ(one, order(4));
  std::vector<Index> sorted = one;
  std::sort(sorted.begin(), sorted.end());
  for (Index k = 0; k < graph.nodes(); ++k) ASSERT_EQ(sorted[std::size_t(k)], k);
}

TEST(Ordering, LeavesSignalsAsTheyWere) {
  const auto ours = [](int) {};
  const auto before_term = std::signal(SIGTERM, ours), before_abort = std::signal(SIGABRT, ours);
  const NodeGraph graph = node_graph(*grid_pattern(25, 24, 23));
  for (int repeat = 0; repeat < 5; ++repeat) nested_dissection(graph);
  EXPECT_EQ(std::signal(SIGTERM, before_term), static_cast<void (*)(int)>(ours));
  EXPECT_EQ(std::signal(SIGABRT, before_abort), static_cast<void (*)(int)>(ours));
}

TEST(Ordering, PutsTheNamedNodesLast) {
  const NodeGraph graph = node_graph(*grid_pattern(6, 6, 6));
  const std::vector<Index> named{5, 100, 7, 8, 200};
  for (bool schur : {false, true}) {
    const std::vector<Index> order = elimination_order(graph, {.last_nodes = named, .schur = schur});
    std::vector<Index> tail(order.end() - 5, order.end()), sorted = named;
    if (schur) {
      EXPECT_EQ(tail, named);
    }
    std::sort(tail.begin(), tail.end());
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(tail, sorted);
  }
}

TEST(DirectSolver, NamesTheOptionThatBuildsAMissingBackendIn) {
  const auto built = direct_backends();
  ASSERT_EQ(built.front(), DirectBackend::pliant);
  for (auto backend : {DirectBackend::cholmod, DirectBackend::mumps}) {
    if (std::find(built.begin(), built.end(), backend) != built.end()) continue;
    try {
      make_direct_solver(backend);
      FAIL();
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(backend == DirectBackend::cholmod ? "PLIANT_CHOLMOD" : "PLIANT_MUMPS"),
                std::string::npos);
    }
  }
}

TEST(DirectSolver, AllBackendsAgree) {
  std::mt19937 random(31);
  const BlockMatrix A = spring_matrix(grid_pattern(5, 5, 5), 3, 1e-2, random);
  const MatrixXd b = MatrixXd::Random(unknowns(A), 2);
  for (DirectBackend backend : direct_backends()) {
    auto solver = make_direct_solver(backend);
    solver->analyze(A.shared_pattern(), 3);
    ASSERT_EQ(solver->factor(A, Factorisation::llt), FactorStatus::ok);
    MatrixXd x = b;
    solver->solve(x);
    EXPECT_LT((dense(A) * x - b).norm(), 1e-11 * b.norm()) << to_string(backend);
    EXPECT_GT(solver->statistics().factor_entries, 0);
  }
}

}  // namespace
}  // namespace pliant
