#include "pliant/energies/shell_energy.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <map>

#include "pliant/base/error.hpp"
#include "pliant/energies/hinge_angle.hpp"
#include "pliant/math/psd_projection.hpp"

namespace pliant {

namespace {

using SheetShape = Eigen::Matrix<double, 3, 2>;  ///< F, or the edges of a triangle
using Matrix12 = Eigen::Matrix<double, 12, 12>;

double triangle_area(const Vec3& a, const Vec3& b, const Vec3& c) { return 0.5 * (b - a).cross(c - a).norm(); }

/// The edges from the first corner of a triangle in a basis of its own plane.
Eigen::Matrix2d flat_edges(const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 u = (b - a).normalized(), v = (b - a).cross(c - a).cross(b - a).normalized();
  Eigen::Matrix2d D;
  D << u.dot(b - a), u.dot(c - a), v.dot(b - a), v.dot(c - a);
  return D;
}

struct HingeNodes {
  std::array<Index, 4> nodes;
};

/// The edges with a triangle on either side, in the order in which they are met.
std::vector<HingeNodes> hinges_of(std::span<const Triangle> triangles) {
  struct Side {
    Index opposite;
    bool is_forward;  ///< from the lower vertex to the higher
    int count;
    Index other;
  };
  std::map<std::pair<Index, Index>, Side> edges;
  std::vector<std::pair<Index, Index>> order;
  for (const Triangle& t : triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = t[k], b = t[(k + 1) % 3], c = t[(k + 2) % 3];
      const std::pair<Index, Index> edge = std::minmax(a, b);
      const auto [found, is_new] = edges.try_emplace(edge, Side{c, a < b, 1, -1});
      if (is_new) continue;
      if (++found->second.count > 2)
        throw InputError(
            fmt::format("more than two triangles meet at the edge between the vertices {} and {}; a shell "
                        "has at most two there",
                        edge.first, edge.second));
      found->second.other = c;
      order.push_back(edge);
    }
  std::vector<HingeNodes> hinges;
  for (const auto& edge : order) {
    const Side& side = edges.at(edge);
    hinges.push_back({side.is_forward ? std::array<Index, 4>{edge.first, edge.second, side.opposite, side.other}
                                      : std::array<Index, 4>{edge.second, edge.first, side.opposite, side.other}});
  }
  return hinges;
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
  stencils_.size = 4;
  const auto add = [&](const auto& corners) {
    for (Index v : corners) {
      stencils_.nodes.push_back(first_node + v);
      rest_.push_back(vertices[at(v)]);
    }
  };
  for (const Triangle& corners : triangles) {
    const Vec3 &a = vertices[at(corners[0])], &b = vertices[at(corners[1])], &c = vertices[at(corners[2])];
    area_.push_back(triangle_area(a, b, c));
    const Eigen::Matrix2d D = flat_edges(a, b, c);
    if (!(area_.back() > 1e-14 * D.squaredNorm()))
      throw InputError(
          fmt::format("the triangle of the vertices {}, {}, {} has no area", corners[0], corners[1], corners[2]));
    inverse_edges_.push_back(D.inverse());
    add(std::array<Index, 4>{corners[0], corners[1], corners[2], corners[0]});
  }
  const double D = material.bending * Y * t * t * t / (12 * (1 - nu * nu));
  if (D == 0) return;
  for (const HingeNodes& hinge : hinges_of(triangles)) {
    std::array<Vec3, 4> x;
    for (std::size_t k = 0; k < 4; ++k) x[k] = vertices[at(hinge.nodes[k])];
    const double area = triangle_area(x[0], x[1], x[2]) + triangle_area(x[0], x[1], x[3]);
    hinge_.push_back(D * (x[1] - x[0]).squaredNorm() / area);
    angle_.push_back(hinge_angle(x));
    add(hinge.nodes);
  }
}

void ShellEnergy::evaluate(const Pose& pose, Range range, double* values, double* gradients) const {
  const Index triangles = triangle_count();
  for (Index s = range.begin; s < range.end; ++s) {
    const Index* nodes = stencils_[s];
    const auto x = [&](int k) -> Vec3 { return node(pose.x, nodes[k]); };
    if (s < triangles) {
      const Eigen::Matrix2d& B = inverse_edges_[at(s)];
      SheetShape edges;
      edges << x(1) - x(0), x(2) - x(0);
      const SheetShape F = edges * B;
      const Eigen::Matrix2d E = 0.5 * (F.transpose() * F - Eigen::Matrix2d::Identity());
      *values++ = area_[at(s)] * (mu_ * E.squaredNorm() + 0.5 * lambda_ * E.trace() * E.trace());
      if (!gradients) continue;
      const Eigen::Matrix2d S = 2 * mu_ * E + lambda_ * E.trace() * Eigen::Matrix2d::Identity();
      const SheetShape P = area_[at(s)] * F * S * B.transpose();
      Eigen::Map<Vec3>{gradients} = -P.col(0) - P.col(1);
      Eigen::Map<Vec3>{gradients + 3} = P.col(0);
      Eigen::Map<Vec3>{gradients + 6} = P.col(1);
      Eigen::Map<Vec3>{gradients + 9}.setZero();
    } else {
      const auto h = at(s - triangles);
      const std::array<Vec3, 4> corners = {x(0), x(1), x(2), x(3)};
      if (!gradients) {
        const double turned = hinge_angle(corners) - angle_[h];
        *values++ = 0.5 * hinge_[h] * turned * turned;
        continue;
      }
      const HingeAngle angle = hinge_gradient(corners);
      const double turned = angle.theta - angle_[h];
      *values++ = 0.5 * hinge_[h] * turned * turned;
      Eigen::Map<Eigen::Matrix<double, 12, 1>>{gradients} = hinge_[h] * turned * angle.gradient;
    }
    gradients += 12;
  }
}

void ShellEnergy::hessians(const Pose& pose, Range range, Projection projection, double* blocks) const {
  const Index triangles = triangle_count();
  for (Index s = range.begin; s < range.end; ++s, blocks += 9 * local_blocks(4)) {
    const Index* nodes = stencils_[s];
    const auto x = [&](int k) -> Vec3 { return node(pose.x, nodes[k]); };
    if (s >= triangles) {
      const auto h = at(s - triangles);
      HingeAngle angle;
      Matrix12 H = hinge_hessian({x(0), x(1), x(2), x(3)}, angle);
      H = hinge_[h] * ((angle.theta - angle_[h]) * H + angle.gradient * angle.gradient.transpose());
      if (projection != Projection::none) project_psd(H);
      write_blocks(H, 4, blocks);
      continue;
    }
    const Eigen::Matrix2d& B = inverse_edges_[at(s)];
    SheetShape edges;
    edges << x(1) - x(0), x(2) - x(0);
    const SheetShape F = edges * B;
    const Eigen::Matrix2d E = 0.5 * (F.transpose() * F - Eigen::Matrix2d::Identity());
    const Eigen::Matrix2d S = 2 * mu_ * E + lambda_ * E.trace() * Eigen::Matrix2d::Identity();
    // F = sum x_a b_a^T with the gradients b_a of the three shape functions, so that the block of two corners is
    // A ((b_a . S b_b) 1 + mu ((b_a . b_b) F F^T + F b_b b_a^T F^T) + lambda F b_a b_b^T F^T).
    Eigen::Matrix<double, 2, 3> b;
    b.col(1) = B.row(0).transpose();
    b.col(2) = B.row(1).transpose();
    b.col(0) = -b.col(1) - b.col(2);
    const Eigen::Matrix<double, 3, 3> Fb = F * b;
    const Mat3 FF = F * F.transpose();
    Mat9 H;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        H.block<3, 3>(3 * i, 3 * j) =
            area_[at(s)] * (b.col(i).dot(S * b.col(j)) * Mat3::Identity() +
                            mu_ * (b.col(i).dot(b.col(j)) * FF + Fb.col(j) * Fb.col(i).transpose()) +
                            lambda_ * Fb.col(i) * Fb.col(j).transpose());
    if (projection != Projection::none) project_psd(H);
    std::fill_n(blocks, 9 * local_blocks(4), 0.0);
    write_blocks(H, 3, blocks);
  }
}

std::vector<ShellEnergy::Row> ShellEnergy::rest_rows(Index s) const {
  const Vec3* x = rest_.data() + 4 * at(s);
  if (s < triangle_count()) {
    const Eigen::Matrix2d& B = inverse_edges_[at(s)];
    std::vector<Row> rows;
    for (int k = 0; k < 2; ++k)
      rows.push_back({{-B(0, k) - B(1, k), B(0, k), B(1, k), 0}, area_[at(s)] * (2 * mu_ + lambda_)});
    return rows;
  }
  // Of a flat shell all four gradients of the angle are along its normal: as if it were.
  const Vec3 e = x[1] - x[0];
  const double g2 = e.norm() / e.cross(x[2] - x[0]).norm(), g3 = e.norm() / e.cross(x[3] - x[0]).norm();
  const double t2 = e.dot(x[2] - x[0]) / e.squaredNorm(), t3 = e.dot(x[3] - x[0]) / e.squaredNorm();
  const Row row{{-(1 - t2) * g2 - (1 - t3) * g3, -t2 * g2 - t3 * g3, g2, g3}, hinge_[at(s - triangle_count())]};
  return {row};
}

}  // namespace pliant
