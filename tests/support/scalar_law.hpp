#pragma once

#include <Eigen/LU>
#include <Eigen/SVD>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "pliant/materials/law.hpp"

// The laws once more, one point at a time, in the plainest way: Eigen's JacobiSVD, the textbook formulas, dyads of
// basis matrices. Written independently of the library; tests compare against it and benchmarks measure against it.
namespace pliant::testing {

struct ScalarSvd {
  Mat3 U, V;
  Vec3 s;
};

/// Rotations U and V; the last stretch carries the sign of det F.
inline ScalarSvd scalar_svd(const Mat3& F) {
  const Eigen::JacobiSVD<Mat3> svd(F, Eigen::ComputeFullU | Eigen::ComputeFullV);
  ScalarSvd result{svd.matrixU(), svd.matrixV(), svd.singularValues()};
  if (result.U.determinant() < 0) {
    result.U.col(2) *= -1;
    result.s[2] *= -1;
  }
  if (result.V.determinant() < 0) {
    result.V.col(2) *= -1;
    result.s[2] *= -1;
  }
  return result;
}

enum class ScalarKind {
  neo_hookean,
  stable_neo_hookean,
  stvk,
  fixed_corotated,
  linear_corotated,
  arap,
  macklin_mueller,
  mooney_rivlin,
  polynomial
};

inline ScalarKind scalar_kind(const std::string& name) {
  if (name == "neo-hookean") return ScalarKind::neo_hookean;
  if (name == "stable-neo-hookean") return ScalarKind::stable_neo_hookean;
  if (name == "stvk") return ScalarKind::stvk;
  if (name == "fixed-corotated") return ScalarKind::fixed_corotated;
  if (name == "linear-corotated") return ScalarKind::linear_corotated;
  if (name == "macklin-mueller") return ScalarKind::macklin_mueller;
  if (name == "mooney-rivlin") return ScalarKind::mooney_rivlin;
  if (name == "polynomial") return ScalarKind::polynomial;
  return ScalarKind::arap;
}

/// Psi, its gradient and Hessian in the stretches.
struct ScalarStretches {
  double psi;
  Vec3 d;
  Mat3 dd;
};

inline ScalarStretches scalar_stretches(ScalarKind kind, const Vec3& s, double mu, double lambda) {
  const double J = s.prod(), I = s.squaredNorm();
  const Vec3 c(s[1] * s[2], s[0] * s[2], s[0] * s[1]);
  Mat3 cc;  // d2J / ds ds
  cc << 0, s[2], s[1], s[2], 0, s[0], s[1], s[0], 0;
  const Mat3 one = Mat3::Identity();
  const Vec3 ones = Vec3::Ones();
  switch (kind) {
    case ScalarKind::neo_hookean: {
      if (!(J > 0)) return {std::numeric_limits<double>::infinity(), mu * s, mu * one};
      const double L = std::log(J);
      const Vec3 t = s.cwiseInverse();
      return {mu / 2 * (I - 3) - mu * L + lambda / 2 * L * L, mu * s + (lambda * L - mu) * t,
              mu * one + lambda * t * t.transpose() - (lambda * L - mu) * Mat3(t.cwiseAbs2().asDiagonal())};
    }
    case ScalarKind::stable_neo_hookean: {
      const double m = 4 * mu / 3, l = lambda + 5 * mu / 6, a = 1 + m / l - m / (4 * l);
      const double rest = l / 2 * (1 - a) * (1 - a) - m / 2 * std::log(4.0);
      return {m / 2 * (I - 3) + l / 2 * (J - a) * (J - a) - m / 2 * std::log(I + 1) - rest,
              m * (1 - 1 / (I + 1)) * s + l * (J - a) * c,
              m * (1 - 1 / (I + 1)) * one + 2 * m / ((I + 1) * (I + 1)) * s * s.transpose() + l * c * c.transpose() +
                  l * (J - a) * cc};
    }
    case ScalarKind::stvk:
      return {
          mu / 4 * (s.cwiseAbs2() - ones).squaredNorm() + lambda / 8 * (I - 3) * (I - 3),
          mu * s.cwiseProduct(s.cwiseAbs2() - ones) + lambda / 2 * (I - 3) * s,
          mu * Mat3((3 * s.cwiseAbs2() - ones).asDiagonal()) + lambda / 2 * (I - 3) * one + lambda * s * s.transpose()};
    case ScalarKind::fixed_corotated:
      return {mu * (s - ones).squaredNorm() + lambda / 2 * (J - 1) * (J - 1),
              2 * mu * (s - ones) + lambda * (J - 1) * c,
              2 * mu * one + lambda * c * c.transpose() + lambda * (J - 1) * cc};
    case ScalarKind::linear_corotated:
      return {mu * (s - ones).squaredNorm() + lambda / 2 * std::pow(s.sum() - 3, 2),
              2 * mu * (s - ones) + lambda * (s.sum() - 3) * ones, 2 * mu * one + lambda * ones * ones.transpose()};
    case ScalarKind::macklin_mueller: {
      const double l = lambda + mu, a = 1 + mu / l;
      return {mu / 2 * (I - 3) + l / 2 * ((J - a) * (J - a) - (1 - a) * (1 - a)), mu * s + l * (J - a) * c,
              mu * one + l * c * c.transpose() + l * (J - a) * cc};
    }
    case ScalarKind::mooney_rivlin: {
      // f(I1, J) = I1 J^-2/3 and g(I2, J) = I2 J^-4/3 by the chain rule; share 0.2.
      const double share = 0.2, c10 = mu / 2 * (1 - share), c01 = mu / 2 * share, K = lambda + 2 * mu / 3;
      if (!(J > 0)) return {std::numeric_limits<double>::infinity(), Vec3::Zero(), Mat3::Zero()};
      const double I2 = c.squaredNorm();
      const Vec3 d1 = 2 * s;
      Vec3 d2;
      Mat3 dd2;
      for (int i = 0; i < 3; ++i) {
        d2[i] = 2 * s[i] * (I - s[i] * s[i]);
        for (int j = 0; j < 3; ++j) dd2(i, j) = i == j ? 2 * (I - s[i] * s[i]) : 4 * s[i] * s[j];
      }
      const auto part = [&](double invariant, const Vec3& d, const Mat3& dd, double power) {
        const double p0 = std::pow(J, -power), p1 = -power * p0 / J, p2 = power * (power + 1) * p0 / (J * J);
        return ScalarStretches{
            invariant * p0 - 3, p0 * d + invariant * p1 * c,
            p0 * dd + p1 * (d * c.transpose() + c * d.transpose()) + invariant * (p2 * c * c.transpose() + p1 * cc)};
      };
      const ScalarStretches f = part(I, d1, 2 * one, 2.0 / 3), g = part(I2, d2, dd2, 4.0 / 3);
      return {c10 * f.psi + c01 * g.psi + K / 2 * (J - 1) * (J - 1), c10 * f.d + c01 * g.d + K * (J - 1) * c,
              c10 * f.dd + c01 * g.dd + K * (c * c.transpose() + (J - 1) * cc)};
    }
    case ScalarKind::polynomial: {
      const Vec3 e = s - ones;
      return {mu * e.cwiseAbs2().squaredNorm(), 4 * mu * e.cwiseAbs2().cwiseProduct(e),
              12 * mu * Mat3(e.cwiseAbs2().asDiagonal())};
    }
    case ScalarKind::arap:
      break;
  }
  return {mu * (s - ones).squaredNorm(), 2 * mu * (s - ones), 2 * mu * one};
}

struct ScalarLaw {
  ScalarKind kind;
  Lame lame;

