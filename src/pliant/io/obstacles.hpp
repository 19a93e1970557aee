#pragma once

#include <string>
#include <vector>

#include "pliant/mesh/triangle_mesh.hpp"
#include "pliant/scene/scene.hpp"

namespace pliant {

/// A collider as it is drawn and exported: triangles at rest, and how they move.
struct ObstacleShell {
  std::string name;
  TriangleMesh mesh;
  Motion motion;
  bool is_plane = false;  ///< a square cut out of a plane, which has no end

  std::vector<Vec3> positions_at(double time) const;
};

/// All colliders of a scene. A plane becomes a square of `plane_size` (m, half its edge) below `centre`; of a bowl only
/// the hollow is kept, without the block around it.
std::vector<ObstacleShell> obstacle_shells(const Scene& scene, const Model& model, const Vec3& centre,
                                           double plane_size);
/// The same with squares that reach well beyond the bodies at rest.
std::vector<ObstacleShell> obstacle_shells(const Scene& scene, const Model& model);

}  // namespace pliant
