// With s = a.b the energy of a vertex is a function of s alone, through k^2 = 4 (1 - s)/(1 + s) = 4 |a x b|^2/(1 +
// s)^2, of which the second form keeps its digits where the rod is straight. With the segments e = x1 - x0 and f = x2 -
// x1,
//
//   ds/de = (b - s a)/|e|,   ds/df = (a - s b)/|f|,
//   d2s/de2 = -((b - s a) a^T + a (b - s a)^T + s (1 - a a^T))/|e|^2,   d2s/(de df) = (1 - a a^T)(1 - b b^T)/(|e| |f|).
//
// What is left where a solver projects is the part of Gauss and Newton by the vector kb, J^T D J, with D the Hessian of
// B/(2 m) (|kb| - k0)^2 by kb, of which the part across kb is clamped at zero.
#include "pliant/energies/rod_energy.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "pliant/base/error.hpp"
#include "pliant/math/psd_projection.hpp"

namespace pliant {

double RodMaterial::stretching_rigidity() const { return young * std::numbers::pi * radius * radius; }
double RodMaterial::bending_rigidity() const {
  return bending * young * std::numbers::pi * radius * radius * radius * radius / 4;
}

namespace {

using Matrix9 = Eigen::Matrix<double, 9, 9>;
using Matrix6 = Eigen::Matrix<double, 6, 6>;
using Jacobian36 = Eigen::Matrix<double, 3, 6>;

/// Two segments that follow each other.
struct Bend {
  Vec3 a, b, n;             ///< directions and a x b
  double le, lf, s, above;  ///< lengths, a.b and 1 + a.b
  double k;

  Bend(const Vec3& e, const Vec3& f) : le(e.norm()), lf(f.norm()) {
    a = e / le;
    b = f / lf;
    n = a.cross(b);
    s = a.dot(b);
    above = s > 0 ? 1 + s : n.squaredNorm() / (1 - s);
    k = 2 * n.norm() / above;
  }
  bool is_folded() const { return !(above > 0) || !std::isfinite(k); }
  Vec3 binormal() const { return 2 / above * n; }
};

/// The first two derivatives of c/2 (k - k0)^2 by s. A vertex that is straight though it is bent at rest has none that
/// would say which way: its curvature is taken as hardly any.
struct BendSlopes {
  double first, second;

