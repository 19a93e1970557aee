#pragma once

#include "pliant/energies/tie_energy.hpp"
#include "pliant/sim/grab.hpp"
#include "pliant/solvers/pxpbd/background_grid.hpp"

namespace pliant::pbd {

/// Grabs, springs and attachments as further local problems: the unknown of each is its force p on the point (or
/// difference of points) y = sum w_i x_i. With all else held, y = y^ - h^2 W p with W = sum w_i^2 / m_i along each
/// axis. For p = k (y - target) it follows that p = k (y^ - target) / (1 + h^2 k W): exact, and the same equations that
/// the spring of every other solver has. A spring of some length pulls along n = (y - target)/|y - target| alone, by k
/// (n . (y^ - target) - r) / (1 + h^2 k n^T W n), with n as it is when it is visited.
///
/// The points are sums over the solver's own unknowns, mesh nodes or grid nodes: four doubles each, x, y, z and the
/// inverse mass, with factors by axis that are 0 where it is held, or null.
class SpringForces {
 public:
  /// `ties` may be null; x_n is where the step begins, `time` that of its end.
  void begin_step(std::span<const Grab> grabs, const TieEnergy* ties, const VecX& x_n, double time, double h,
                  const BackgroundGrid* grid = nullptr);
  bool none() const { return points_.empty(); }
  /// One visit to every spring.
  void update(double* nodes, const double* axes);
  /// Calls add(i, axis, h^2 p_axis w_i) for all it pulls at.
  template <class Add>
  void for_impulses(Add&& add) const {
    for (const Point& point : points_)
      for (const Share& share : point.shares)
        for (int axis = 0; axis < 3; ++axis)
          add(share.node, axis, h2_ * (share.weight * point.force[axis] + share.pull[axis]));
  }

 private:
  struct Share {
    Index node = 0;
    double weight = 0;
    double axis_weight = 0;    ///< in the direction that a sliding tie is free along
    Vec3 pull = Vec3::Zero();  ///< of a sliding tie, N
  };
  /// What a spring's force follows: all of y - target, its length, its part along a direction that stays, or what is
  /// across a direction that bodies carry.
  enum class Along { everything, itself, direction, across };
  struct Point {
    std::vector<Share> shares;
    Vec3 target = Vec3::Zero();
    double stiffness = 0;
    Along along = Along::everything;
    double rest_length = 0;  ///< m
    TieSide side = TieSide::always;
    const Tie* tie = nullptr;  ///< of one that slides
    Vec3 direction = Vec3::Zero();
    Vec3 force = Vec3::Zero();  ///< p, N
  };
  void add_share(Point& point, Index node, double weight, double axis_weight, const BackgroundGrid* grid) const;
  void add_tie(const Tie& tie, const VecX& x_n, double time, double h, const BackgroundGrid* grid);
  void add_sliding(Point point, const VecX& x_n, const Vec3& d_n, double resistance);
  void update_everything(Point& point, double* nodes, const double* axes) const;
  void update_along(Point& point, double* nodes, const double* axes) const;
  void update_across(Point& point, double* nodes, const double* axes) const;

  double h2_ = 0;
  std::vector<Point> points_;
};

}  // namespace pliant::pbd
