#include "pliant/solvers/pxpbd/spring_forces.hpp"

#include <algorithm>

namespace pliant::pbd {

namespace {

double inverse_mass_of(const double* nodes, const double* axes, Index node, std::size_t axis) {
  const std::size_t i = at(node);
  return nodes[4 * i + 3] * (axes ? axes[3 * i + axis] : 1.0);
}

}  // namespace

/// To the node itself, or to those of the grid that it hangs in.
void SpringForces::add_share(Point& point, Index node, double weight, const BackgroundGrid* grid) const {
  const auto add = [&](Index unknown, double share) {
    if (share == 0) return;
    const auto found =
        std::find_if(point.shares.begin(), point.shares.end(), [&](const Share& s) { return s.node == unknown; });
    if (found == point.shares.end())
      point.shares.push_back({unknown, share});
    else
      found->weight += share;
  };
  if (!grid) return add(node, weight);
  const GridPoint& at_node = grid->points()[at(node)];
  for (std::size_t c = 0; c < 8; ++c) add(at_node.nodes[c], weight * at_node.weights[c]);
}

void SpringForces::begin_step(std::span<const Grab> grabs, const TieEnergy* ties, const VecX& x_n, double h,
                              const BackgroundGrid* grid) {
  h2_ = h * h;
  points_.clear();
  for (const Grab& grab : grabs) {
    Point& point = points_.emplace_back(Point{{}, grab.target, grab.stiffness});
    for (std::size_t a = 0; a < 3; ++a) add_share(point, grab.nodes[a], grab.weights[a], grid);
  }
  if (ties)
    for (const Tie& tie : ties->ties()) add_tie(tie, x_n, h, grid);
}

/// Damping is a spring of stiffness c/h to where the step begins: added to a tie, and beside a spring, along which it
/// acts.
void SpringForces::add_tie(const Tie& tie, const VecX& x_n, double h, const BackgroundGrid* grid) {
  Point point{{}, tie.offset, tie.stiffness};
  for (std::size_t a = 0; a < tie.nodes.size(); ++a) add_share(point, tie.nodes[a], tie.weights[a], grid);
  const Vec3 d_n = tie.difference(x_n);
  const double resistance = tie.damping / h;
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

void SpringForces::update(double* nodes, const double* axes) {
  for (Point& point : points_)
    if (point.along == Along::everything)
      update_everything(point, nodes, axes);
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
  const double pull =
      point.stiffness * (without - point.rest_length) / (1 + h2_ * point.stiffness * n.dot(W.cwiseProduct(n)));
  const Vec3 updated = pull * n, change = updated - point.force;
  for (const Share& share : point.shares)
    for (std::size_t axis = 0; axis < 3; ++axis)
      nodes[4 * at(share.node) + axis] -=
          h2_ * share.weight * inverse_mass_of(nodes, axes, share.node, axis) * change[static_cast<Eigen::Index>(axis)];
  point.force = updated;
}

}  // namespace pliant::pbd
