// The vector logarithm that laws use, on every instruction set.
#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "math/simd_log_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "pliant/math/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

void log_batch(const Batch<1>& x, Batch<1>& y) {
  for (int lane = 0; lane < kBatch; lane += lanes()) log(Real::load(x.row[0] + lane)).store(y.row[0] + lane);
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "support/simd_targets.hpp"

namespace pliant {
namespace {

HWY_EXPORT(log_batch);

TEST(VectorLog, IsWithinFourUlpFromSubnormalToHuge) {
  std::mt19937 engine(3);
  std::uniform_real_distribution<double> exponent(-1070, 1020), near(-1, 1), wide(0.01, 10);
  std::vector<double> points = {1.0,  std::nextafter(1.0, 0.0), std::nextafter(1.0, 2.0), 0.5, 2.0, 4.9e-324, 2.2e-308,
                                1e308};
  for (int k = 0; k < 20000; ++k) points.push_back(std::exp2(exponent(engine)));
  for (int k = 0; k < 20000; ++k) points.push_back(1 + 1e-3 * near(engine));
  for (int k = 0; k < 20000; ++k) points.push_back(1 + std::pow(10.0, -15 * wide(engine) / 10) * near(engine));
  for (int k = 0; k < 20000; ++k) points.push_back(wide(engine));
  while (points.size() % kBatch != 0) points.push_back(3);
  testing::for_each_target([&](const char* target) {
    SCOPED_TRACE(target);
    double worst = 0, where = 0;
    for (std::size_t begin = 0; begin < points.size(); begin += kBatch) {
      Batch<1> x, y;
      for (int p = 0; p < kBatch; ++p) x[0][p] = points[begin + static_cast<std::size_t>(p)];
      HWY_DYNAMIC_DISPATCH(log_batch)(x, y);
      for (int p = 0; p < kBatch; ++p) {
        const long double exact = std::log(static_cast<long double>(x[0][p]));
        const double rounded = std::abs(static_cast<double>(exact));
        const double ulp = std::nextafter(rounded, HUGE_VAL) - rounded;
        const double error = static_cast<double>(std::abs(static_cast<long double>(y[0][p]) - exact)) / ulp;
        if (exact != 0 && !(error <= worst)) {
          worst = error;
          where = x[0][p];
        }
        if (exact == 0) {
          EXPECT_EQ(y[0][p], 0);
        }
      }
    }
    EXPECT_LE(worst, 4) << "at " << where;
  });
}

}  // namespace
}  // namespace pliant
#endif