  double stress(const Mat3& F, Mat3& P) const {
    if (kind == ScalarKind::neo_hookean) {
      const double J = F.determinant();
      if (!(J > 0)) {
        P = lame.mu * F;
        return std::numeric_limits<double>::infinity();
      }
      const double L = std::log(J);
      P = lame.mu * F + (lame.lambda * L - lame.mu) * F.inverse().transpose();
      return lame.mu / 2 * (F.squaredNorm() - 3) - lame.mu * L + lame.lambda / 2 * L * L;
    }
    const ScalarSvd svd = scalar_svd(F);
    const ScalarStretches f = scalar_stretches(kind, svd.s, lame.mu, lame.lambda);
    P = svd.U * f.d.asDiagonal() * svd.V.transpose();
    return f.psi;
  }

  /// Exact.
  Mat9 hessian(const Mat3& F) const {
    if (kind == ScalarKind::neo_hookean && F.determinant() > 0) {
      // mu Id + lambda A (x) A + (mu - lambda log J) [A_il A_kj], A = F^{-T}
      const Mat3 A = F.inverse().transpose();
      const double t = lame.mu - lame.lambda * std::log(F.determinant());
      const Eigen::Map<const Eigen::Matrix<double, 9, 1>> a(A.data());
      Mat9 H = lame.mu * Mat9::Identity() + lame.lambda * a * a.transpose();
      for (int l = 0; l < 3; ++l) {
        for (int j = 0; j < 3; ++j) H.block<3, 3>(3 * j, 3 * l) += t * A.col(l) * A.col(j).transpose();
      }
      return H;
    }
    const ScalarSvd svd = scalar_svd(F);
    const ScalarStretches f = scalar_stretches(kind, svd.s, lame.mu, lame.lambda);
    std::array<std::array<Eigen::Matrix<double, 9, 1>, 3>, 3> M;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        Eigen::Map<Mat3>(M[i][j].data()) = svd.U.col(i) * svd.V.col(j).transpose();
      }
    }
    Mat9 H = Mat9::Zero();
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) H += f.dd(i, j) * M[i][i] * M[j][j].transpose();
    }
    for (int i = 0; i < 3; ++i) {
      for (int j = i + 1; j < 3; ++j) {
        const double gap = svd.s[i] - svd.s[j];
        const double flip =
            gap < 1e-5 * svd.s[0] ? (f.dd(i, i) + f.dd(j, j)) / 2 - f.dd(i, j) : (f.d[i] - f.d[j]) / gap;
        const double twist = (f.d[i] + f.d[j]) / (svd.s[i] + svd.s[j]);
        const Eigen::Matrix<double, 9, 1> plus = (M[i][j] + M[j][i]) / std::sqrt(2.0);
        const Eigen::Matrix<double, 9, 1> minus = (M[i][j] - M[j][i]) / std::sqrt(2.0);
        H += flip * plus * plus.transpose() + twist * minus * minus.transpose();
      }
    }
    return H;
  }
};

}  // namespace pliant::testing
