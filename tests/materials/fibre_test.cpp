// What every fibre law must satisfy, with and without activation.
#include "pliant/materials/fibre.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <random>

#include "pliant/base/error.hpp"
#include "pliant/math/decompositions.hpp"
#include "pliant/math/psd_projection.hpp"
#include "support/convergence.hpp"

namespace pliant {
namespace {

using testing::difference_errors;
using Vec9 = Eigen::Matrix<double, 9, 1>;

class EveryFibreLaw : public ::testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<const FibreLaw> law_ = find_fibre_law(GetParam());
  FibreParameters parameters_{5, GetParam() == "muscle" ? 1.4 : 1.5, 2};
  double activation_ = 0.7;
  Vec3 direction_ = Vec3(1, 2, -0.5).normalized();
  std::mt19937 engine_{7};

  Mat3 random_matrix(double size) {
    std::uniform_real_distribution<double> uniform(-size, size);
    Mat3 A;
    for (int c = 0; c < 9; ++c) A.data()[c] = uniform(engine_);
    return A;
  }
  FibreBatch fibres() const {
    FibreBatch batch;
    for (int p = 0; p < kBatch; ++p) {
      for (int i = 0; i < 3; ++i) batch[i][p] = direction_[i];
      batch[3][p] = parameters_.stiffness;
      batch[4][p] = parameters_.shape;
      batch[5][p] = parameters_.active_stress;
    }
    return batch;
  }
  static Batch9 fill(const Mat3& F) {
    Batch9 batch;
    for (int c = 0; c < 9; ++c)
      for (int p = 0; p < kBatch; ++p) batch[c][p] = F.data()[c];
    return batch;
  }
  double energy(const Mat3& F) const {
    Batch<1> psi = {};
    Batch9 P = {};
    add_fibre_stress(*law_, fill(F), fibres(), activation_, psi, P);
    return psi[0][3];
  }
  Mat3 stress(const Mat3& F) const {
    Batch<1> psi = {};
    Batch9 P = {};
    add_fibre_stress(*law_, fill(F), fibres(), activation_, psi, P);
    Mat3 result;
    for (int c = 0; c < 9; ++c) result.data()[c] = P[c][3];
    return result;
  }
  Mat9 hessian(const Mat3& F, Projection projection = Projection::none) const {
    Batch45 H = {};
    add_fibre_hessian(*law_, fill(F), fibres(), activation_, projection, H);
    Mat9 result;
    for (int c = 0; c < 9; ++c)
      for (int r = 0; r <= c; ++r) result(r, c) = result(c, r) = H[packed(r, c)][3];
    return result;
  }
};

std::vector<std::string> fibre_names() {
  std::vector<std::string> names;
  for (const auto& law : fibre_laws()) names.push_back(law->info().name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(FibreLaws, EveryFibreLaw, ::testing::ValuesIn(fibre_names()), [](const auto& instance) {
  std::string name = instance.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(EveryFibreLaw, StressAndHessianAreDerivativesToSecondOrder) {
  for (int k = 0; k < 20; ++k) {
    // Away from the points at which the muscle changes its formula.
    Mat3 F = Mat3::Identity() + random_matrix(0.3);
    const double t = (F * direction_).norm() / 1.4;
    for (double joint : {0.4, 0.6, 1.0, 1.4, 1.6})
      if (GetParam() == "muscle" && std::abs(t - joint) < 0.02) F *= 1.05;
    const Mat3 D = random_matrix(1);
    const double slope = stress(F).cwiseProduct(D).sum();
    const double start = GetParam() == "muscle" ? 0.005 : 0.05;
    const auto of_energy = difference_errors(start, [&](double h) {
      return std::abs((energy(F + h * D) - energy(F - h * D)) / (2 * h) - slope) / (stress(F).norm() * D.norm() + 1);
    });
    EXPECT_TRUE(of_energy.second_order()) << of_energy.order() << " " << of_energy.smallest();
    const Mat9 H = hessian(F);
    const Vec9 exact = H * Eigen::Map<const Vec9>(D.data());
    const auto of_stress = difference_errors(start, [&](double h) {
      const Mat3 difference = (stress(F + h * D) - stress(F - h * D)) / (2 * h);
      return (Eigen::Map<const Vec9>(difference.data()) - exact).norm() / (exact.norm() + 1);
    });
    EXPECT_TRUE(of_stress.second_order()) << of_stress.order() << " " << of_stress.smallest();
  }
}

TEST_P(EveryFibreLaw, ProjectionIsTheBruteForceOne) {
  int indefinite = 0;
  activation_ = 1;
  for (int k = 0; k < 60; ++k) {
    const Mat3 F = random_matrix(k % 2 == 0 ? 0.6 : 1.8);
    Mat9 expected = hessian(F);
    if (symmetric_eigenvalues<9>(expected)[0] < -1e-6) ++indefinite;
    const double scale = expected.norm();
    project_psd(expected);
    EXPECT_LE((hessian(F, Projection::analytic) - expected).norm(), 1e-12 * scale);
  }
  EXPECT_GE(indefinite, 5) << "the test must see indefinite points";
}

TEST_P(EveryFibreLaw, DoesNotFeelRotations) {
  const Mat3 F = Mat3::Identity() + random_matrix(0.3);
  const Mat3 R = Eigen::AngleAxisd(1.1, Vec3(0.3, -1, 0.4).normalized()).toRotationMatrix();
  EXPECT_NEAR(energy(R * F), energy(F), 1e-13);
  EXPECT_LT((stress(R * F) - R * stress(F)).norm(), 1e-12);
}

TEST_P(EveryFibreLaw, ActivationPullsAlongTheFibre) {
  const double l = 1.2;
  activation_ = 0;
  const double relaxed = law_->evaluate(l, parameters_, 0).d;
  EXPECT_GT(law_->evaluate(l, parameters_, 0.5).d, relaxed);
  EXPECT_NEAR(law_->evaluate(l, parameters_, 1).d - relaxed, 2 * (law_->evaluate(l, parameters_, 0.5).d - relaxed),
              1e-12);
}

TEST_P(EveryFibreLaw, StaysFiniteAtEveryStretchAndPassesNaNOn) {
  for (double scale : {0.0, 1e-300, 1e-9, 1e3, 1e9}) {
    const Mat3 F = scale * Mat3::Identity();
    EXPECT_TRUE(std::isfinite(energy(F))) << scale;
    EXPECT_TRUE(stress(F).allFinite()) << scale;
    EXPECT_TRUE(hessian(F).allFinite()) << scale;
    EXPECT_TRUE(hessian(F, Projection::analytic).allFinite()) << scale;
  }
  Mat3 F = Mat3::Identity();
  F(1, 1) = std::nan("");
  EXPECT_FALSE(std::isfinite(energy(F)));
}

TEST(FibreLaws, HaveTheModulusTheySayAtRest) {
  EXPECT_NEAR(find_fibre_law("reinforcement")->evaluate(1, {3, 1, 0}, 0).dd, 3, 1e-14);
  EXPECT_NEAR(find_fibre_law("anisotropic-stvk")->evaluate(1, {3, 1, 0}, 0).dd, 12, 1e-14);
  EXPECT_NEAR(find_fibre_law("fung")->evaluate(1, {3, 4, 0}, 0).dd, 3, 1e-14);
  for (const auto& law : fibre_laws()) EXPECT_EQ(law->evaluate(1, {3, law->info().shape_fallback, 0}, 0).d, 0);
}

TEST(Muscle, HasNoJumpsInEnergyOrTension) {
  const auto law = find_fibre_law("muscle");
  const FibreParameters p{5, 1.4, 0};
  for (double joint : {0.4, 0.6, 1.0, 1.4, 1.6}) {
    const auto below = law->evaluate(1.4 * (joint - 1e-9), p, 1), above = law->evaluate(1.4 * (joint + 1e-9), p, 1);
    EXPECT_NEAR(below.psi, above.psi, 1e-6);
    EXPECT_NEAR(below.d, above.d, 1e-6);
  }
}

TEST(Muscle, AgreesWithThePublishedCurvesToTheirRounding) {
  const auto law = find_fibre_law("muscle");
  const double l_o = 1.4;
  for (double t = 0.3; t < 2; t += 0.037) {
    const double l = t * l_o;
    double passive = t > 1 ? 0.0076 * l_o * (std::exp(6.6 * (t - 1)) - 1) - 0.05 * (l - l_o) : 0;
    double active = 0.6774 * l_o;
    if (t <= 0.4)
      active = 0;
    else if (t <= 0.6)
      active = 3 * l_o * std::pow(t - 0.4, 3);
    else if (t <= 1.4)
      active = -0.6612 * l_o + l - 1.33 * l_o * std::pow(t - 1, 3);
    else if (t <= 1.6)
      active = 0.6774 * l_o + 3 * l_o * std::pow(t - 1.6, 3);
    EXPECT_NEAR(law->evaluate(l, {l_o, l_o, 0}, 0.6).psi, passive + 0.6 * active, 6e-4 * l_o) << t;
  }
}

TEST(FibreLaws, AreFoundByNameWithAHintForMisspelledOnes) {
  try {
    find_fibre_law("fungus");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean \"fung\"?"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace pliant
