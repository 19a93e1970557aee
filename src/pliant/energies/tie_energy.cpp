#include "pliant/energies/tie_energy.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pliant {

namespace {

Mat3 cross(const Vec3& a) {
  Mat3 m;
  m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return m;
}

/// Nodes that both ends have in common are one node with both weights. What slides or is moved lies between two bodies.
std::vector<Tie> merged(std::vector<Tie> ties) {
  for (Tie& tie : ties) {
    if (tie.slides() || tie.motion) continue;
    std::vector<Index> nodes;
    std::vector<double> weights;
    for (std::size_t a = 0; a < tie.nodes.size(); ++a) {
      const auto found = std::find(nodes.begin(), nodes.end(), tie.nodes[a]);
      if (found == nodes.end()) {
        nodes.push_back(tie.nodes[a]);
        weights.push_back(tie.weights[a]);
      } else {
        weights[static_cast<std::size_t>(found - nodes.begin())] += tie.weights[a];
      }
    }
    if (nodes.size() < tie.nodes.size()) {  // within one body
      tie.first_end = 0;
      for (std::size_t a = 0; a < nodes.size(); ++a)
        if (weights[a] > 0) {
          std::swap(nodes[a], nodes[tie.first_end]);
          std::swap(weights[a], weights[tie.first_end++]);
        }
    }
    tie.nodes = std::move(nodes);
    tie.weights = std::move(weights);
  }
  return ties;
}

Stencils tie_stencils(const std::vector<Tie>& ties) {
  std::size_t size = 1;
  for (const Tie& tie : ties) size = std::max(size, tie.nodes.size());
  Stencils stencils{static_cast<int>(size), {}};
  for (const Tie& tie : ties) {
    stencils.nodes.insert(stencils.nodes.end(), tie.nodes.begin(), tie.nodes.end());
    stencils.nodes.resize(stencils.nodes.size() + size - tie.nodes.size(), tie.nodes.front());
  }
  return stencils;
}

/// A gradient by d, spread over the nodes.
void spread_over_nodes(const Tie& tie, const Vec3& pull, const Vec3& shift, int size, double* gradients) {
  std::fill_n(gradients, 3 * size, 0.0);
  for (std::size_t a = 0; a < tie.nodes.size(); ++a) Eigen::Map<Vec3>{gradients + 3 * a} = tie.weight(a, shift) * pull;
}

/// A second derivative by d: the Hessian is w w^T with it in the place of every number, so that its eigenvalues are
/// those of B times |w|^2.
void spread_over_nodes(const Tie& tie, const Mat3& B, const Vec3& shift, int size, double* blocks) {
  std::fill_n(blocks, 9 * local_blocks(size), 0.0);
  for (std::size_t b = 0; b < tie.nodes.size(); ++b)
    for (std::size_t a = 0; a <= b; ++a)
      Eigen::Map<Mat3>{blocks + 9 * (b * (b + 1) / 2 + a)} = tie.weight(a, shift) * tie.weight(b, shift) * B;
}

/// Of k/2 |e|^2: k J_i^T e.
void store_sliding_gradient(const Tie& tie, const Vec3& a, const Vec3& d, const Vec3& shift, int size,
                            double* gradients) {
  std::fill_n(gradients, 3 * size, 0.0);
  const Vec3 pull = tie.stiffness * tie.excess(a, d);
  for (std::size_t i = 0; i < tie.nodes.size(); ++i)
    Eigen::Map<Vec3>{gradients + 3 * i} =
        tie.excess_by_node(a, d, tie.weight(i, shift), tie.axis_weight(i)).transpose() * pull;
}

/// k J_i^T J_j, and unless it is to be positive what comes from the second derivative of e, which is bilinear in a and
/// d: of e . (da x dd) = -da^T [e]x dd for a line, of e (da . dd) for a plane.
void store_sliding_hessian(const Tie& tie, const Vec3& a, const Vec3& d, const Vec3& shift, Projection projection,
                           int size, double* blocks) {
  std::fill_n(blocks, 9 * local_blocks(size), 0.0);
  const Vec3 e = tie.excess(a, d);
  for (std::size_t j = 0; j < tie.nodes.size(); ++j)
    for (std::size_t i = 0; i <= j; ++i) {
      const double wi = tie.weight(i, shift), wj = tie.weight(j, shift), vi = tie.axis_weight(i),
                   vj = tie.axis_weight(j);
      Mat3 H = tie.excess_by_node(a, d, wi, vi).transpose() * tie.excess_by_node(a, d, wj, vj);
      if (projection == Projection::none && tie.freedom == TieFreedom::line) H -= (vi * wj - wi * vj) * cross(e);
      if (projection == Projection::none && tie.freedom == TieFreedom::plane)
        H += (vi * wj + wi * vj) * e.x() * Mat3::Identity();
      Eigen::Map<Mat3>{blocks + 9 * (j * (j + 1) / 2 + i)} = tie.stiffness * H;
    }
}

/// k (|d| - r) d/|d|. Two ends in one place have no direction to push in: an unstable equilibrium.
Vec3 spring_pull(const Tie& tie, const Vec3& d) {
  if (tie.rest_length == 0) return tie.stiffness * d;
  const double length = d.norm();
  if (!(length > 0) || tie.is_slack(length)) return Vec3::Zero();
  return tie.stiffness * (length - tie.rest_length) / length * d;
}

}  // namespace

