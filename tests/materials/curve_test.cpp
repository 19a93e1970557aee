#include "pliant/materials/curve.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "pliant/base/error.hpp"
#include "pliant/materials/valanis_landel.hpp"
#include "pliant/math/types.hpp"
#include "support/simd_targets.hpp"

namespace pliant {
namespace {

const std::vector<Curve::Point> kPoints = {{0.3, -4}, {0.7, -1.5}, {1, 0}, {1.2, 0.3}, {1.9, 3}};

TEST(Curve, PolynomialHasTheDerivativesOfItsCoefficients) {
  const Curve curve = Curve::polynomial({7, 0, 3, -2, 0.5});
  for (double s : {-0.4, 0.0, 0.9, 1.0, 1.7}) {
    const double t = s - 1;
    const auto f = curve(s);
    EXPECT_NEAR(f.value, 3 * t * t - 2 * t * t * t + 0.5 * std::pow(t, 4), 1e-14);
    EXPECT_NEAR(f.d, 6 * t - 6 * t * t + 2 * t * t * t, 1e-14);
    EXPECT_NEAR(f.dd, 6 - 12 * t + 6 * t * t, 1e-14);
  }
}

TEST(Curve, SplinePassesThroughItsPointsAndIsZeroAtRest) {
  const Curve curve = Curve::spline(kPoints);
  for (const Curve::Point& p : kPoints) EXPECT_NEAR(curve(p.stretch).d, p.slope, 1e-13);
  EXPECT_EQ(curve(1).value, 0);
}

TEST(Curve, SplineIsTheMinimumOfBendingAmongInterpolants) {
  // The natural spline solves a linear system for the cubic of each piece; here all its conditions at once.
  const std::size_t n = kPoints.size(), unknowns = 4 * (n - 1);
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(unknowns, unknowns);
  VecX b = VecX::Zero(unknowns);
  Eigen::Index row = 0;
  const auto powers = [](double t, int derivative) {
    Eigen::RowVector4d r;
    if (derivative == 0) r << 1, t, t * t, t * t * t;
    if (derivative == 1) r << 0, 1, 2 * t, 3 * t * t;
    if (derivative == 2) r << 0, 0, 2, 6 * t;
    return r;
  };
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const double width = kPoints[i + 1].stretch - kPoints[i].stretch;
    A.block<1, 4>(row, 4 * i) = powers(0, 0);
    b[row++] = kPoints[i].slope;
    A.block<1, 4>(row, 4 * i) = powers(width, 0);
    b[row++] = kPoints[i + 1].slope;
    for (int k = 1; k <= 2 && i + 2 < n; ++k) {
      A.block<1, 4>(row, 4 * i) = powers(width, k);
      A.block<1, 4>(row++, 4 * (i + 1)) = -powers(0, k);
    }
  }
  A.block<1, 4>(row++, 0) = powers(0, 2);
  A.block<1, 4>(row++, unknowns - 4) = powers(kPoints[n - 1].stretch - kPoints[n - 2].stretch, 2);
  ASSERT_EQ(row, static_cast<Eigen::Index>(unknowns));
  const VecX c = A.partialPivLu().solve(b);
  const Curve curve = Curve::spline(kPoints);
  for (std::size_t i = 0; i + 1 < n; ++i) {
    for (double share : {0.1, 0.5, 0.8}) {
      const double t = share * (kPoints[i + 1].stretch - kPoints[i].stretch);
      EXPECT_NEAR(curve(kPoints[i].stretch + t).d, powers(t, 0).dot(c.segment<4>(4 * i)), 1e-12);
      EXPECT_NEAR(curve(kPoints[i].stretch + t).dd, powers(t, 1).dot(c.segment<4>(4 * i)), 1e-11);
    }
  }
}

TEST(Curve, SplineIsSmoothAcrossItsPointsAndStraightBeyondThem) {
  const Curve curve = Curve::spline(kPoints);
  const double h = 1e-7;
  for (const Curve::Point& p : kPoints) {
    const auto below = curve(p.stretch - h), above = curve(p.stretch + h);
    EXPECT_NEAR(above.value - below.value, 2 * h * p.slope, 1e-13);
    EXPECT_NEAR(above.d, below.d, 1e-5);
    EXPECT_NEAR(above.dd, below.dd, 1e-4) << p.stretch;
  }
  for (double s : {-2.0, 0.0, 2.5, 40.0}) EXPECT_NEAR(curve(s + 0.1).dd, curve(s).dd, 1e-12);
  EXPECT_NEAR(curve(3).d - curve(1.9).d, 1.1 * curve(1.9).dd, 1e-12);
}

TEST(Curve, ValueIsTheIntegralOfTheSlope) {
  const Curve curve = Curve::spline(kPoints);
  double sum = 0;
  const int n = 40000;
  for (int i = 0; i < n; ++i) sum += curve(1 + 1.5 * (i + 0.5) / n).d * 1.5 / n;
  EXPECT_NEAR(curve(2.5).value, sum, 1e-8);
}

TEST(Curve, RefusesPointsThatMakeNoCurve) {
  EXPECT_THROW(Curve::spline({{1, 0}}), InputError);
  EXPECT_THROW(Curve::spline({{1, 0}, {1, 2}}), InputError);
  EXPECT_THROW(Curve::spline({{1, 0}, {0.5, 2}}), InputError);
  EXPECT_THROW(Curve::spline({{1, 0}, {2, std::nan("")}}), InputError);
  EXPECT_THROW(Curve::polynomial({0, 0, INFINITY}), InputError);
}

TEST(ValanisLandel, RefusesCurvesWithStressAtRest) {
  ValanisLandelCurves curves;
  curves.a = Curve::spline({{0.5, -1}, {1, 0.2}, {1.5, 1}});
  EXPECT_THROW(valanis_landel_law(curves), InputError);
  curves.b = Curve::polynomial({0, -0.1});  // a'(1) + 2 b'(1) = 0
  EXPECT_NO_THROW(valanis_landel_law(curves));
  EXPECT_THROW(valanis_landel_law(ValanisLandelCurves{}), InputError);
}

TEST(ValanisLandel, NeoHookeanAndStvkAreSpecialCases) {
  const Lame lame{3, 7};
  ValanisLandelCurves neo;
  neo.a = Curve::polynomial({0, 1, 0.5});  // (s^2 - 1) / 2
  neo.logarithmic_volume = true;
  // mu/4 (s^2 - 1)^2 = mu (t^2 + t^3 + t^4 / 4) with t = s - 1; lambda = 0
  ValanisLandelCurves stvk;
  stvk.a = Curve::polynomial({0, 0, 1, 1, 0.25});
  Mat3 F;
  F << 1.2, 0.3, -0.1, 0.2, 0.8, 0.25, -0.3, 0.1, 1.1;
  const Material curves{valanis_landel_law({.name = "neo"}, neo), lame}, law{find_law("neo-hookean"), lame};
  EXPECT_NEAR(curves.energy(F), law.energy(F), 1e-13);
  EXPECT_LT((curves.stress(F) - law.stress(F)).norm(), 1e-12);
  EXPECT_LT((curves.hessian(F) - law.hessian(F)).norm(), 1e-11);
  const Material green{valanis_landel_law({.name = "stvk"}, stvk), {3, 0}}, direct{find_law("stvk"), {3, 0}};
  EXPECT_NEAR(green.energy(F), direct.energy(F), 1e-13);
  EXPECT_LT((green.hessian(F) - direct.hessian(F)).norm(), 1e-11);
}

/// Curve reads a point at a time, the law's kernel a vector of them.
TEST(ValanisLandel, EveryPointOfABatchFollowsItsOwnCurveOnEveryTarget) {
  ValanisLandelCurves curves;
  curves.a = Curve::spline(kPoints);
  curves.c = Curve::polynomial({0, 0, 3, -2, 0.5});
  const auto law = valanis_landel_law(curves);
  Batch9 F = {};
  Batch<2> lame;
  for (int p = 0; p < kBatch; ++p) {
    F[0][p] = -0.5 + 3.0 * p / kBatch;  // beyond the points on both sides, the rest between them
    F[4][p] = F[8][p] = 1;
    lame[0][p] = 1 + 0.1 * p;
    lame[1][p] = 5;
  }
  F[0][0] = std::nan("");
  F[0][1] = kPoints[1].stretch;
  F[0][2] = kPoints.back().stretch;
  testing::for_each_target([&](const char* target) {
    SCOPED_TRACE(target);
    Batch<1> psi;
    Batch9 P;
    law->stress(F, lame, psi, P);
    EXPECT_TRUE(std::isnan(psi[0][0]) && std::isnan(P[0][0]));
    for (int p = 1; p < kBatch; ++p) {
      const double s = F[0][p], mu = lame[0][p];
      const auto a = curves.a(s), c = curves.c(s);
      EXPECT_NEAR(psi[0][p], mu * (a.value + 2 * curves.a(1).value + c.value), 1e-12 * mu);
      EXPECT_NEAR(P[0][p], mu * (a.d + c.d), 1e-12 * mu * (1 + std::abs(a.d)));
    }
  });
}

TEST(ValanisLandel, AllThreeCurvesHaveExactDerivatives) {
  ValanisLandelCurves all;
  all.a = Curve::spline({{0.4, -3}, {1, 1}, {1.8, 4}});
  all.b = Curve::polynomial({0, -0.25, 0.7, 0.1});
  all.c = Curve::spline({{0.3, -6}, {1, -0.5}, {1.6, 2}});
  const Material material{valanis_landel_law(all), {2, 0}};
  Mat3 F;
  F << 1.2, 0.3, -0.1, 0.2, 0.8, 0.25, -0.3, 0.1, 1.1;
  const double h = 1e-5;
  Mat9 differences;
  for (int c = 0; c < 9; ++c) {
    Mat3 D = Mat3::Zero();
    D.data()[c] = h;
    EXPECT_NEAR((material.energy(F + D) - material.energy(F - D)) / (2 * h), material.stress(F).data()[c], 1e-8);
    const Mat3 column = (material.stress(F + D) - material.stress(F - D)) / (2 * h);
    differences.col(c) = Eigen::Map<const Eigen::Matrix<double, 9, 1>>(column.data());
  }
  EXPECT_LT((material.hessian(F) - differences).norm(), 1e-8 * differences.norm());
}

}  // namespace
}  // namespace pliant
