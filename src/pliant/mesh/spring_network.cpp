#include "pliant/mesh/spring_network.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "pliant/base/error.hpp"

namespace pliant {

SpringNetwork cloth(const ClothOptions& options) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (!(options.size[i] > 0) || !std::isfinite(options.size[i]))
      throw InputError("cloth: both sizes must be positive (m)");
    if (options.cells[i] < 1) throw InputError("cloth: there must be at least one cell along x and z");
  }
  const Index nx = options.cells[0], nz = options.cells[1];
  if (static_cast<double>(nx + 1.0) * (nz + 1.0) > 1e8)
    throw InputError("cloth: more than a hundred million vertices; use fewer cells");
  const double dx = options.size[0] / nx, dz = options.size[1] / nz;
  const auto at = [&](Index i, Index k) { return k * (nx + 1) + i; };

  SpringNetwork network;
  network.source = "cloth";
  for (Index k = 0; k <= nz; ++k) {
    for (Index i = 0; i <= nx; ++i) {
      network.vertices.push_back(options.origin + Vec3(dx * i, 0, dz * k));
      const double share = (i == 0 || i == nx ? 0.5 : 1) * (k == 0 || k == nz ? 0.5 : 1);
      network.measure.push_back(share * dx * dz);
      const bool ends[4] = {i == 0, i == nx, k == 0, k == nz};
      constexpr const char* kNames[4] = {"x-min", "x-max", "z-min", "z-max"};
      for (int e = 0; e < 4; ++e)
        if (ends[e]) network.sets[kNames[e]].push_back(at(i, k));
      if (ends[0] || ends[1] || ends[2] || ends[3]) network.sets["boundary"].push_back(at(i, k));
      if ((ends[0] || ends[1]) && (ends[2] || ends[3])) network.sets["corners"].push_back(at(i, k));
    }
  }
  const auto connect = [&](Index di, Index dk, SpringKind kind) {
    for (Index k = 0; k <= nz; ++k)
      for (Index i = 0; i <= nx; ++i)
        if (i + di >= 0 && i + di <= nx && k + dk <= nz)
          network.springs.push_back({at(i, k), at(i + di, k + dk), kind});
  };
  connect(1, 0, SpringKind::structural);
  connect(0, 1, SpringKind::structural);
  connect(1, 1, SpringKind::shear);
  connect(-1, 1, SpringKind::shear);
  connect(2, 0, SpringKind::bending);
  connect(0, 2, SpringKind::bending);
  for (Index k = 0; k < nz; ++k) {
    for (Index i = 0; i < nx; ++i) {
      // Diagonals alternate, so that the picture has no preferred direction; normals along y.
      const Index a = at(i, k), b = at(i + 1, k), c = at(i + 1, k + 1), d = at(i, k + 1);
      if ((i + k) % 2 == 0) {
        network.triangles.push_back({a, c, b});
        network.triangles.push_back({a, d, c});
      } else {
        network.triangles.push_back({a, d, b});
        network.triangles.push_back({b, d, c});
      }
    }
  }
  return network;
}

SpringNetwork edge_springs(const TetMesh& mesh) {
  SpringNetwork network;
  network.source = mesh.source();
  network.vertices.assign(mesh.vertices().begin(), mesh.vertices().end());
  network.triangles.assign(mesh.surface().begin(), mesh.surface().end());
  network.sets = mesh.sets();
  network.measure.assign(network.vertices.size(), 0.0);
  std::set<std::pair<Index, Index>> edges;
  for (Index e = 0; e < static_cast<Index>(mesh.tets().size()); ++e) {
    const Tet& tet = mesh.tets()[static_cast<std::size_t>(e)];
    for (std::size_t a = 0; a < 4; ++a) {
      network.measure[static_cast<std::size_t>(tet[a])] += mesh.volume(e) / 4;
      for (std::size_t b = a + 1; b < 4; ++b) edges.insert(std::minmax(tet[a], tet[b]));
    }
  }
  for (const auto& [a, b] : edges) network.springs.push_back({a, b, SpringKind::structural});
  return network;
}

}  // namespace pliant
