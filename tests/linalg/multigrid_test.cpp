// Multigrid on matrices of springs, which have the rigid motions of a solid, and of which a test can be sure.
#include "pliant/linalg/multigrid/multigrid.hpp"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <Eigen/Dense>
#include <Eigen/Geometry>
#include <functional>

#include "linalg/test_matrices.hpp"
#include "pliant/linalg/pcg.hpp"

namespace pliant {
namespace {

VecX grid_positions(Index nx, Index ny, Index nz) {
  VecX x(3 * Eigen::Index(nx) * ny * nz);
  for (Index k = 0; k < nz; ++k)
    for (Index j = 0; j < ny; ++j)
      for (Index i = 0; i < nx; ++i) node(x, i + nx * (j + ny * k)) = Vec3(i, j, k);
  return x;
}

/// Springs along all edges of a 27-point grid: blocks n n^T for the direction n of an edge, times its stiffness.
BlockMatrix springs(
    Index nx, Index ny, Index nz, const VecX& x,
    const std::function<double(const Vec3&)>& stiffness = [](const Vec3&) { return 1.0; }) {
  BlockMatrix A(test::grid_pattern(nx, ny, nz), 3);
  const BlockPattern& p = A.pattern();
  A.set_zero();
  for (Index i = 0; i < p.rows(); ++i)
    for (std::int64_t k = p.diagonal(i) + 1; k < p.row_start()[at(i) + 1]; ++k) {
      const Index j = p.columns()[at(k)];
      const Vec3 n = (node(x, j) - node(x, i)).normalized();
      const Mat3 block = stiffness((node(x, i) + node(x, j)) / 2) * n * n.transpose();
      Eigen::Map<Mat3>(A.block(k)) = -block;
      Eigen::Map<Mat3>(A.block(p.diagonal(i))) += block;
      Eigen::Map<Mat3>(A.block(p.diagonal(j))) += block;
    }
  return A;
}

/// The nodes of x = 0.
void clamp(BlockMatrix& A, const VecX& x) {
  std::vector<std::uint8_t> fixed(at(x.size()), 0);
  for (Index i = 0; i < A.pattern().rows(); ++i)
    if (x[3 * Eigen::Index(i)] == 0) std::fill_n(fixed.begin() + 3 * i, 3, std::uint8_t{1});
  A.eliminate(fixed);
}

struct Solved {
  PcgReport report;
  VecX x;
};

Solved solve(const BlockMatrix& A, Multigrid& multigrid, double tolerance = 1e-8) {
  BlockProduct<double> product(A.shared_pattern(), 3);
  product.set(A);
  multigrid.set(product);
  VecX b = VecX::Ones(3 * Eigen::Index(A.pattern().rows()));
  Solved solved{{}, VecX::Zero(b.size())};
  solved.report = Pcg<double>().solve(product, b, solved.x, multigrid, {tolerance, 500});
  VecX residual;
  product.multiply(solved.x, residual);
  EXPECT_EQ(solved.report.outcome, PcgOutcome::converged);
  EXPECT_LT((residual - b).norm(), 2 * tolerance * b.norm());
  return solved;
}

int iterations(
    Index n, const std::function<double(const Vec3&)>& stiffness = [](const Vec3&) { return 1.0; }) {
  const VecX x = grid_positions(2 * n, n, n);
  BlockMatrix A = springs(2 * n, n, n, x, stiffness);
  Multigrid multigrid(A, x);
  clamp(A, x);
  return solve(A, multigrid).report.iterations;
}

TEST(Multigrid, NeedsHardlyMoreIterationsOnFinerGrids) {
  const int coarse = iterations(6), fine = iterations(14);
  EXPECT_LT(coarse, 25);
  EXPECT_LT(fine, 1.5 * coarse);
}

TEST(Multigrid, StandsJumpsOfStiffness) {
  const int even = iterations(10);
  EXPECT_LT(iterations(10, [](const Vec3& c) { return static_cast<int>(c.x()) % 6 < 3 ? 1.0 : 1e4; }), 2 * even);
  EXPECT_LT(iterations(10, [](const Vec3& c) { return c.y() < 5 ? 1.0 : 1e4; }), 2 * even);
}

TEST(Multigrid, SolvesFreeBodiesWithLittleInertia) {
  const VecX x = grid_positions(14, 8, 8);
  for (const double inertia : {1e-2, 1e-6}) {
    BlockMatrix A = springs(14, 8, 8, x);
    Multigrid multigrid(A, x);
    test::shift(A, inertia);
    EXPECT_LT(solve(A, multigrid, 1e-6).report.iterations, 25) << inertia;
  }
}

TEST(Multigrid, FollowsTurnedBodies) {
  const VecX rest = grid_positions(16, 8, 8);
  BlockMatrix A = springs(16, 8, 8, rest);
  Multigrid multigrid(A, rest);
  clamp(A, rest);
  const int before = solve(A, multigrid).report.iterations;
  const Mat3 R = Eigen::AngleAxisd(2, Vec3(1, 2, 3).normalized()).toRotationMatrix();
  VecX turned = rest;
  for (Index i = 0; i < A.pattern().rows(); ++i) node(turned, i) = R * node(rest, i);
  BlockMatrix B = springs(16, 8, 8, turned);
  clamp(B, rest);
  multigrid.set_positions(turned);
  EXPECT_LE(solve(B, multigrid).report.iterations, before + 2);
}

TEST(Multigrid, TakesAnotherPatternOverTheSameNodes) {
  const VecX x = grid_positions(12, 8, 8);
  const BlockMatrix rest = springs(12, 8, 8, x);
  Multigrid multigrid(rest, x);
  // A stiff spring between two nodes far from each other, as contact makes them.
  std::vector<Index> pairs;
  for (Index i = 0; i < rest.pattern().rows(); ++i)
    for (std::int64_t k = rest.pattern().diagonal(i); k < rest.pattern().row_start()[at(i) + 1]; ++k)
      pairs.insert(pairs.end(), {i, rest.pattern().columns()[at(k)]});
  const Index a = 40, b = 700;
  pairs.insert(pairs.end(), {a, b});
  BlockMatrix A(test::pattern_of(rest.pattern().rows(), pairs, 2), 3);
  A.set_zero();
  for (Index i = 0; i < rest.pattern().rows(); ++i)
    for (std::int64_t k = rest.pattern().diagonal(i); k < rest.pattern().row_start()[at(i) + 1]; ++k)
      std::copy_n(rest.block(k), 9, A.block(A.pattern().find(i, rest.pattern().columns()[at(k)])));
  for (int c : {0, 4, 8}) {
    A.block(A.pattern().diagonal(a))[c] += 100;
    A.block(A.pattern().diagonal(b))[c] += 100;
    A.block(A.pattern().find(a, b))[c] -= 100;
  }
  clamp(A, x);
  EXPECT_LT(solve(A, multigrid).report.iterations, 40);
}

TEST(Multigrid, HoldsSingleUnknowns) {
  const VecX x = grid_positions(12, 6, 6);
  BlockMatrix A = springs(12, 6, 6, x);
  Multigrid multigrid(A, x);
  std::vector<std::uint8_t> fixed(at(x.size()), 0);
  for (Index i = 0; i < A.pattern().rows(); ++i) {
    const Vec3 at_node = node(x, i);
    if (at_node.x() == 0) fixed[at(3 * i)] = fixed[at(3 * i + 1)] = 1;
    if (at_node.y() == 0 && at_node.x() > 8) fixed[at(3 * i + 2)] = 1;
  }
  A.eliminate(fixed);
  EXPECT_LT(solve(A, multigrid).report.iterations, 40);
}

TEST(Multigrid, IsSymmetricAndPositive) {
  const VecX x = grid_positions(8, 6, 5);
  BlockMatrix A = springs(8, 6, 5, x);
  Multigrid multigrid(A, x);
  clamp(A, x);
  BlockProduct<double> product(A.shared_pattern(), 3);
  product.set(A);
  multigrid.set(product);
  for (int turn = 0; turn < 5; ++turn) {
    const VecX u = VecX::Random(x.size()), v = VecX::Random(x.size());
    VecX Mu, Mv;
    multigrid.apply(u, Mu);
    multigrid.apply(v, Mv);
    EXPECT_GT(u.dot(Mu), 0);
    EXPECT_NEAR(u.dot(Mv), v.dot(Mu), 1e-4 * std::sqrt(u.dot(Mu) * v.dot(Mv)));
  }
}

TEST(Multigrid, FindsNegativeCurvature) {
  const VecX x = grid_positions(10, 6, 6);
  BlockMatrix A = springs(10, 6, 6, x);
  Multigrid multigrid(A, x);
  test::shift(A, -0.05);
  BlockProduct<double> product(A.shared_pattern(), 3);
  product.set(A);
  multigrid.set(product);
  const VecX b = VecX::Random(x.size());
  VecX found = VecX::Zero(x.size());
  const PcgReport report = Pcg<double>().solve(product, b, found, multigrid, {1e-10, 2000});
  EXPECT_EQ(report.outcome, PcgOutcome::negative_curvature);
  EXPECT_TRUE(found.allFinite());
}

TEST(Multigrid, HasTheSameBitsForAnyNumberOfThreads) {
  const VecX x = grid_positions(20, 12, 12);
  std::vector<VecX> found;
  for (const std::size_t threads : {1, 2}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    BlockMatrix A = springs(20, 12, 12, x);
    Multigrid multigrid(A, x);
    clamp(A, x);
    found.push_back(solve(A, multigrid).x);
  }
  EXPECT_EQ(found[0], found[1]);
}

}  // namespace
}  // namespace pliant
