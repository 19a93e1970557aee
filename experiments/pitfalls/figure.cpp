#include <algorithm>
#include <cmath>

#include "experiments/pitfalls/figure.hpp"
#include "pliant/mesh/generators.hpp"

namespace pliant::experiments {

MeshData figure(int cells) {
  MeshData mesh =
      box({.size = {2, 2, 0.5}, .cells = {2 * cells, 2 * cells, std::max(1, cells / 2)}, .split = BoxSplit::six});
  const auto inside = [](const Vec3& c) {
    const double x = std::abs(c.x() - 1), y = c.y();
    if (y < 0.8) return x > 0.1 && x < 0.4;        // legs
    if (y < 1.5) return x < (y > 1.2 ? 1 : 0.45);  // trunk, arms on its upper part
    return x < 0.25;                               // head
  };
  std::erase_if(mesh.tets, [&](const Tet& tet) {
    Vec3 centre = Vec3::Zero();
    for (Index v : tet) centre += mesh.vertices[v] / 4;
    return !inside(centre);
  });
  mesh.regions.clear();
  mesh.sets.clear();
  mesh.source = "generated figure";
  return mesh;
}

}  // namespace pliant::experiments
