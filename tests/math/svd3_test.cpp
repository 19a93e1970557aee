#include "pliant/math/svd3.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "support/scalar_law.hpp"
#include "support/simd_targets.hpp"

namespace pliant {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

Mat3 get(const Batch9& batch, int p) {
  Mat3 A;
  for (int c = 0; c < 9; ++c) A.data()[c] = batch[c][p];
  return A;
}

void set(Batch9& batch, int p, const Mat3& A) {
  for (int c = 0; c < 9; ++c) batch[c][p] = A.data()[c];
}

Mat3 random_matrix(std::mt19937& engine) {
  std::normal_distribution<double> normal;
  Mat3 A;
  for (int c = 0; c < 9; ++c) A.data()[c] = normal(engine);
  return A;
}

Mat3 random_rotation(std::mt19937& engine) {
  const auto svd = testing::scalar_svd(random_matrix(engine));
  return svd.U * svd.V.transpose();
}

/// Matrices of every kind that is hard for some algorithm.
std::vector<Mat3> difficult_matrices() {
  std::mt19937 engine(7);
  std::vector<Mat3> all = {Mat3::Zero(), Mat3::Identity(), -Mat3::Identity(), Mat3::Ones()};
  for (int i = 0; i < 3; ++i) {
    Mat3 reflection = Mat3::Identity();
    reflection(i, i) = -1;
    all.push_back(reflection);
  }
  const std::vector<Vec3> stretches = {
      {1, 1, 1},     {2, 1, 1},           {2, 2, 1},       {1, 1, -1},       {2, 1, -1},      {1, 0, 0},
      {1, 1, 0},     {3, 2, 0},           {1, 1e-8, 1e-8}, {1, 1e-8, -1e-8}, {1, 1e-16, 0},   {1, 1 - 1e-9, 1 - 2e-9},
      {5, 1e-12, 0}, {1, 1 + 1e-15, 0.5}, {1e3, 1, 1e-3},  {1, 1e-5, 1e-10}, {2, 1e-3, -5e-4}};
  for (const Vec3& s : stretches) {
    for (double scale : {1.0, 1e-8, 1e8}) {
      for (int k = 0; k < 20; ++k) {
        all.push_back(scale * random_rotation(engine) * s.asDiagonal() * random_rotation(engine).transpose());
      }
      all.push_back(scale * Mat3(s.asDiagonal()));
    }
  }
  for (int k = 0; k < 2000; ++k) all.push_back(random_matrix(engine));
  for (int k = 0; k < 200; ++k) all.push_back(Mat3::Identity() + 1e-9 * random_matrix(engine));
  while (all.size() % kBatch != 0) all.push_back(random_matrix(engine));
  return all;
}

TEST(RotationSvd, IsAccurateToAFewUlpOfTheLargestStretchOnEveryTarget) {
  const std::vector<Mat3> matrices = difficult_matrices();
  testing::for_each_target([&](const char* target) {
    SCOPED_TRACE(target);
    double reconstruction = 0, orthogonality = 0, stretches = 0;
    for (std::size_t begin = 0; begin < matrices.size(); begin += kBatch) {
      Batch9 F, U, V;
      Batch3 s;
      for (int p = 0; p < kBatch; ++p) set(F, p, matrices[begin + static_cast<std::size_t>(p)]);
      rotation_svd(F, U, s, V);
      for (int p = 0; p < kBatch; ++p) {
        const Mat3 A = get(F, p), u = get(U, p), v = get(V, p);
        const Vec3 stretch(s[0][p], s[1][p], s[2][p]);
        const auto reference = testing::scalar_svd(A);
        const double scale = std::max(reference.s[0], std::numeric_limits<double>::min());
        const Mat3 one = Mat3::Identity();
        reconstruction = std::max(reconstruction, (u * stretch.asDiagonal() * v.transpose() - A).norm() / scale);
        orthogonality = std::max({orthogonality, (u.transpose() * u - one).norm(), (v.transpose() * v - one).norm(),
                                  std::abs(u.determinant() - 1), std::abs(v.determinant() - 1)});
        // Where the determinant vanishes to rounding its sign is arbitrary.
        const bool sign_known = std::abs(reference.s[2]) > 10 * kEps * scale;
        const Vec3 difference =
            sign_known ? Vec3(stretch - reference.s) : Vec3(stretch.cwiseAbs() - reference.s.cwiseAbs());
        stretches = std::max(stretches, difference.norm() / scale);
        EXPECT_GE(stretch[0], stretch[1] * (1 - 4 * kEps));
        EXPECT_GE(stretch[1] + 4 * kEps * scale, std::abs(stretch[2]));
        ASSERT_TRUE(stretch.allFinite() && u.allFinite() && v.allFinite()) << A;
      }
    }
    EXPECT_LT(reconstruction, 20 * kEps);
    EXPECT_LT(orthogonality, 20 * kEps);
    EXPECT_LT(stretches, 20 * kEps);
  });
}

TEST(RotationSvd, ResultOfAPointDoesNotDependOnItsNeighbours) {
  const std::vector<Mat3> matrices = difficult_matrices();
  Batch9 mixed, U, V, alone, U1, V1;
  Batch3 s, s1;
  for (int p = 0; p < kBatch; ++p) set(mixed, p, matrices[static_cast<std::size_t>(37 * p)]);
  rotation_svd(mixed, U, s, V);
  for (int p = 0; p < kBatch; ++p) {
    for (int other = 0; other < kBatch; ++other) set(alone, other, get(mixed, p));
    rotation_svd(alone, U1, s1, V1);
    EXPECT_EQ(get(U, p), get(U1, 0));
    EXPECT_EQ(get(V, p), get(V1, 5));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(s[i][p], s1[i][11]);
  }
}

TEST(RotationSvd, PassesNaNOnAndLeavesOtherPointsAlone) {
  Batch9 F, U, V;
  Batch3 s;
  for (int p = 0; p < kBatch; ++p) set(F, p, Mat3(Vec3(3, 2, 1).asDiagonal()));
  F[4][2] = std::numeric_limits<double>::quiet_NaN();
  F[1][7] = std::numeric_limits<double>::infinity();
  rotation_svd(F, U, s, V);
  for (int p = 0; p < kBatch; ++p) {
    const bool bad = p == 2 || p == 7;
    const bool finite = std::isfinite(s[0][p]) && std::isfinite(s[1][p]) && std::isfinite(s[2][p]);
    EXPECT_EQ(finite, !bad) << p;
  }
}

TEST(Polar, GivesTheNearestRotationAndASymmetricStretch) {
  std::mt19937 engine(11);
  for (int repeat = 0; repeat < 50; ++repeat) {
    Batch9 F, R;
    Batch6 S;
    for (int p = 0; p < kBatch; ++p) set(F, p, random_matrix(engine));
    polar(F, R, S);
    for (int p = 0; p < kBatch; ++p) {
      const auto svd = testing::scalar_svd(get(F, p));
      EXPECT_LT((get(R, p) - svd.U * svd.V.transpose()).norm(), 1e-12 * svd.s[0] / (svd.s[1] + svd.s[2]));
      Mat3 stretch;
      for (int c = 0; c < 3; ++c) {
        for (int r = 0; r <= c; ++r) stretch(r, c) = stretch(c, r) = S[packed(r, c)][p];
      }
      EXPECT_LT((get(R, p) * stretch - get(F, p)).norm(), 20 * kEps * svd.s[0]);
    }
  }
}

}  // namespace
}  // namespace pliant