  BendSlopes(const Bend& bend, double c, double k0) {
    const double q1 = -8 / (bend.above * bend.above), q2 = 16 / (bend.above * bend.above * bend.above);
    first = 0.5 * c * q1, second = 0.5 * c * q2;
    if (k0 == 0) return;
    const double k = std::max(bend.k, 1e-9 * k0);
    first *= 1 - k0 / k;
    second = 0.5 * c * (q2 * (1 - k0 / k) + 0.5 * k0 * q1 * q1 / (k * k * k));
  }
};

Mat3 across(const Vec3& direction) { return Mat3::Identity() - direction * direction.transpose(); }

Mat3 rod_cross(const Vec3& v) {
  Mat3 m;
  m << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
  return m;
}

/// By e and f.
Matrix6 bend_hessian(const Bend& bend, double c, double k0) {
  const BendSlopes slopes(bend, c, k0);
  const Vec3 p = bend.n.cross(bend.a), q = bend.b.cross(bend.n);  // b - s a and a - s b
  Eigen::Matrix<double, 6, 1> g;
  g << p / bend.le, q / bend.lf;
  Matrix6 second;
  second.topLeftCorner<3, 3>() =
      -(p * bend.a.transpose() + bend.a * p.transpose() + bend.s * across(bend.a)) / (bend.le * bend.le);
  second.bottomRightCorner<3, 3>() =
      -(q * bend.b.transpose() + bend.b * q.transpose() + bend.s * across(bend.b)) / (bend.lf * bend.lf);
  second.topRightCorner<3, 3>() = across(bend.a) * across(bend.b) / (bend.le * bend.lf);
  second.bottomLeftCorner<3, 3>() = second.topRightCorner<3, 3>().transpose();
  return slopes.second * g * g.transpose() + slopes.first * second;
}

/// The same without what may be negative.
Matrix6 positive_bend_hessian(const Bend& bend, double c, double k0) {
  const Vec3 kb = bend.binormal();
  Jacobian36 J;
  J.leftCols<3>() = (-2 * rod_cross(bend.b) - kb * bend.b.transpose()) / bend.above * across(bend.a) / bend.le;
  J.rightCols<3>() = (2 * rod_cross(bend.a) - kb * bend.a.transpose()) / bend.above * across(bend.b) / bend.lf;
  const double sideways = k0 == 0 ? 1 : bend.k > k0 ? 1 - k0 / bend.k : 0;
  Mat3 D = c * sideways * Mat3::Identity();
  if (const double length = kb.norm(); length > 0) D += c * (1 - sideways) * kb * kb.transpose() / (length * length);
  return J.transpose() * D * J;
}

/// From derivatives by the segments to those by the corners: e = x1 - x0, f = x2 - x1.
Matrix9 by_corners(const Matrix6& H) {
  Eigen::Matrix<double, 6, 9> D = Eigen::Matrix<double, 6, 9>::Zero();
  D.block<3, 3>(0, 0) = D.block<3, 3>(3, 3) = -Mat3::Identity();
  D.block<3, 3>(0, 3) = D.block<3, 3>(3, 6) = Mat3::Identity();
  return D.transpose() * H * D;
}

void check_rod(const RodMaterial& m) {
  const auto positive = [](double value) { return value > 0 && std::isfinite(value); };
  if (!positive(m.young)) throw InputError("Young's modulus of a rod must be positive (Pa)");
  if (!positive(m.radius)) throw InputError("the radius of a rod must be positive (m)");
  if (!(m.bending >= 0) || !std::isfinite(m.bending)) throw InputError("'bending' of a rod must not be negative");
  if (m.rest_curvature && (!(*m.rest_curvature >= 0) || !std::isfinite(*m.rest_curvature)))
    throw InputError("'rest_curvature' of a rod must not be negative (1/m)");
}

}  // namespace

RodEnergy::RodEnergy(std::span<const Vec3> vertices, bool is_closed, const RodMaterial& material, Index first_node)
    : is_closed_(is_closed), material_(material) {
  constexpr double kStraight = 1e-6;  // what is bent by less was written with few digits
  check_rod(material);
  const std::size_t corners = vertices.size(), count = is_closed ? corners : corners - 1;
  if (corners < (is_closed ? 3 : 2))
    throw InputError(
        fmt::format("a {} needs at least {} vertices", is_closed ? "closed rod" : "rod", is_closed ? 3 : 2));
  std::vector<Vec3> edge;
  for (std::size_t k = 0; k < count; ++k) {
    edge.emplace_back(vertices[(k + 1) % corners] - vertices[k]);
    length_.push_back(edge.back().norm());
    if (!(length_.back() > 0)) throw InputError(fmt::format("segment {} of the rod has no length", k));
  }
  first_tangent_ = edge.front() / length_.front();
  stencils_.size = 3;
  for (std::size_t k = 0; k < count; ++k) {
    const bool has_next = is_closed || k + 1 < count;
    const std::size_t next = has_next ? (k + 1) % count : k;
    for (std::size_t i : {k, k + 1, has_next ? k + 2 : k})
      stencils_.nodes.push_back(first_node + static_cast<Index>(i % corners));
    const double m = 0.5 * (length_[k] + length_[next]);
    next_length_.push_back(length_[next]);
    stiffness_.push_back(has_next ? material.bending_rigidity() / m : 0);
    if (!has_next) {
      rest_curvature_.push_back(0);
      continue;
    }
    const Bend bend(edge[k], edge[next]);
    if (!material.rest_curvature && bend.is_folded())
      throw InputError(fmt::format("the rod folds back onto itself at vertex {}", k + 1));
    rest_curvature_.push_back(material.rest_curvature ? *material.rest_curvature * m : bend.k < kStraight ? 0 : bend.k);
  }
}

void RodEnergy::evaluate(const Pose& pose, Range range, double* values, double* gradients) const {
  const double EA = material_.stretching_rigidity();
  for (Index s = range.begin; s < range.end; ++s) {
    const Vec3 x0 = node(pose.x, stencils_[s][0]), x1 = node(pose.x, stencils_[s][1]);
    const Vec3 e = x1 - x0;
    const double rest = length_[at(s)], length = e.norm(), stretched = length - rest;
    double value = 0.5 * EA / rest * stretched * stretched;
    Vec3 by_e = Vec3::Zero(), by_f = Vec3::Zero();
    // Two ends in one place have no direction to push in: an unstable equilibrium, as of springs.
    if (length > 0) by_e = EA / rest * stretched / length * e;
    if (bends(s)) {
      const Bend bend(e, Vec3(node(pose.x, stencils_[s][2])) - x1);
      const double c = stiffness_[at(s)], k0 = rest_curvature_[at(s)];
      if (bend.is_folded()) {
        value = std::numeric_limits<double>::infinity();
      } else {
        value += 0.5 * c * (bend.k - k0) * (bend.k - k0);
        const double slope = BendSlopes(bend, c, k0).first;
        by_e += slope / bend.le * bend.n.cross(bend.a);
        by_f = slope / bend.lf * bend.b.cross(bend.n);
      }
    }
    *values++ = value;
    if (!gradients) continue;
    Eigen::Map<Vec3>{gradients} = -by_e;
    Eigen::Map<Vec3>{gradients + 3} = by_e - by_f;
    Eigen::Map<Vec3>{gradients + 6} = by_f;
    gradients += 9;
  }
}

void RodEnergy::hessians(const Pose& pose, Range range, Projection projection, double* blocks) const {
  const double EA = material_.stretching_rigidity();
  const bool is_whole = !is_pointwise(projection);
  for (Index s = range.begin; s < range.end; ++s, blocks += 9 * local_blocks(3)) {
    const Vec3 x0 = node(pose.x, stencils_[s][0]), x1 = node(pose.x, stencils_[s][1]);
    const Vec3 e = x1 - x0;
    const double rest = length_[at(s)], length = std::max(e.norm(), 1e-9 * rest);
    double sideways = 1 - rest / length;
    if (!is_whole) sideways = std::max(sideways, 0.0);
    const Vec3 a = e / length;
    Matrix6 by_segments = Matrix6::Zero();
    by_segments.topLeftCorner<3, 3>() = EA / rest * (sideways * Mat3::Identity() + (1 - sideways) * a * a.transpose());
    if (bends(s)) {
      const Bend bend(e, Vec3(node(pose.x, stencils_[s][2])) - x1);
      const double c = stiffness_[at(s)], k0 = rest_curvature_[at(s)];
      if (!bend.is_folded()) by_segments += is_whole ? bend_hessian(bend, c, k0) : positive_bend_hessian(bend, c, k0);
    }
    by_segments = (0.5 * (by_segments + by_segments.transpose())).eval();
    Matrix9 H = by_corners(by_segments);
    if (projection == Projection::numerical) project_psd(H);
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i <= j; ++i) Eigen::Map<Mat3>{blocks + 9 * (j * (j + 1) / 2 + i)} = H.block<3, 3>(3 * i, 3 * j);
  }
}

