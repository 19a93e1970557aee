#include "pliant/solvers/pxpbd/grab_forces.hpp"

#include <algorithm>

namespace pliant::pbd {

void GrabForces::add_share(Point& point, Index node, double weight) {
  if (weight == 0) return;
  const auto found =
      std::find_if(point.shares.begin(), point.shares.end(), [&](const Share& s) { return s.node == node; });
  if (found == point.shares.end())
    point.shares.push_back({node, weight});
  else
    found->weight += weight;
}

void GrabForces::begin_step(std::span<const Grab> grabs, double h) {
  h2_ = h * h;
  points_.clear();
  for (const Grab& grab : grabs) {
    Point& point = points_.emplace_back(Point{{}, grab.target, grab.stiffness});
    for (std::size_t a = 0; a < 3; ++a) add_share(point, grab.nodes[a], grab.weights[a]);
  }
}

void GrabForces::begin_step(std::span<const Grab> grabs, double h, const BackgroundGrid& grid) {
  h2_ = h * h;
  points_.clear();
  for (const Grab& grab : grabs) {
    Point& point = points_.emplace_back(Point{{}, grab.target, grab.stiffness});
    for (std::size_t a = 0; a < 3; ++a) {
      const GridPoint& at = grid.points()[static_cast<std::size_t>(grab.nodes[a])];
      for (std::size_t c = 0; c < 8; ++c) add_share(point, at.nodes[c], grab.weights[a] * at.weights[c]);
    }
  }
}

void GrabForces::update(double* nodes, const double* axes) {
  for (Point& point : points_)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto inverse_mass = [&](const Share& share) {
        const auto i = static_cast<std::size_t>(share.node);
        return nodes[4 * i + 3] * (axes ? axes[3 * i + axis] : 1.0);
      };
      double y = 0, W = 0;
      for (const Share& share : point.shares) {
        y += share.weight * nodes[4 * static_cast<std::size_t>(share.node) + axis];
        W += share.weight * share.weight * inverse_mass(share);
      }
      double& force = point.force[static_cast<Eigen::Index>(axis)];
      const double without = y + h2_ * W * force;
      const double updated =
          point.stiffness * (without - point.target[static_cast<Eigen::Index>(axis)]) / (1 + h2_ * point.stiffness * W);
      for (const Share& share : point.shares)
        nodes[4 * static_cast<std::size_t>(share.node) + axis] -=
            h2_ * share.weight * inverse_mass(share) * (updated - force);
      force = updated;
    }
}

}  // namespace pliant::pbd
