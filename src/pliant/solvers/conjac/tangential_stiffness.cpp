#include "pliant/solvers/conjac/tangential_stiffness.hpp"

namespace pliant {

void add_tangential_stiffness(const ColliderPenalty& penalty, double time, const VecX& x, double a, BlockMatrix& H) {
  const std::vector<Index>& nodes = penalty.stencils().nodes;
  for (const Collider& collider : penalty.colliders()) {
    const RigidPose pose = collider.motion.pose(time);
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      const Distance d = distance(collider, pose, node(x, nodes[k]));
      if (!(d.value < 0)) continue;
      Eigen::Map<Mat3> block(H.block(H.pattern().diagonal(nodes[k])));
      block += a * collider.stiffness * penalty.masses()[k] * (Mat3::Identity() - d.normal * d.normal.transpose());
    }
  }
}

}  // namespace pliant
