#include "pliant/energies/contact_pair.hpp"

namespace pliant {

PlacedPair place(const ContactPair& pair, Index nodes, const VecX& x, const ObstacleState& obstacles) {
  PlacedPair placed;
  if (pair.plane >= 0) {
    const PlaneShape& plane = obstacles.planes[static_cast<std::size_t>(pair.plane)];
    placed.x.fill(node(x, pair.corners[0]));
    const double distance = plane.normal.dot(placed.x[0] - plane.point);
    placed.closest.weight = {1, 0, 0, 0};
    placed.closest.r = std::max(0.0, distance) * plane.normal;
    placed.closest.d2 = distance > 0 ? distance * distance : 0;
    return placed;
  }
  placed.x.fill(Vec3::Zero());
  for (std::size_t k = 0; k < 4; ++k) {
    const Index i = pair.corners[k];
    if (i < 0) break;
    placed.x[k] = i < nodes ? Vec3(node(x, i)) : Vec3(node(obstacles.positions, i - nodes));
  }
  placed.closest = closest(pair.kind, placed.x);
  return placed;
}

}  // namespace pliant
