#include "pliant/io/obstacles.hpp"

#include <Eigen/Geometry>
#include <algorithm>

#include "pliant/contact/aabb.hpp"
#include "pliant/contact/tessellate.hpp"

namespace pliant {

namespace {

TriangleMesh square_of(const PlaneShape& plane, const Vec3& centre, double size) {
  const Vec3& n = plane.normal;
  const Vec3 middle = centre - n.dot(centre - plane.point) * n;
  // Along the axes where the plane is, so that a floor is not drawn askew.
  const Vec3 axis = std::abs(n.x()) < 0.9 ? Vec3::UnitX() : Vec3::UnitY();
  const Vec3 u = (axis - axis.dot(n) * n).normalized() * size, v = n.cross(u);
  TriangleMesh square;
  square.vertices = {middle - u - v, middle + u - v, middle + u + v, middle - u + v};
  square.triangles = {{0, 1, 2}, {0, 2, 3}};
  return square;
}

TriangleMesh hollow_of(const BowlShape& bowl) {
  TriangleMesh mesh = tessellate(bowl);
  std::erase_if(mesh.triangles, [&](const Triangle& t) {
    return std::any_of(t.begin(), t.end(),
                       [&](Index i) { return (mesh.vertices[at(i)] - bowl.centre).norm() > 1.001 * bowl.radius; });
  });
  std::vector<Index> number(mesh.vertices.size(), -1);
  std::vector<Vec3> kept;
  for (Triangle& t : mesh.triangles)
    for (Index& i : t) {
      if (number[at(i)] < 0) {
        number[at(i)] = static_cast<Index>(kept.size());
        kept.push_back(mesh.vertices[at(i)]);
      }
      i = number[at(i)];
    }
  mesh.vertices = std::move(kept);
  return mesh;
}

/// The triangles of an obstacle that was read from a file: the model has them.
TriangleMesh surface_of(const ContactModel& contact, const std::string& name) {
  TriangleMesh mesh;
  for (const ContactModel::Placed& obstacle : contact.obstacles) {
    if (obstacle.name != name) continue;
    const Range range = obstacle.positions;
    for (Index i = range.begin; i < range.end; ++i) mesh.vertices.push_back(node(contact.rest, i));
    for (const Triangle& t : contact.surface->triangles)
      if (t[0] >= range.begin && t[0] < range.end)
        mesh.triangles.push_back({t[0] - range.begin, t[1] - range.begin, t[2] - range.begin});
    break;
  }
  return mesh;
}

}  // namespace

std::vector<Vec3> ObstacleShell::positions_at(double time) const {
  const RigidPose pose = motion.pose(time);
  std::vector<Vec3> positions;
  positions.reserve(mesh.vertices.size());
  for (const Vec3& v : mesh.vertices) positions.push_back(pose.from_rest(v));
  return positions;
}

std::vector<ObstacleShell> obstacle_shells(const Scene& scene, const Model& model, const Vec3& centre,
                                           double plane_size) {
  std::vector<ObstacleShell> shells;
  for (const SceneCollider& from : scene.colliders) {
    ObstacleShell shell{from.collider.name, {}, from.collider.motion, false};
    if (!from.surface.empty()) {
      if (!model.contact()) continue;
      shell.mesh = surface_of(*model.contact(), from.collider.name);
    } else if (const auto* plane = std::get_if<PlaneShape>(&from.collider.shape)) {
      shell.mesh = square_of(*plane, centre, plane_size);
      shell.is_plane = true;
    } else if (const auto* bowl = std::get_if<BowlShape>(&from.collider.shape)) {
      shell.mesh = hollow_of(*bowl);
    } else {
      shell.mesh = tessellate(from.collider.shape);
    }
    if (!shell.mesh.triangles.empty()) shells.push_back(std::move(shell));
  }
  return shells;
}

std::vector<ObstacleShell> obstacle_shells(const Scene& scene, const Model& model) {
  Aabb box;
  for (Index i = 0; i < model.nodes(); ++i) box.include(node(model.rest(), i));
  return obstacle_shells(scene, model, box.centre(), (box.max - box.min).norm());
}

}  // namespace pliant
