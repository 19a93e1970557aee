#pragma once

#include "pliant/solvers/pxpbd/nodes.hpp"

namespace pliant::pbd {

/// Colliders as further local problems: the unknown of a node and a collider is the force p between them. With all
/// else held, x = x^ - h^2 w p and p = k m d(x) n have the solution p = k m d(x^) n / (1 + h^2 k m n.w n) along the
/// normal where x^ is inside, and none outside: exact for flat and round obstacles, and the same equations that the
/// penalty of every other solver has.
class ColliderForces {
 public:
  explicit ColliderForces(const ColliderPenalty* colliders) : colliders_(colliders) {}
  void begin_step(double end_time, double h);
  /// One visit to every node.
  void update(Nodes& nodes);
  /// Adds h^2 p to g.
  void add_to(VecX& g, const Nodes& nodes) const;

 private:
  const ColliderPenalty* colliders_;
  double h2_ = 0;
  std::vector<RigidPose> poses_;
  std::vector<Vec3> forces_;  ///< per collider and node of the penalty, N
};

}  // namespace pliant::pbd
