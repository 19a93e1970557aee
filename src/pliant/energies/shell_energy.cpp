#include "pliant/energies/shell_energy.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <map>

#include "pliant/base/error.hpp"
#include "pliant/energies/hinge_angle.hpp"
#include "pliant/math/psd_projection.hpp"

namespace pliant {

namespace {

using SheetShape = Eigen::Matrix<double, 3, 2>;  ///< F, or the edges of a triangle
using Matrix12 = Eigen::Matrix<double, 12, 12>;
using Matrix18 = Eigen::Matrix<double, 18, 18>;

double triangle_area(const Vec3& a, const Vec3& b, const Vec3& c) { return 0.5 * (b - a).cross(c - a).norm(); }

/// The edges from the first corner of a triangle in a basis of its own plane.
Eigen::Matrix2d flat_edges(const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 u = (b - a).normalized(), v = (b - a).cross(c - a).cross(b - a).normalized();
  Eigen::Matrix2d D;
  D << u.dot(b - a), u.dot(c - a), v.dot(b - a), v.dot(c - a);
  return D;
}

/// For each edge of each triangle the vertex beyond it; -1 at a rim.
std::vector<Triangle> vertices_beyond(std::span<const Triangle> triangles) {
  struct Side {
    std::size_t triangle, edge;
  };
  std::map<std::pair<Index, Index>, std::vector<Side>> sides;
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k)
      sides[std::minmax(triangles[t][k], triangles[t][(k + 1) % 3])].push_back({t, k});
  std::vector<Triangle> beyond(triangles.size(), {-1, -1, -1});
  for (const auto& [edge, of] : sides) {
    if (of.size() > 2)
      throw InputError(fmt::format(
          "more than two triangles meet at the edge between the vertices {} and {}; a shell has at most two "
          "there",
          edge.first, edge.second));
    for (std::size_t k = 0; k < of.size() && of.size() == 2; ++k)
      beyond[of[k].triangle][of[k].edge] = triangles[of[1 - k].triangle][(of[1 - k].edge + 2) % 3];
  }
  return beyond;
}

/// How high a corner is above an edge.
double height_above(const Vec3& from, const Vec3& to, const Vec3& corner) {
  return (to - from).cross(corner - from).norm() / (to - from).norm();
}

/// K by each of the angles at a triangle's edges: 2/(h + h') n n^T. x: the corners and those beyond the edges, unused
/// at a rim, where the triangle beyond is taken to be as high.
std::array<Eigen::Matrix2d, 3> curvature_by_angle(const Eigen::Matrix2d& D, const Triangle& beyond,
                                                  const std::array<Vec3, 6>& x) {
  const std::array<Eigen::Vector2d, 3> corner = {Eigen::Vector2d::Zero(), D.col(0), D.col(1)};
  std::array<Eigen::Matrix2d, 3> B;
  for (std::size_t k = 0; k < 3; ++k) {
    const Eigen::Vector2d u = (corner[(k + 1) % 3] - corner[k]).normalized(), n(-u.y(), u.x());
    const double h = height_above(x[k], x[(k + 1) % 3], x[(k + 2) % 3]);
    const double other = beyond[k] < 0 ? h : height_above(x[k], x[(k + 1) % 3], x[3 + k]);
    B[k] = 2 / (h + other) * n * n.transpose();
  }
  return B;
}

/// The part of a stress that pulls: what is pressed together has a geometric stiffness that is negative.
Eigen::Matrix2d tension(const Eigen::Matrix2d& S) {
  const double mean = 0.5 * S.trace(), radius = std::hypot(0.5 * (S(0, 0) - S(1, 1)), S(0, 1));
  if (mean - radius >= 0) return S;
  if (mean + radius <= 0) return Eigen::Matrix2d::Zero();
  // S = mean + radius N with N^2 = 1: the projector on its larger eigenvalue is (1 + N)/2.
  return (mean + radius) / 2 * (Eigen::Matrix2d::Identity() + (S - mean * Eigen::Matrix2d::Identity()) / radius);
}

/// The quadratic form of a plate's bending over the angles of a triangle's edges (J), with those of the rim eliminated.
Mat3 bending_form(const std::array<Eigen::Matrix2d, 3>& B, double area, const Triangle& beyond, double rigidity,
                  double nu) {
  Mat3 Q;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      Q(i, j) = area * rigidity *
                ((1 - nu) * B[at(i)].cwiseProduct(B[at(j)]).sum() + nu * B[at(i)].trace() * B[at(j)].trace());
  for (int k = 0; k < 3; ++k)
    if (beyond[at(k)] < 0) {
      const Vec3 column = Q.col(k);
      if (Q(k, k) > 0) Q -= column * column.transpose() / Q(k, k);
      Q.row(k).setZero();
      Q.col(k).setZero();
    }
  return Q;
}

/// What a strain limit adds to the blocks of the corners: the change of the principal strain along n is
/// sum (n . b_a) (F n . dx_a), that of the strain between n and m the mean of (n . b_a) F m and (m . b_a) F n.
void add_limit(const StrainLimit::Response& limit, const SheetShape& F, const Eigen::Matrix<double, 2, 3>& b,
               double area, Matrix18& H) {
  const Eigen::Vector2d n = limit.directions.col(0), m = limit.directions.col(1);
  const Vec3 Fn = F * n, Fm = F * m;
  Eigen::Matrix<double, 9, 3> J;
  for (int a = 0; a < 3; ++a) {
    const double bn = n.dot(b.col(a)), bm = m.dot(b.col(a));
    J.block<3, 1>(3 * a, 0) = bn * Fn;
    J.block<3, 1>(3 * a, 1) = bm * Fm;
    J.block<3, 1>(3 * a, 2) = 0.5 * (bn * Fm + bm * Fn);
  }
  const Vec3 stiffness(limit.along[0], limit.along[1], 2 * limit.across);
  H.topLeftCorner<9, 9>() += area * J * stiffness.asDiagonal() * J.transpose();
}

/// At a vertex of three triangles one that is beyond two edges is there twice: its rows and columns belong together.
void fold_repeated(const Index* nodes, Matrix18& H) {
  for (int b = 3; b < 6; ++b)
    for (int a = 0; a < b; ++a) {
      if (nodes[a] != nodes[b]) continue;
      H.middleRows<3>(3 * a) += H.middleRows<3>(3 * b);
      H.middleCols<3>(3 * a) += H.middleCols<3>(3 * b);
      H.middleRows<3>(3 * b).setZero();
      H.middleCols<3>(3 * b).setZero();
      break;
    }
}

/// Blocks (a, b) with a <= b of a symmetric matrix, as Energy::hessians wants them.
template <class Matrix>
void write_blocks(const Matrix& H, int nodes, double* blocks) {
  for (int b = 0; b < nodes; ++b)
    for (int a = 0; a <= b; ++a)
      Eigen::Map<Mat3>{blocks + 9 * (b * (b + 1) / 2 + a)} = H.template block<3, 3>(3 * a, 3 * b);
}

}  // namespace

