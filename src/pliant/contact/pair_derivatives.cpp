#include "pliant/contact/pair_derivatives.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "pliant/math/psd_projection.hpp"

namespace pliant {

namespace {

constexpr int kMost = 5;
using Basis = Eigen::Matrix<double, 12, Eigen::Dynamic, 0, 12, kMost>;
using Core = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMost, kMost>;

/// f_xb, and the inverse of f_bb.
struct Parameters {
  Eigen::Matrix<double, 12, 2> mixed;
  Eigen::Matrix2d inverse;
};

Parameters eliminated(const Closest& c, const Corners& x) {
  Parameters p;
  std::array<Vec3, 2> E{Vec3::Zero(), Vec3::Zero()};
  for (std::size_t k = 0; k < static_cast<std::size_t>(c.parameters); ++k) {
    // The directions add up to zero, so that differences to one corner do.
    for (std::size_t i = 1; i < 4; ++i) E[k] += c.directions[k][i] * (x[i] - x[0]);
    for (std::size_t i = 0; i < 4; ++i)
      p.mixed.block<3, 1>(3 * static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) =
          2 * (c.weight[i] * E[k] + c.directions[k][i] * c.r);
  }
  p.inverse.setZero();
  if (c.parameters == 1) p.inverse(0, 0) = 0.5 / E[0].squaredNorm();
  if (c.parameters == 2) {
    const double determinant = E[0].cross(E[1]).squaredNorm(), mixed = E[0].dot(E[1]);
    p.inverse << E[1].squaredNorm(), -mixed, -mixed, E[0].squaredNorm();
    p.inverse *= 0.5 / determinant;
  }
  return p;
}

Mat12 weights_times_identity(const Closest& c, const Mat3& block) {
  Mat12 H;
  for (Eigen::Index i = 0; i < 4; ++i)
    for (Eigen::Index j = 0; j < 4; ++j)
      H.block<3, 3>(3 * i, 3 * j) =
          (c.weight[static_cast<std::size_t>(i)] * c.weight[static_cast<std::size_t>(j)]) * block;
  return H;
}

}  // namespace

Vec12 distance_gradient(const Closest& c) {
  Vec12 g;
  for (std::size_t i = 0; i < 4; ++i) g.segment<3>(3 * static_cast<Eigen::Index>(i)) = 2 * c.weight[i] * c.r;
  return g;
}

Mat12 distance_hessian(const Closest& c, const Corners& x) { return function_hessian(c, x, 1, 0, false); }

Mat12 function_hessian(const Closest& c, const Corners& x, double first, double second, bool project) {
  // phi'' g g^T + phi' H, both parts of which have the form w w^T (x) block or lie in the span of f_xb.
  const Mat3 block = 4 * second * c.r * c.r.transpose() + 2 * first * Mat3::Identity();
  const Eigen::Index n = c.parameters;
  Parameters p;
  if (n > 0) p = eliminated(c, x);
  if (!project) {
    Mat12 H = weights_times_identity(c, block);
    if (n > 0) {
      const auto F = p.mixed.leftCols(n);
      H.noalias() -= first * F * p.inverse.topLeftCorner(n, n) * F.transpose();
    }
    return H;
  }
  if (n == 0) {  // along r, and across it
    const double across = std::max(0.0, 2 * first), along = std::max(0.0, 4 * second * c.d2 + 2 * first);
    const Mat3 rr = c.d2 > 0 ? Mat3(c.r * c.r.transpose() / c.d2) : Mat3(Mat3::Zero());
    return weights_times_identity(c, across * Mat3::Identity() + (along - across) * rr);
  }
  // H = B S B^T = Q (R S R^T) Q^T with an orthonormal Q: project the small matrix in the middle.
  Basis Q(12, 3 + n);
  Core R = Core::Zero(3 + n, 3 + n), S = Core::Zero(3 + n, 3 + n);
  double norm = 0;
  for (double w : c.weight) norm += w * w;
  norm = std::sqrt(norm);
  Q.leftCols<3>().setZero();
  for (Eigen::Index i = 0; i < 4; ++i)
    for (Eigen::Index axis = 0; axis < 3; ++axis) Q(3 * i + axis, axis) = c.weight[static_cast<std::size_t>(i)] / norm;
  R.topLeftCorner<3, 3>() = norm * Mat3::Identity();
  S.topLeftCorner<3, 3>() = block;
  for (Eigen::Index k = 0; k < n; ++k) {
    Vec12 column = p.mixed.col(k);
    const double length = column.norm();
    for (int pass = 0; pass < 2; ++pass)  // once more, for orthogonality to rounding
      for (Eigen::Index j = 0; j < 3 + k; ++j) {
        const double dot = Q.col(j).dot(column);
        R(j, 3 + k) += dot;
        column -= dot * Q.col(j);
      }
    const double rest = column.norm();
    const bool independent = rest > 1e-14 * length;
    R(3 + k, 3 + k) = independent ? rest : 0;
    Q.col(3 + k) = independent ? Vec12(column / rest) : Vec12(Vec12::Zero());
  }
  S.bottomRightCorner(n, n) = -first * p.inverse.topLeftCorner(n, n);
  Core middle = R * S * R.transpose();
  middle = (0.5 * (middle + middle.transpose())).eval();
  project_psd(middle);
  const Eigen::Matrix<double, 12, Eigen::Dynamic, 0, 12, kMost> left = Q * middle;
  Mat12 H = left * Q.transpose();
  return 0.5 * (H + H.transpose());
}

namespace {

/// Orthonormal: changes of two edges, and of the place of one against the other. What does not change when both move
/// together has no other directions.
Eigen::Matrix<double, 12, 9> relative_motions_of_edges() {
  const double r = std::sqrt(0.5);
  const double weights[3][4] = {{-r, r, 0, 0}, {0, 0, -r, r}, {0.5, 0.5, -0.5, -0.5}};
  Eigen::Matrix<double, 12, 9> Q = Eigen::Matrix<double, 12, 9>::Zero();
  for (Eigen::Index k = 0; k < 3; ++k)
    for (Eigen::Index i = 0; i < 4; ++i) Q.block<3, 3>(3 * i, 3 * k) = weights[k][i] * Mat3::Identity();
  return Q;
}

}  // namespace

void project_edge_hessian(Mat12& H) {
  static const Eigen::Matrix<double, 12, 9> Q = relative_motions_of_edges();
  const Eigen::Matrix<double, 9, 12> left = Q.transpose() * H;
  Eigen::Matrix<double, 9, 9> middle = left * Q;
  project_psd(middle);
  const Eigen::Matrix<double, 12, 9> back = Q * middle;
  H.noalias() = back * Q.transpose();
}

double edge_cross_norm(const Corners& x) { return (x[1] - x[0]).cross(x[3] - x[2]).squaredNorm(); }

CrossNorm edge_cross_norm_derivatives(const Corners& x) {
  const Vec3 u = x[1] - x[0], v = x[3] - x[2], n = u.cross(v);
  CrossNorm c;
  c.value = n.squaredNorm();
  const Vec3 gu = 2 * v.cross(n), gv = 2 * n.cross(u);
  c.gradient << -gu, gu, -gv, gv;
  const Mat3 uu = 2 * (v.squaredNorm() * Mat3::Identity() - v * v.transpose());
  const Mat3 vv = 2 * (u.squaredNorm() * Mat3::Identity() - u * u.transpose());
  const Mat3 uv = 4 * u * v.transpose() - 2 * v * u.transpose() - 2 * u.dot(v) * Mat3::Identity();
  for (Eigen::Index i = 0; i < 2; ++i)
    for (Eigen::Index j = 0; j < 2; ++j) {
      const double sign = i == j ? 1 : -1;
      c.hessian.block<3, 3>(3 * i, 3 * j) = sign * uu;
      c.hessian.block<3, 3>(6 + 3 * i, 6 + 3 * j) = sign * vv;
      c.hessian.block<3, 3>(3 * i, 6 + 3 * j) = sign * uv;
      c.hessian.block<3, 3>(6 + 3 * j, 3 * i) = sign * uv.transpose();
    }
  return c;
}

Mollifier mollifier(double c, double threshold) {
  if (!(c < threshold)) return {};
  const double y = c / threshold;
  return {(2 - y) * y, 2 * (1 - y) / threshold, -2 / (threshold * threshold)};
}

double mollifier_threshold(double rest_length2_a, double rest_length2_b) {
  return 1e-3 * rest_length2_a * rest_length2_b;
}

}  // namespace pliant
