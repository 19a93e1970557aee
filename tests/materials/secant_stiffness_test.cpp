#include "pliant/materials/secant_stiffness.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace pliant {
namespace {

/// The k with the least sum of (k (s - 1) - f(s))^2 over a fine sample of [0.5, 1.5], found by golden-section search.
template <class Function>
double by_minimisation(const Function& f) {
  constexpr int kSamples = 20000;
  const auto stretch = [](int i) { return 0.5 + (i + 0.5) / kSamples; };
  std::vector<double> values(kSamples);
  for (int i = 0; i < kSamples; ++i) values[static_cast<std::size_t>(i)] = f(stretch(i));
  const auto misfit = [&](double k) {
    double sum = 0;
    for (int i = 0; i < kSamples; ++i) {
      const double error = k * (stretch(i) - 1) - values[static_cast<std::size_t>(i)];
      sum += error * error / kSamples;
    }
    return sum;
  };
  double low = -1e3, high = 1e3;
  const double golden = (std::sqrt(5.0) - 1) / 2;
  while (high - low > 1e-7) {
    const double a = high - golden * (high - low), b = low + golden * (high - low);
    (misfit(a) < misfit(b) ? high : low) = misfit(a) < misfit(b) ? b : a;
  }
  return 0.5 * (low + high);
}

TEST(SecantStiffness, OfEveryLawIsTheLeastSquaresFit) {
  const Lame lame{3, 7};
  for (const auto& law : laws()) {
    const Material material{law, lame};
    const double expected =
        by_minimisation([&](double s) { return material.stress(Vec3(s, 1, 1).asDiagonal().toDenseMatrix())(0, 0); });
    EXPECT_NEAR(secant_stiffness(*law, lame), expected, 1e-6 * std::abs(expected)) << law->info().name;
  }
}

TEST(SecantStiffness, OfEveryFibreLawIsTheLeastSquaresFit) {
  for (const auto& law : fibre_laws()) {
    for (double activation : {0.0, 0.8}) {
      const FibreParameters parameters{5, law->info().shape_fallback, 2};
      const double expected = by_minimisation([&](double s) { return law->evaluate(s, parameters, activation).d; });
      EXPECT_NEAR(secant_stiffness(*law, parameters, activation), expected, 1e-5 * std::abs(expected) + 1e-5)
          << law->info().name;
    }
  }
}

TEST(SecantStiffness, OfStraightStressIsItsSlope) {
  EXPECT_NEAR(secant_stiffness(*find_law("arap"), {3, 7}), 6, 1e-11);
  EXPECT_NEAR(secant_stiffness(*find_law("linear-corotated"), {3, 7}), 13, 1e-11);
  EXPECT_NEAR(secant_stiffness(*find_fibre_law("reinforcement"), {3, 1, 0}, 0), 3, 1e-11);
}

TEST(SecantStiffness, OfThePolynomialLawIsLinearInMu) {
  // f = 4 mu (s - 1)^3: k = 12 * 4 mu * 2 * 0.5^5 / 5 = 0.6 mu
  for (double mu : {1.0, 10.0, 2.5e5})
    EXPECT_NEAR(secant_stiffness(*find_law("polynomial"), {mu, 3}), 0.6 * mu, 1e-10 * mu);
}

}  // namespace
}  // namespace pliant