std::vector<double> vertex_areas(std::span<const Vec3> vertices, std::span<const Triangle> triangles) {
  std::vector<double> areas(vertices.size(), 0.0);
  for (const Triangle& t : triangles)
    for (Index v : t) areas[at(v)] += triangle_area(vertices[at(t[0])], vertices[at(t[1])], vertices[at(t[2])]) / 3;
  return areas;
}

ShellEnergy::ShellEnergy(std::span<const Vec3> vertices, std::span<const Triangle> triangles,
                         const ShellMaterial& material, Index first_node)
    : material_(material) {
  const double Y = material.young, nu = material.poisson, t = material.thickness;
  mu_ = t * Y / (2 * (1 + nu));
  lambda_ = t * Y * nu / (1 - nu * nu);
  if (material.strain_limit > 0) {
    constexpr double kStiffening = 1000;  // of a strain that is twice the limit
    const double s = material.strain_limit;
    limit_.limit = s * (1 + s / 2);
    limit_.stiffness = kStiffening * t * Y / limit_.limit;
  }
  stencils_.size = 6;
  const std::vector<Triangle> beyond = vertices_beyond(triangles);
  const double rigidity = material.bending * Y * t * t * t / (12 * (1 - nu * nu));
  for (std::size_t k = 0; k < triangles.size(); ++k) {
    const Triangle& corners = triangles[k];
    const Vec3 &a = vertices[at(corners[0])], &b = vertices[at(corners[1])], &c = vertices[at(corners[2])];
    area_.push_back(triangle_area(a, b, c));
    const Eigen::Matrix2d D = flat_edges(a, b, c);
    if (!(area_.back() > 1e-14 * D.squaredNorm()))
      throw InputError(
          fmt::format("the triangle of the vertices {}, {}, {} has no area", corners[0], corners[1], corners[2]));
    inverse_edges_.push_back(D.inverse());
    for (Index v : corners) stencils_.nodes.push_back(v);
    for (Index v : beyond[k]) stencils_.nodes.push_back(v < 0 ? corners[0] : v);
    std::array<Vec3, 6> x;
    for (std::size_t i = 0; i < 6; ++i) x[i] = vertices[at(stencils_.nodes[6 * k + i])];
    rest_.insert(rest_.end(), x.begin(), x.end());
    const auto curvature = curvature_by_angle(D, beyond[k], x);
    bending_.push_back(bending_form(curvature, area_.back(), beyond[k], rigidity, nu));
    Vec3 angles = Vec3::Zero();
    for (int e = 0; e < 3; ++e)
      if (bending_.back()(e, e) > 0) angles[e] = hinge_angle(hinge(x, e));
    angles_.push_back(angles);
  }
  for (Index& i : stencils_.nodes) i += first_node;
}

