#pragma once

#include "pliant/sim/grab.hpp"
#include "pliant/solvers/pxpbd/background_grid.hpp"

namespace pliant::pbd {

/// Grabs as further local problems: the unknown of each is its force p = k (y - target) on the point y = sum w_i x_i.
/// With all else held, y = y^ - h^2 W p with W = sum w_i^2 / m_i along each axis, so that
/// p = k (y^ - target) / (1 + h^2 k W): exact, and the same equations that the spring of every other solver has.
///
/// The points are sums over the solver's own unknowns, mesh nodes or grid nodes: four doubles each, x, y, z and the
/// inverse mass, with factors by axis that are 0 where it is held, or null.
class GrabForces {
 public:
  void begin_step(std::span<const Grab> grabs, double h);
  void begin_step(std::span<const Grab> grabs, double h, const BackgroundGrid& grid);
  bool none() const { return points_.empty(); }
  /// One visit to every grab.
  void update(double* nodes, const double* axes);
  /// Calls add(i, axis, h^2 p_axis w_i) for all it pulls at.
  template <class Add>
  void for_impulses(Add&& add) const {
    for (const Point& point : points_)
      for (const Share& share : point.shares)
        for (int axis = 0; axis < 3; ++axis) add(share.node, axis, h2_ * share.weight * point.force[axis]);
  }

 private:
  struct Share {
    Index node = 0;
    double weight = 0;
  };
  struct Point {
    std::vector<Share> shares;
    Vec3 target = Vec3::Zero();
    double stiffness = 0;
    Vec3 force = Vec3::Zero();  ///< p, N
  };
  static void add_share(Point& point, Index node, double weight);

  double h2_ = 0;
  std::vector<Point> points_;
};

}  // namespace pliant::pbd
