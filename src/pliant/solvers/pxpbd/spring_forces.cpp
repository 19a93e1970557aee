#include "pliant/solvers/pxpbd/spring_forces.hpp"

#include <Eigen/Geometry>

#include <Eigen/Cholesky>
#include <algorithm>

namespace pliant::pbd {

namespace {

double inverse_mass_of(const double* nodes, const double* axes, Index node, std::size_t axis) {
  const std::size_t i = at(node);
  return nodes[4 * i + 3] * (axes ? axes[3 * i + axis] : 1.0);
}

}  // namespace

/// To the node itself, or to those of the grid that it hangs in.
void SpringForces::add_share(Point& point, Index node, double weight, double axis_weight,
                             const BackgroundGrid* grid) const {
  const auto add = [&](Index unknown, double share, double axis_share) {
    if (share == 0 && axis_share == 0) return;
    const auto found =
        std::find_if(point.shares.begin(), point.shares.end(), [&](const Share& s) { return s.node == unknown; });
    if (found == point.shares.end()) {
      point.shares.push_back({unknown, share, axis_share});
      return;
    }
    found->weight += share;
    found->axis_weight += axis_share;
  };
  if (!grid) return add(node, weight, axis_weight);
  const GridPoint& at_node = grid->points()[at(node)];
  for (std::size_t c = 0; c < 8; ++c)
    add(at_node.nodes[c], weight * at_node.weights[c], axis_weight * at_node.weights[c]);
}

void SpringForces::begin_step(std::span<const Grab> grabs, const TieEnergy* ties, const VecX& x_n, double time,
                              double h, const BackgroundGrid* grid) {
  h2_ = h * h;
  points_.clear();
  for (const Grab& grab : grabs) {
    Point& point = points_.emplace_back(Point{{}, grab.target, grab.stiffness});
    for (std::size_t a = 0; a < 3; ++a) add_share(point, grab.nodes[a], grab.weights[a], 0, grid);
  }
  if (ties)
    for (const Tie& tie : ties->ties()) add_tie(tie, x_n, time, h, grid);
}

/// Damping is a spring of stiffness c/h to where the step begins: added to a tie, and beside a spring, along which it
/// acts.
void SpringForces::add_tie(const Tie& tie, const VecX& x_n, double time, double h, const BackgroundGrid* grid) {
  Point point{{}, tie.offset, tie.stiffness};
  const Vec3 shift = tie.shift(time);
  if (tie.slopes.empty()) point.target += shift;
  for (std::size_t a = 0; a < tie.nodes.size(); ++a)
    add_share(point, tie.nodes[a], tie.weight(a, shift), tie.axis_weight(a), grid);
  const Vec3 d_n = tie.difference(x_n, time - h);
  const double resistance = tie.damping / h;
  point.side = tie.side;
  if (tie.slides()) {
    point.tie = &tie;
    return add_sliding(std::move(point), x_n, d_n, resistance);
  }
  if (tie.rest_length == 0) {
    point.target += resistance / (tie.stiffness + resistance) * d_n;
    point.stiffness += resistance;
    points_.push_back(std::move(point));
    return;
  }
  point.along = Along::itself;
  point.rest_length = tie.rest_length;
  points_.push_back(point);
  if (!(resistance > 0) || !(d_n.norm() > 0)) return;
  point.along = Along::direction;
  point.direction = d_n.normalized();
  point.rest_length = d_n.norm();
  point.stiffness = resistance;
  points_.push_back(std::move(point));
}

/// Its resistance is along the directions in which it is free, as they are where the step begins.
void SpringForces::add_sliding(Point point, const VecX& x_n, const Vec3& d_n, double resistance) {
  const Tie& tie = *point.tie;
  point.along = Along::across;
  point.direction = tie.axis;
  points_.push_back(point);
  const Vec3 a = tie.direction(x_n);
  if (!(resistance > 0) || !(a.norm() > 0)) return;
  std::vector<Vec3> free = {a.normalized()};
  if (tie.freedom == TieFreedom::plane) free = {free[0].unitOrthogonal(), free[0].cross(free[0].unitOrthogonal())};
  point.along = Along::direction;
  point.stiffness = resistance;
  for (const Vec3& direction : free) {
    point.direction = direction;
    point.rest_length = direction.dot(d_n);
    points_.push_back(point);
  }
}

void SpringForces::update(double* nodes, const double* axes) {
  for (Point& point : points_)
    if (point.along == Along::everything)
      update_everything(point, nodes, axes);
    else if (point.along == Along::across)
      update_across(point, nodes, axes);
    else
      update_along(point, nodes, axes);
}

void SpringForces::update_everything(Point& point, double* nodes, const double* axes) const {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto inverse_mass = [&](const Share& share) { return inverse_mass_of(nodes, axes, share.node, axis); };
    double y = 0, W = 0;
    for (const Share& share : point.shares) {
      y += share.weight * nodes[4 * at(share.node) + axis];
      W += share.weight * share.weight * inverse_mass(share);
    }
    double& force = point.force[static_cast<Eigen::Index>(axis)];
    const double without = y + h2_ * W * force;
    const double updated =
        point.stiffness * (without - point.target[static_cast<Eigen::Index>(axis)]) / (1 + h2_ * point.stiffness * W);
    for (const Share& share : point.shares)
      nodes[4 * at(share.node) + axis] -= h2_ * share.weight * inverse_mass(share) * (updated - force);
    force = updated;
  }
}