std::array<Vec3, 4> ShellEnergy::hinge(const std::array<Vec3, 6>& x, int edge) const {
  const auto k = at(edge);
  return {x[k], x[(k + 1) % 3], x[(k + 2) % 3], x[3 + k]};
}

namespace {

/// F of a triangle, from the inverse of its edges at rest.
SheetShape deformation(const std::array<Vec3, 6>& x, const Eigen::Matrix2d& inverse_edges) {
  SheetShape edges;
  edges << x[1] - x[0], x[2] - x[0];
  return edges * inverse_edges;
}

/// Where the nodes of an edge's hinge are in a stencil.
constexpr int kHingeNodes[3][4] = {{0, 1, 2, 3}, {1, 2, 0, 4}, {2, 0, 1, 5}};

}  // namespace

void ShellEnergy::evaluate(const Pose& pose, Range range, double* values, double* gradients) const {
  for (Index s = range.begin; s < range.end; ++s) {
    std::array<Vec3, 6> x;
    for (std::size_t k = 0; k < 6; ++k) x[k] = node(pose.x, stencils_[s][k]);
    const Eigen::Matrix2d& B = inverse_edges_[at(s)];
    const SheetShape F = deformation(x, B);
    const Eigen::Matrix2d E = 0.5 * (F.transpose() * F - Eigen::Matrix2d::Identity());
    const Mat3& Q = bending_[at(s)];
    Vec3 turned = Vec3::Zero();
    std::array<HingeAngle, 3> angles;
    for (int e = 0; e < 3; ++e) {
      if (!(Q(e, e) > 0)) continue;
      if (gradients)
        angles[at(e)] = hinge_gradient(hinge(x, e));
      else
        angles[at(e)].theta = hinge_angle(hinge(x, e));
      turned[e] = angles[at(e)].theta - angles_[at(s)][e];
    }
    const Vec3 moment = Q * turned;
    double energy = mu_ * E.squaredNorm() + 0.5 * lambda_ * E.trace() * E.trace();
    Eigen::Matrix2d S = 2 * mu_ * E + lambda_ * E.trace() * Eigen::Matrix2d::Identity();
    if (is_limited()) {
      const StrainLimit::Response beyond = limit_(E);
      energy += beyond.energy;
      S += beyond.stress;
    }
    *values++ = area_[at(s)] * energy + 0.5 * turned.dot(moment);
    if (!gradients) continue;
    const SheetShape P = area_[at(s)] * F * S * B.transpose();
    Eigen::Map<Eigen::Matrix<double, 18, 1>> g(gradients);
    g.setZero();
    g.segment<3>(0) = -P.col(0) - P.col(1);
    g.segment<3>(3) = P.col(0);
    g.segment<3>(6) = P.col(1);
    for (int e = 0; e < 3; ++e)
      for (int k = 0; k < 4 && Q(e, e) > 0; ++k)
        g.segment<3>(3 * kHingeNodes[e][k]) += moment[e] * angles[at(e)].gradient.segment<3>(3 * k);
    gradients += 18;
  }
}