std::vector<RodEnergy::Strain> RodEnergy::strains(const VecX& x) const {
  std::vector<Strain> strains(length_.size());
  for (Index s = 0; s < stencils_.count(); ++s) {
    const Vec3 x1 = node(x, stencils_[s][1]), e = x1 - Vec3(node(x, stencils_[s][0]));
    strains[at(s)].stretch = e.norm() / length_[at(s)] - 1;
    const std::size_t next = (at(s) + 1) % length_.size();
    if (!is_closed_ && next == 0) continue;
    const Bend bend(e, Vec3(node(x, stencils_[s][2])) - x1);
    const double change = std::abs(bend.k - rest_curvature_[at(s)]) / (0.5 * (length_[at(s)] + length_[next]));
    for (std::size_t end : {at(s), next}) strains[end].curvature = std::max(strains[end].curvature, change);
  }
  return strains;
}

/// Of a rod that is straight, kb is the change of direction across it.
std::array<RodEnergy::Row, 2> RodEnergy::rest_rows(Index s) const {
  const double le = length_[at(s)], lf = next_length_[at(s)];
  return {Row{Vec3(-1, 1, 0), material_.stretching_rigidity() / le},
          Row{Vec3(1 / le, -1 / le - 1 / lf, 1 / lf), stiffness_[at(s)]}};
}

}  // namespace pliant