Vec3 TieMotion::shift(double time) const {
  const double v = value.at(time, 0);
  if (!turns) return v * axis;
  const Vec3 arm = place - centre;
  return Eigen::AngleAxisd(v, axis) * arm - arm;
}

Vec3 Tie::difference(const VecX& x, double time) const {
  const Vec3 moved = shift(time);
  Vec3 d = -offset;
  if (slopes.empty()) d -= moved;
  for (std::size_t a = 0; a < nodes.size(); ++a) d += weight(a, moved) * node(x, nodes[a]);
  return d;
}

Vec3 Tie::direction(const VecX& x) const {
  Vec3 a = axis;
  for (std::size_t k = 0; k < axis_weights.size(); ++k) a += axis_weights[k] * node(x, nodes[k]);
  return a;
}

Vec3 Tie::excess(const Vec3& a, const Vec3& d) const {
  return freedom == TieFreedom::line ? Vec3(a.cross(d)) : Vec3(a.dot(d), 0, 0);
}

Mat3 Tie::excess_by_node(const Vec3& a, const Vec3& d, double w, double v) const {
  if (freedom == TieFreedom::line) return w * cross(a) - v * cross(d);
  Mat3 J = Mat3::Zero();
  J.row(0) = (w * a + v * d).transpose();
  return J;
}

bool Tie::is_to_world() const { return std::abs(std::accumulate(weights.begin(), weights.end(), 0.0)) > 0.5; }

std::array<Vec3, 2> Tie::ends(const VecX& x) const {
  std::array<Vec3, 2> ends = {Vec3::Zero(), offset};
  for (std::size_t a = 0; a < nodes.size(); ++a)
    (a < first_end ? ends[0] : ends[1]) += (a < first_end ? weights[a] : -weights[a]) * node(x, nodes[a]);
  return ends;
}

TieEnergy::TieEnergy(std::vector<Tie> ties) : ties_(merged(std::move(ties))), stencils_(tie_stencils(ties_)) {}

void TieEnergy::evaluate(const Pose& pose, Range range, double* values, double* gradients) const {
  for (Index s = range.begin; s < range.end; ++s) {
    const Tie& tie = ties_[at(s)];
    const Vec3 d = tie.difference(pose.x, pose.time), shift = tie.shift(pose.time);
    if (tie.slides()) {
      const Vec3 a = tie.direction(pose.x);
      *values++ = 0.5 * tie.stiffness * tie.excess(a, d).squaredNorm();
      if (!gradients) continue;
      store_sliding_gradient(tie, a, d, shift, stencils_.size, gradients);
      gradients += 3 * stencils_.size;
      continue;
    }
    const double length = d.norm(), stretch = tie.is_slack(length) ? 0 : length - tie.rest_length;
    *values++ = 0.5 * tie.stiffness * stretch * stretch;
    if (!gradients) continue;
    spread_over_nodes(tie, spring_pull(tie, d), shift, stencils_.size, gradients);
    gradients += 3 * stencils_.size;
  }
}

/// k (n n^T + (1 - r/l) (1 - n n^T)): the second part is negative under compression, and left out by a projection.
Mat3 TieEnergy::stiffness(const Tie& tie, const Vec3& d, const VecX& x, Projection projection) {
  if (tie.slides()) {
    const Vec3 a = tie.direction(x);
    if (tie.freedom == TieFreedom::plane) return tie.stiffness * a * a.transpose();
    return tie.stiffness * (a.squaredNorm() * Mat3::Identity() - a * a.transpose());
  }
  if (tie.is_slack(d.norm())) return Mat3::Zero();
  if (tie.rest_length == 0) return tie.stiffness * Mat3::Identity();
  const double length = std::max({d.norm(), 1e-9 * tie.rest_length, std::numeric_limits<double>::min()});
  double across = 1 - tie.rest_length / length;
  if (projection != Projection::none) across = std::max(across, 0.0);
  const Vec3 n = d / length;
  return tie.stiffness * (across * Mat3::Identity() + (1 - across) * n * n.transpose());
}