void SpringForces::update_along(Point& point, double* nodes, const double* axes) const {
  Vec3 d = -point.target, W = Vec3::Zero();
  for (const Share& share : point.shares) {
    d += share.weight * Vec3::Map(nodes + 4 * at(share.node));
    for (std::size_t axis = 0; axis < 3; ++axis)
      W[static_cast<Eigen::Index>(axis)] +=
          share.weight * share.weight * inverse_mass_of(nodes, axes, share.node, axis);
  }
  const double length = d.norm();
  const Vec3 n = point.along == Along::direction ? point.direction : length > 0 ? Vec3(d / length) : Vec3(Vec3::Zero());
  const double without = n.dot(d + h2_ * W.cwiseProduct(point.force));
  double pull =
      point.stiffness * (without - point.rest_length) / (1 + h2_ * point.stiffness * n.dot(W.cwiseProduct(n)));
  if (point.side == TieSide::longer) pull = std::max(0.0, pull);
  if (point.side == TieSide::shorter) pull = std::min(0.0, pull);
  const Vec3 updated = pull * n, change = updated - point.force;
  for (const Share& share : point.shares)
    for (std::size_t axis = 0; axis < 3; ++axis)
      nodes[4 * at(share.node) + axis] -=
          h2_ * share.weight * inverse_mass_of(nodes, axes, share.node, axis) * change[static_cast<Eigen::Index>(axis)];
  point.force = updated;
}

/// With e and what it changes by as nodes do, J_i, of Tie::excess, and forces J_i^T p: p = k e for the e that they
/// leave, taken as linear.
void SpringForces::update_across(Point& point, double* nodes, const double* axes) const {
  Vec3 d = -point.target, a = point.direction;
  for (const Share& share : point.shares) {
    d += share.weight * Vec3::Map(nodes + 4 * at(share.node));
    a += share.axis_weight * Vec3::Map(nodes + 4 * at(share.node));
  }
  const auto inverse_mass = [&](const Share& share) {
    return Vec3(inverse_mass_of(nodes, axes, share.node, 0), inverse_mass_of(nodes, axes, share.node, 1),
                inverse_mass_of(nodes, axes, share.node, 2));
  };
  Mat3 W = Mat3::Zero();
  Vec3 without = point.tie->excess(a, d);
  for (const Share& share : point.shares) {
    const Mat3 J = point.tie->excess_by_node(a, d, share.weight, share.axis_weight);
    const Vec3 w = inverse_mass(share);
    W += J * w.asDiagonal() * J.transpose();
    without += h2_ * (J * w.cwiseProduct(share.pull));
  }
  const Mat3 system = Mat3::Identity() + h2_ * point.stiffness * W;
  const Vec3 p = system.ldlt().solve(point.stiffness * without);
  for (Share& share : point.shares) {
    const Mat3 J = point.tie->excess_by_node(a, d, share.weight, share.axis_weight);
    const Vec3 updated = J.transpose() * p;
    Vec3::Map(nodes + 4 * at(share.node)) -= h2_ * inverse_mass(share).cwiseProduct(updated - share.pull);
    share.pull = updated;
  }
}

}  // namespace pliant::pbd
