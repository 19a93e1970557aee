// What every law must satisfy, tested for all of laws() alike.
#include "pliant/materials/law.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <random>

#include "pliant/base/error.hpp"
#include "pliant/math/decompositions.hpp"
#include "pliant/math/psd_projection.hpp"
#include "support/convergence.hpp"
#include "support/scalar_law.hpp"
#include "support/simd_targets.hpp"

namespace pliant {
namespace {

using testing::difference_errors;
using testing::ScalarLaw;
using Vec9 = Eigen::Matrix<double, 9, 1>;

constexpr Lame kLame = {3.0, 7.0};

Vec9 flat(const Mat3& A) { return Eigen::Map<const Vec9>(A.data()); }
double relative(const Mat9& A, const Mat9& B) { return (A - B).norm() / std::max(B.norm(), 0.1); }

class EveryLaw : public ::testing::TestWithParam<std::string> {
 protected:
  Material material_{find_law(GetParam()), kLame};
  bool inverts_ = material_.law->info().survives_inversion;
  ScalarLaw reference_{testing::scalar_kind(GetParam()), kLame};
  std::mt19937 engine_{42};

  Mat3 random_matrix() {
    std::uniform_real_distribution<double> uniform(-1, 1);
    Mat3 A;
    for (int c = 0; c < 9; ++c) A.data()[c] = uniform(engine_);
    return A;
  }
  Mat3 random_rotation() {
    const auto svd = testing::scalar_svd(random_matrix());
    return svd.U * svd.V.transpose();
  }
  Mat3 with_stretches(const Vec3& s) { return random_rotation() * s.asDiagonal() * random_rotation().transpose(); }
  /// det F > 0, and where the law allows it every fourth one with det F < 0; away from the poles of corotated laws.
  std::vector<Mat3> ordinary_gradients(int count) {
    std::uniform_real_distribution<double> stretch(0.4, 1.8);
    std::vector<Mat3> all;
    for (int k = 0; k < count; ++k) {
      Vec3 s(stretch(engine_), stretch(engine_), stretch(engine_));
      std::sort(s.data(), s.data() + 3, std::greater<>());
      if (inverts_ && k % 4 == 3) s[2] = -0.5 * s[1];
      all.push_back(with_stretches(s));
    }
    return all;
  }
};

std::vector<std::string> law_names() {
  std::vector<std::string> names;
  for (const auto& law : laws()) names.push_back(law->info().name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Laws, EveryLaw, ::testing::ValuesIn(law_names()), [](const auto& instance) {
  std::string name = instance.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(EveryLaw, AgreesWithTheScalarReferenceOnEveryTarget) {
  if (GetParam() == "valanis-landel" || GetParam().starts_with("spline"))
    GTEST_SKIP() << "made of curves, which curve_test.cpp compares";
  const std::vector<Mat3> gradients = ordinary_gradients(200);
  testing::for_each_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const Mat3& F : gradients) {
      Mat3 P;
      const double psi = reference_.stress(F, P);
      EXPECT_NEAR(material_.energy(F), psi, 1e-13 * (1 + std::abs(psi)));
      EXPECT_LT((material_.stress(F) - P).norm(), 1e-12 * (1 + P.norm()));
      EXPECT_LT(relative(material_.hessian(F), reference_.hessian(F)), 1e-9);
    }
  });
}

TEST_P(EveryLaw, StressIsTheDerivativeOfEnergyToSecondOrder) {
  for (const Mat3& F : ordinary_gradients(20)) {
    const Mat3 D = random_matrix();
    const double exact = material_.stress(F).cwiseProduct(D).sum();
    const double scale = material_.stress(F).norm() * D.norm() + 1;
    const auto errors = difference_errors(0.05, [&](double h) {
      return std::abs((material_.energy(F + h * D) - material_.energy(F - h * D)) / (2 * h) - exact) / scale;
    });
    EXPECT_TRUE(errors.second_order()) << "order " << errors.order() << " error " << errors.smallest();
  }
}

TEST_P(EveryLaw, HessianIsTheDerivativeOfStressToSecondOrder) {
  for (const Mat3& F : ordinary_gradients(20)) {
    const Mat3 D = random_matrix();
    const Vec9 exact = material_.hessian(F) * flat(D);
    const auto errors = difference_errors(0.05, [&](double h) {
      return (flat(material_.stress(F + h * D) - material_.stress(F - h * D)) / (2 * h) - exact).norm() / exact.norm();
    });
    EXPECT_TRUE(errors.second_order()) << "order " << errors.order() << " error " << errors.smallest();
  }
}

TEST_P(EveryLaw, HessianIsRightWhereStretchesCoincideOrNearlyDo) {
  std::vector<Vec3> stretches = {{1, 1, 1}, {1.3, 1.3, 1.3}, {1.4, 1.4, 0.8}, {1.4, 0.8, 0.8}, {0.6, 0.6, 0.6}};
  for (double gap = 1e-3; gap > 5e-13; gap /= 10) {
    stretches.push_back({1.2 + gap, 1.2, 0.7});
    stretches.push_back({1.2, 0.7 + gap, 0.7});
    stretches.push_back({1.1 + gap, 1.1, 1.1 - gap});
  }
  if (inverts_) stretches.insert(stretches.end(), {{1.2, 0.8, -0.3}, {0.9, 0.9, -0.2}, {1.5, 0.6, -0.3}});
  for (const Vec3& s : stretches) {
    const Mat3 F = with_stretches(s);
    const Mat9 H = material_.hessian(F);
    // Fourth-order differences of the stress, column by column.
    Mat9 differences;
    const double h = 1e-3;
    for (int c = 0; c < 9; ++c) {
      Mat3 D = Mat3::Zero();
      D.data()[c] = h;
      const Mat3 near = material_.stress(F + D) - material_.stress(F - D);
      const Mat3 far = material_.stress(F + 2 * D) - material_.stress(F - 2 * D);
      differences.col(c) = flat(8 * near - far) / (12 * h);
    }
    // Across a knot of a spline the third derivative of the stress jumps: differences are of third order there.
    EXPECT_LT(relative(H, differences), GetParam().starts_with("spline") ? 3e-8 : 2e-9) << s.transpose();
  }
}

TEST_P(EveryLaw, AnalyticProjectionIsTheBruteForceOne) {
  std::vector<Mat3> gradients = ordinary_gradients(60);
  gradients.push_back(Mat3::Identity());
  for (double gap = 1e-3; gap > 5e-13; gap /= 10) {
    gradients.push_back(with_stretches({0.5 + gap, 0.5, 0.3}));
    gradients.push_back(with_stretches({0.6, 0.3 + gap, 0.3}));
    gradients.push_back(with_stretches({0.4 + gap, 0.4, 0.4 - gap}));
  }
  if (inverts_) {
    gradients.push_back(with_stretches({1.1, 0.3, -0.2}));
    gradients.push_back(with_stretches({0.3, 0.2, -0.1}));
  }
  int indefinite = 0;
  for (const Mat3& F : gradients) {
    Mat9 expected = material_.hessian(F);
    if (symmetric_eigenvalues<9>(expected)[0] < -1e-6) ++indefinite;
    const double scale = expected.norm();
    project_psd(expected);
    const Mat9 projected = material_.hessian(F, Projection::analytic);
    EXPECT_LE((projected - expected).norm(), 1e-9 * scale) << testing::scalar_svd(F).s.transpose();
    EXPECT_GE(symmetric_eigenvalues<9>(projected)[0], -1e-12 * scale);
    const Mat9 absolute = material_.hessian(F, Projection::absolute);
    EXPECT_GE(symmetric_eigenvalues<9>(absolute)[0], -1e-12 * scale);
    if (GetParam() == "stable-neo-hookean" || GetParam() == "neo-hookean" || GetParam() == "stvk") {
      EXPECT_LE((absolute - (2 * expected - material_.hessian(F))).norm(), 1e-9 * scale) << F;
    }
  }
  EXPECT_GE(indefinite, 5) << "the test must see indefinite points";
}

TEST_P(EveryLaw, ProjectsExactlyWhereStretchesAreOpposite) {
  if (!inverts_) return;
  for (const Vec3& s : {Vec3(1, 0.5, -0.5), Vec3(0.7, 0.7, -0.7), Vec3(1, 0, 0), Vec3(1, 1, 0), Vec3(0, 0, 0),
                        Vec3(1.2, 0.5, -0.5 + 1e-9)}) {
    const Mat3 F = with_stretches(s);
    const Mat9 H = material_.hessian(F), projected = material_.hessian(F, Projection::analytic);
    ASSERT_TRUE(H.allFinite() && projected.allFinite()) << s.transpose();
    EXPECT_GE(symmetric_eigenvalues<9>(projected)[0], -1e-12 * projected.norm());
    if (GetParam() == "stable-neo-hookean" || GetParam() == "stvk" ||
        GetParam() == "macklin-mueller") {  // smooth there
      Mat9 expected = H;
      project_psd(expected);
      EXPECT_LE((projected - expected).norm(), 1e-9 * H.norm()) << s.transpose();
    }
  }
}

TEST_P(EveryLaw, HessianIsSymmetricAndMatchesRotatedPoints) {
  for (const Mat3& F : ordinary_gradients(10)) {
    const Mat3 R = random_rotation(), Q = random_rotation();
    EXPECT_NEAR(material_.energy(R * F), material_.energy(F), 1e-13 * (1 + std::abs(material_.energy(F))));
    EXPECT_NEAR(material_.energy(F * Q), material_.energy(F), 1e-13 * (1 + std::abs(material_.energy(F))));
    EXPECT_LT((material_.stress(R * F * Q) - R * material_.stress(F) * Q).norm(),
              1e-12 * (1 + material_.stress(F).norm()));
    const Mat3 D = random_matrix();
    const Vec9 rotated = material_.hessian(R * F * Q) * flat(R * D * Q);
    const Vec9 plain = material_.hessian(F) * flat(D);
    const Mat3 back = R * Eigen::Map<const Mat3>(plain.data()) * Q;
    EXPECT_LT((rotated - flat(back)).norm(), 1e-9 * plain.norm());
  }
}

TEST_P(EveryLaw, IsLinearElasticityAtSmallStrain) {
  EXPECT_NEAR(material_.energy(Mat3::Identity()), 0, 1e-14);
  EXPECT_LT(material_.stress(Mat3::Identity()).norm(), 1e-14);
  const auto [mu, lambda] = material_.law->linearised(kLame);
  const Mat9 H = material_.hessian(Mat3::Identity());
  for (int k = 0; k < 10; ++k) {
    const Mat3 D = random_matrix();
    const Mat3 strain = 0.5 * (D + D.transpose());
    const Mat3 expected = 2 * mu * strain + lambda * strain.trace() * Mat3::Identity();
    EXPECT_LT((H * flat(D) - flat(expected)).norm(), 1e-12 * (expected.norm() + 1));
    const Mat3 rotated = random_rotation() * (Mat3::Identity() + 1e-6 * D);
    EXPECT_NEAR(material_.energy(rotated), 0.5e-12 * expected.cwiseProduct(strain).sum(), 2e-14);
  }
}

TEST_P(EveryLaw, PassesNaNOn) {
  Mat3 F = Mat3::Identity();
  F(1, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(std::isfinite(material_.energy(F)));
  EXPECT_FALSE(material_.stress(F).allFinite());
}

TEST_P(EveryLaw, StaysFiniteThroughInversionOrIsInfiniteWithHarmlessStress) {
  for (const Mat3& F : {Mat3(Mat3::Zero()), Mat3(Vec3(1, 1, 0).asDiagonal()), Mat3(-Mat3::Identity()),
                        Mat3(Vec3(1, 1, -1).asDiagonal()), with_stretches({1.5, 1, -0.2})}) {
    EXPECT_EQ(std::isfinite(material_.energy(F)), inverts_);
    EXPECT_TRUE(inverts_ || material_.energy(F) > 0);
    EXPECT_TRUE(material_.stress(F).allFinite());
    EXPECT_TRUE(material_.hessian(F).allFinite());
    EXPECT_TRUE(material_.hessian(F, Projection::analytic).allFinite());
  }
}

TEST(Laws, AreFoundByNameWithAHintForMisspelledOnes) {
  for (const auto& law : laws()) EXPECT_EQ(find_law(law->info().name), law);
  try {
    find_law("neohookean");
    FAIL() << "expected an error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean \"neo-hookean\"?"), std::string::npos) << error.what();
  }
}

TEST(Lame, FollowsFromYoungAndPoissonAndRejectsWhatHasNoMeaning) {
  const Lame lame = lame_from_young(1e5, 0.3);
  EXPECT_DOUBLE_EQ(lame.mu, 1e5 / 2.6);
  EXPECT_DOUBLE_EQ(lame.lambda, 1e5 * 0.3 / (1.3 * 0.4));
  for (auto [young, poisson] : {std::pair{0.0, 0.3},
                                {-1.0, 0.3},
                                {1e5, -1.0},
                                {1e5, 0.5},
                                {1e5, 0.7},
                                {std::numeric_limits<double>::quiet_NaN(), 0.3},
                                {1e5, std::numeric_limits<double>::quiet_NaN()}}) {
    EXPECT_THROW(lame_from_young(young, poisson), InputError) << young << " " << poisson;
  }
  try {
    lame_from_young(1e5, 0.5);
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("0.49"), std::string::npos);
  }
}

}  // namespace
}  // namespace pliant
