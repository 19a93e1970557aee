// A process may run out of memory in the middle of a factorisation: an outcome, not the end.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>

#include "linalg/test_matrices.hpp"
#include "pliant/linalg/sparse_cholesky.hpp"

namespace pliant {
namespace {

#if !defined(__SANITIZE_ADDRESS__)  // which reserves terabytes of addresses for itself

/// Bytes of address space in use.
std::size_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return 4096 * pages;
}

/// 0 where factoring with little memory left says so, and works once there is enough again.
int factor_with_little_memory() {
  std::mt19937 random(1);
  const BlockMatrix A = test::random_spd(test::grid_pattern(16, 16, 16), 3, random);
  SparseCholesky solver;
  solver.analyze(A.shared_pattern(), 3);
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  const rlim_t enough = limit.rlim_cur;
  limit.rlim_cur = address_space() + (std::size_t{4} << 20);
  setrlimit(RLIMIT_AS, &limit);
  const FactorStatus starved = solver.factor(A);
  limit.rlim_cur = enough;
  setrlimit(RLIMIT_AS, &limit);
  if (starved != FactorStatus::out_of_memory) return 1;
  if (solver.factor(A) != FactorStatus::ok) return 2;
  Eigen::VectorXd b = Eigen::VectorXd::Ones(3 * A.pattern().rows()), x = b, product(b.size());
  solver.solve(x);
  A.multiply(x, product);
  return (product - b).norm() < 1e-10 * b.norm() ? 0 : 3;
}

TEST(SparseCholeskyDeathTest, SaysThatMemoryRanOutAndGoesOnWhenThereIsSome) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own, whose limit harms no other test
  EXPECT_EXIT(std::exit(factor_with_little_memory()), testing::ExitedWithCode(0), "");
}

#endif

}  // namespace
}  // namespace pliant