void TieEnergy::append_columns(const Tie& tie, const Pose& pose, std::vector<VecX>& columns) {
  const Vec3 a = tie.direction(pose.x), d = tie.difference(pose.x, pose.time), shift = tie.shift(pose.time);
  Eigen::MatrixXd rows(3 * static_cast<Eigen::Index>(tie.nodes.size()), tie.freedom == TieFreedom::line ? 3 : 1);
  for (std::size_t i = 0; i < tie.nodes.size(); ++i)
    rows.middleRows(3 * static_cast<Eigen::Index>(i), 3) =
        tie.excess_by_node(a, d, tie.weight(i, shift), tie.axis_weight(i)).transpose().leftCols(rows.cols());
  for (Eigen::Index c = 0; c < rows.cols(); ++c) columns.emplace_back(std::sqrt(tie.stiffness) * rows.col(c));
}

Vec3 TieEnergy::force(const Tie& tie, const VecX& x, double time) {
  const Vec3 d = tie.difference(x, time);
  if (!tie.slides()) return -spring_pull(tie, d);
  const Vec3 a = tie.direction(x);
  return -tie.stiffness * tie.excess_by_node(a, d, 1, 0).transpose() * tie.excess(a, d);
}

void TieEnergy::hessians(const Pose& pose, Range range, Projection projection, double* blocks) const {
  for (Index s = range.begin; s < range.end; ++s, blocks += 9 * local_blocks(stencils_.size)) {
    const Tie& tie = ties_[at(s)];
    const Vec3 d = tie.difference(pose.x, pose.time), shift = tie.shift(pose.time);
    if (tie.slides())
      store_sliding_hessian(tie, tie.direction(pose.x), d, shift, projection, stencils_.size, blocks);
    else
      spread_over_nodes(tie, stiffness(tie, d, pose.x, projection), shift, stencils_.size, blocks);
  }
}

void LinearisedTies::hessians(const Pose& pose, Range range, Projection projection, double* blocks) const {
  for (Index s = range.begin; s < range.end; ++s, blocks += 9 * local_blocks(stencils().size))
    of_.hessians(pose, {s, s + 1}, of_.ties()[at(s)].slides() ? Projection::analytic : projection, blocks);
}

TieDamping::TieDamping(const TieEnergy& of)
    : of_(of), resistance_(of.ties().size(), Mat3::Zero()), start_(of.ties().size(), Vec3::Zero()) {}

void TieDamping::begin_step(const VecX& x_n, double time, double h) {
  for (std::size_t s = 0; s < start_.size(); ++s) {
    const Tie& tie = of_.ties()[s];
    start_[s] = tie.difference(x_n, time);
    resistance_[s] = tie.damping / h * directions(tie, x_n, time);
  }
}

Mat3 TieDamping::directions(const Tie& tie, const VecX& x, double time) {
  if (tie.freedom == TieFreedom::none && tie.rest_length == 0) return Mat3::Identity();
  const Vec3 d = tie.slides() ? tie.direction(x) : tie.difference(x, time);
  const Vec3 n = d.norm() > 0 ? Vec3(d.normalized()) : Vec3(Vec3::Zero());
  const Mat3 along = n * n.transpose();
  return tie.freedom == TieFreedom::plane ? Mat3(Mat3::Identity() - along) : along;
}

void TieDamping::evaluate(const Pose& pose, Range range, double* values, double* gradients) const {
  for (Index s = range.begin; s < range.end; ++s) {
    const Tie& tie = of_.ties()[at(s)];
    const Vec3 moved = tie.difference(pose.x, pose.time) - start_[at(s)], pull = resistance_[at(s)] * moved;
    *values++ = 0.5 * moved.dot(pull);
    if (!gradients) continue;
    spread_over_nodes(tie, pull, tie.shift(pose.time), stencils().size, gradients);
    gradients += 3 * stencils().size;
  }
}

void TieDamping::hessians(const Pose& pose, Range range, Projection, double* blocks) const {
  for (Index s = range.begin; s < range.end; ++s, blocks += 9 * local_blocks(stencils().size))
    spread_over_nodes(of_.ties()[at(s)], resistance_[at(s)], of_.ties()[at(s)].shift(pose.time), stencils().size,
                      blocks);
}

}  // namespace pliant