void ShellEnergy::hessians(const Pose& pose, Range range, Projection projection, double* blocks) const {
  for (Index s = range.begin; s < range.end; ++s, blocks += 9 * local_blocks(6)) {
    std::array<Vec3, 6> x;
    for (std::size_t k = 0; k < 6; ++k) x[k] = node(pose.x, stencils_[s][k]);
    const Eigen::Matrix2d& B = inverse_edges_[at(s)];
    const SheetShape F = deformation(x, B);
    const Eigen::Matrix2d E = 0.5 * (F.transpose() * F - Eigen::Matrix2d::Identity());
    Eigen::Matrix2d S = 2 * mu_ * E + lambda_ * E.trace() * Eigen::Matrix2d::Identity();
    const StrainLimit::Response beyond = is_limited() ? limit_(E) : StrainLimit::Response();
    if (!beyond.is_slack()) S += beyond.stress;
    if (is_pointwise(projection)) S = tension(S);
    // F = sum x_a b_a^T with the gradients b_a of the three shape functions, so that the block of two corners is
    // A ((b_a . S b_b) 1 + mu ((b_a . b_b) F F^T + F b_b b_a^T F^T) + lambda F b_a b_b^T F^T).
    Eigen::Matrix<double, 2, 3> b;
    b.col(1) = B.row(0).transpose();
    b.col(2) = B.row(1).transpose();
    b.col(0) = -b.col(1) - b.col(2);
    const Mat3 Fb = F * b, FF = F * F.transpose();
    Matrix18 H = Matrix18::Zero();
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        H.block<3, 3>(3 * i, 3 * j) =
            area_[at(s)] * (b.col(i).dot(S * b.col(j)) * Mat3::Identity() +
                            mu_ * (b.col(i).dot(b.col(j)) * FF + Fb.col(j) * Fb.col(i).transpose()) +
                            lambda_ * Fb.col(i) * Fb.col(j).transpose());
    if (!beyond.is_slack()) add_limit(beyond, F, b, area_[at(s)], H);
    add_bending(s, x, projection, H);
    if (projection == Projection::numerical) project_psd(H);
    fold_repeated(stencils_[s], H);
    write_blocks(H, 6, blocks);
  }
}

/// sum Q_ef grad theta_e grad theta_f^T + sum (Q (theta - theta_0))_e times the Hessian of theta_e, of which analytic
/// projection keeps the first.
void ShellEnergy::add_bending(Index s, const std::array<Vec3, 6>& x, Projection projection,
                              Eigen::Matrix<double, 18, 18>& H) const {
  const bool is_whole = !is_pointwise(projection);
  const Mat3& Q = bending_[at(s)];
  Eigen::Matrix<double, 18, 3> J = Eigen::Matrix<double, 18, 3>::Zero();
  std::array<Matrix12, 3> second;
  Vec3 turned = Vec3::Zero();
  for (int e = 0; e < 3; ++e) {
    if (!(Q(e, e) > 0)) continue;
    HingeAngle angle;
    if (is_whole)
      second[at(e)] = hinge_hessian(hinge(x, e), angle);
    else
      angle = hinge_gradient(hinge(x, e));
    turned[e] = angle.theta - angles_[at(s)][e];
    for (int k = 0; k < 4; ++k) J.block<3, 1>(3 * kHingeNodes[e][k], e) = angle.gradient.segment<3>(3 * k);
  }
  const Vec3 moment = Q * turned;
  H += J * Q * J.transpose();
  if (!is_whole) return;
  for (int e = 0; e < 3; ++e)
    for (int k = 0; k < 4 && Q(e, e) > 0; ++k)
      for (int l = 0; l < 4; ++l)
        H.block<3, 3>(3 * kHingeNodes[e][k], 3 * kHingeNodes[e][l]) +=
            moment[e] * second[at(e)].block<3, 3>(3 * k, 3 * l);
}

std::vector<ShellEnergy::Row> ShellEnergy::rest_rows(Index s) const {
  const Eigen::Matrix2d& B = inverse_edges_[at(s)];
  std::vector<Row> rows;
  for (int k = 0; k < 2; ++k) {
    Row row{Eigen::Matrix<double, 6, 1>::Zero(), area_[at(s)] * (2 * mu_ + lambda_)};
    row.weights.head<3>() << -B(0, k) - B(1, k), B(0, k), B(1, k);
    rows.push_back(row);
  }
  // Of a flat shell all gradients of an angle are along its normal: as if it were. Angles alone, without what couples
  // them, are no softer than half of their form.
  std::array<Vec3, 6> x;
  std::copy_n(rest_.data() + 6 * at(s), 6, x.begin());
  for (int edge = 0; edge < 3; ++edge) {
    if (!(bending_[at(s)](edge, edge) > 0)) continue;
    const std::array<Vec3, 4> h = hinge(x, edge);
    const Vec3 e = h[1] - h[0];
    const double g2 = e.norm() / e.cross(h[2] - h[0]).norm(), g3 = e.norm() / e.cross(h[3] - h[0]).norm();
    const double t2 = e.dot(h[2] - h[0]) / e.squaredNorm(), t3 = e.dot(h[3] - h[0]) / e.squaredNorm();
    const double weights[4] = {-(1 - t2) * g2 - (1 - t3) * g3, -t2 * g2 - t3 * g3, g2, g3};
    Row row{Eigen::Matrix<double, 6, 1>::Zero(), bending_[at(s)](edge, edge)};
    for (int k = 0; k < 4; ++k) row.weights[kHingeNodes[edge][k]] = weights[k];
    rows.push_back(row);
  }
  return rows;
}

}  // namespace pliant
