#include "pliant/linalg/pcg.hpp"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <Eigen/Geometry>
#include <cstring>

#include "linalg/test_matrices.hpp"
#include "pliant/linalg/incomplete_cholesky.hpp"

namespace pliant {
namespace {

using test::dense;
using test::grid_pattern;
using test::spring_matrix;

template <class T>
BlockProduct<T> product_of(const BlockMatrix& A) {
  BlockProduct<T> product(A.shared_pattern(), A.block_size());
  product.set(A);
  return product;
}

TEST(BlockProduct, MultipliesLikeTheBlockMatrixInDoubleAndFloat) {
  std::mt19937 random(41);
  for (int block_size : {1, 3}) {
    const BlockMatrix A = test::random_symmetric(grid_pattern(13, 9, 8), block_size, random);
    const VecX x = VecX::Random(Eigen::Index(block_size) * A.pattern().rows());
    VecX expected, y;
    A.multiply(x, expected);
    EXPECT_NEAR(product_of<double>(A).multiply(x, y), x.dot(expected), 1e-11 * expected.norm());
    EXPECT_LT((y - expected).norm(), 1e-14 * expected.norm());
    Eigen::VectorXf in_float;
    product_of<float>(A).multiply(x.cast<float>(), in_float);
    EXPECT_LT((in_float.cast<double>() - expected).norm(), 1e-6 * expected.norm());
  }
}

constexpr PreconditionerKind kinds[] = {PreconditionerKind::none, PreconditionerKind::jacobi,
                                        PreconditionerKind::block_jacobi, PreconditionerKind::incomplete_cholesky};

template <class T>
int iterations(const BlockMatrix& A, PreconditionerKind kind, double tolerance, double accuracy) {
  const auto product = product_of<T>(A);
  auto preconditioner = make_preconditioner<T>(kind);
  preconditioner->set(product);
  const VectorOf<T> b = VectorOf<T>::Random(Eigen::Index(A.block_size()) * A.pattern().rows());
  VectorOf<T> x = VectorOf<T>::Zero(b.size()), Ax;
  Pcg<T> pcg;
  const PcgReport report = pcg.solve(product, b, x, *preconditioner, {tolerance, 2000});
  EXPECT_EQ(report.outcome, PcgOutcome::converged);
  product.multiply(x, Ax);
  EXPECT_LT(static_cast<double>((Ax - b).norm()), accuracy * static_cast<double>(b.norm()));
  return report.iterations;
}

TEST(Pcg, SolvesWithEveryPreconditionerInDoubleAndFloat) {
  std::mt19937 random(42);
  for (int block_size : {1, 3}) {
    BlockMatrix A = spring_matrix(grid_pattern(12, 11, 10), block_size, 1e-2, random);
    for (PreconditionerKind kind : kinds) {
      EXPECT_GT(iterations<double>(A, kind, 1e-10, 2e-10), 3);
      EXPECT_GT(iterations<float>(A, kind, 1e-4, 2e-4), 3);
    }
  }
}

TEST(Pcg, NeedsFewerIterationsTheBetterThePreconditioner) {
  std::mt19937 random(43);
  BlockMatrix A = spring_matrix(grid_pattern(16, 14, 12), 3, 1e-3, random);
  std::uniform_real_distribution<double> exponent(-0.3, 0.3);
  std::vector<double> scale(std::size_t(A.pattern().rows()));
  for (double& s : scale) s = std::pow(10, exponent(random));
  for (Index i = 0; i < A.pattern().rows(); ++i) {
    for (std::int64_t k = A.pattern().diagonal(i); k < A.pattern().row_start()[std::size_t(i) + 1]; ++k) {
      for (int e = 0; e < 9; ++e)
        A.block(k)[e] *= scale[std::size_t(i)] * scale[std::size_t(A.pattern().columns()[std::size_t(k)])];
    }
  }
  const int plain = iterations<double>(A, PreconditionerKind::none, 1e-8, 1e-7);
  const int block = iterations<double>(A, PreconditionerKind::block_jacobi, 1e-8, 1e-7);
  const int incomplete = iterations<double>(A, PreconditionerKind::incomplete_cholesky, 1e-8, 1e-7);
  EXPECT_LT(block, plain);
  EXPECT_LT(incomplete, 0.6 * block);
}

TEST(Pcg, RunsAFixedNumberOfIterationsWhenTheToleranceIsZero) {
  std::mt19937 random(44);
  const auto A = product_of<double>(spring_matrix(grid_pattern(8, 8, 8), 3, 1e-2, random));
  auto preconditioner = make_preconditioner<double>(PreconditionerKind::jacobi);
  preconditioner->set(A);
  const VecX b = VecX::Random(3 * 512);
  VecX x = VecX::Zero(b.size());
  const PcgReport report = Pcg<double>().solve(A, b, x, *preconditioner, {0, 7});
  EXPECT_EQ(report.iterations, 7);
  EXPECT_EQ(report.outcome, PcgOutcome::converged);
  EXPECT_LT(report.residual, 1);
}

TEST(Pcg, StopsAtNegativeCurvatureAndFindsItInAnyIndefiniteMatrix) {
  std::mt19937 random(45);
  for (double ground : {-0.05, -0.5, -20.0}) {
    const auto A = product_of<double>(spring_matrix(grid_pattern(8, 7, 6), 3, ground, random));
    for (PreconditionerKind kind : kinds) {
      auto preconditioner = make_preconditioner<double>(kind);
      preconditioner->set(A);
      const VecX b = VecX::Random(3 * 336);
      VecX x = VecX::Zero(b.size());
      const PcgReport report = Pcg<double>().solve(A, b, x, *preconditioner, {1e-12, 5000});
      EXPECT_EQ(report.outcome, PcgOutcome::negative_curvature) << "ground " << ground;
      EXPECT_TRUE(x.allFinite());
      EXPECT_GT(x.dot(b), 0);  // still a descent direction
    }
  }
}

TEST(Pcg, ReturnsZeroForZeroAndReportsNumbersThatAreNotFinite) {
  std::mt19937 random(46);
  const auto A = product_of<double>(spring_matrix(grid_pattern(4, 4, 4), 3, 1, random));
  auto preconditioner = make_preconditioner<double>(PreconditionerKind::block_jacobi);
  preconditioner->set(A);
  VecX x = VecX::Ones(192), b = VecX::Zero(192);
  EXPECT_EQ(Pcg<double>().solve(A, b, x, *preconditioner, {}).outcome, PcgOutcome::converged);
  EXPECT_EQ(x.norm(), 0);
  b[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Pcg<double>().solve(A, b, x, *preconditioner, {}).outcome, PcgOutcome::not_finite);
}

TEST(IncompleteCholesky, IsTheExactFactorOfAChain) {
  std::mt19937 random(47);
  std::vector<Index> chain;
  for (Index i = 1; i < 300; ++i) chain.insert(chain.end(), {i - 1, i});
  for (int block_size : {1, 3}) {
    const BlockMatrix A = spring_matrix(test::pattern_of(300, chain, 2), block_size, 0.1, random);
    const auto product = product_of<double>(A);
    IncompleteCholesky<double> preconditioner;
    preconditioner.set(product);
    EXPECT_EQ(preconditioner.shift(), 0);
    const VecX b = VecX::Random(300 * block_size);
    VecX x, Ax;
    preconditioner.apply(b, x);
    product.multiply(x, Ax);
    EXPECT_LT((Ax - b).norm(), 1e-11 * b.norm());
  }
}

TEST(IncompleteCholesky, RaisesTheDiagonalWhereItBreaksDown) {
  std::mt19937 random(48);
  const auto indefinite = product_of<double>(spring_matrix(grid_pattern(6, 6, 6), 3, -40, random));
  IncompleteCholesky<double> preconditioner;
  preconditioner.set(indefinite);
  EXPECT_GT(preconditioner.shift(), 0);
  const VecX r = VecX::Random(3 * 216);
  VecX z;
  preconditioner.apply(r, z);
  EXPECT_GT(r.dot(z), 0);  // positive definite all the same
  const BlockMatrix zero(grid_pattern(3, 3, 3), 3);
  preconditioner.set(product_of<double>(zero));
  const VecX e = VecX::Random(81);
  preconditioner.apply(e, z);
  EXPECT_TRUE(z.allFinite());
}

TEST(StaleFactor, SolvesInOneIterationWhenTheMatrixOnlyTurned) {
  std::mt19937 random(49);
  const BlockMatrix A = spring_matrix(grid_pattern(7, 6, 5), 3, 1e-2, random);
  SparseCholesky factor;
  factor.analyze(A.shared_pattern(), 3);
  ASSERT_EQ(factor.factor(A), FactorStatus::ok);
  // R A R^T with a rotation per node.
  std::vector<Mat3> rotations;
  for (Index i = 0; i < A.pattern().rows(); ++i)
    rotations.push_back(Eigen::AngleAxisd(0.01 * i, Vec3(1, 2, i + 1.0).normalized()).toRotationMatrix());
  BlockMatrix turned = A;
  for (Index i = 0; i < A.pattern().rows(); ++i) {
    for (std::int64_t k = A.pattern().diagonal(i); k < A.pattern().row_start()[std::size_t(i) + 1]; ++k) {
      const Index j = A.pattern().columns()[std::size_t(k)];
      Eigen::Map<Mat3> block(turned.block(k));
      block = (rotations[std::size_t(i)] * Mat3(block) * rotations[std::size_t(j)].transpose()).eval();
    }
  }
  const auto product = product_of<double>(turned);
  StaleFactor plain(factor), rotated(factor);
  rotated.set_rotations(rotations);
  const VecX b = VecX::Random(3 * A.pattern().rows());
  const auto count = [&](StaleFactor& preconditioner) {
    VecX x = VecX::Zero(b.size());
    const PcgReport report = Pcg<double>().solve(product, b, x, preconditioner, {1e-9, 500});
    EXPECT_EQ(report.outcome, PcgOutcome::converged);
    return report.iterations;
  };
  EXPECT_LE(count(rotated), 2);
  EXPECT_GT(count(plain), 5);
}

TEST(Pcg, GivesTheSameBitsOnOneThreadAndOnMany) {
  std::mt19937 random(50);
  const BlockMatrix A = spring_matrix(grid_pattern(20, 20, 20), 3, 1e-2, random);
  const VecX b = VecX::Random(24000);
  for (PreconditionerKind kind : kinds) {
    const auto solution = [&](int threads) {
      const tbb::global_control control(tbb::global_control::max_allowed_parallelism, std::size_t(threads));
      tbb::task_arena arena(threads);
      return arena.execute([&] {
        const auto product = product_of<double>(A);
        auto preconditioner = make_preconditioner<double>(kind);
        preconditioner->set(product);
        VecX x = VecX::Zero(b.size());
        Pcg<double>().solve(product, b, x, *preconditioner, {0, 20});
        return x;
      });
    };
    const VecX one = solution(1), two = solution(2);
    EXPECT_EQ(std::memcmp(one.data(), two.data(), sizeof(double) * 24000), 0);
  }
}

}  // namespace
}  // namespace pliant
