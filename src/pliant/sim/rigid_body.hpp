#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pliant/contact/collider.hpp"
#include "pliant/math/motion.hpp"
#include "pliant/mesh/tet_mesh.hpp"
#include "pliant/mesh/triangle_mesh.hpp"

namespace pliant {

/// A rigid body, for ModelBuilder (docs/rigid.md).
struct RigidOptions {
  std::string name = "rigid";
  std::optional<Shape> shape;                   ///< box, sphere, cylinder or capsule, with its exact mass and inertia
  std::shared_ptr<const TriangleMesh> surface;  ///< in place of it: closed, and filled with its density
  double density = 1000;                        ///< kg/m^3
  double young = 1e8;                           ///< what keeps it in shape, Pa
  double friction = -1;                         ///< Coulomb's coefficient against others; negative: the common one
  Vec3 velocity = Vec3::Zero();                 ///< at t = 0, m/s
  Vec3 angular_velocity = Vec3::Zero();         ///< at t = 0 about the centre of mass, rad/s
  RigidPose placed;                             ///< turns and moves the shape or surface
};

/// What a rigid body is made of: four nodes that carry its surface. They have a quarter of its mass each and lie where
/// their mass, centre of mass and moments of inertia are the body's own, at s_i1 r_1 q_1 + s_i2 r_2 q_2 + s_i3 r_3 q_3
/// from the centre, with q_k the principal axes, m r_k^2 the second moments along them, and signs s whose rows are the
/// corners of a tetrahedron in a cube: sum_i s_ij s_ik = 4 delta_jk, sum_i s_ij = 0 (equimomental points, Routh 1882).
struct RigidShape {
  std::vector<Vec3> vertices;  ///< of the surface at rest, m
  std::vector<Triangle> triangles;
  double mass = 0;               ///< kg
  double volume = 0;             ///< m^3
  Vec3 centre = Vec3::Zero();    ///< of mass, m
  Mat3 axes = Mat3::Identity();  ///< q_k, column by column
  Vec3 spread = Vec3::Zero();    ///< r_k, m
  double friction = -1;

  std::array<Vec3, 4> frame() const;  ///< the nodes at rest
  /// Of the nodes, whose sum a place of the body is; linear in the place. And what they change by with it, 1/m.
  std::array<double, 4> weights(const Vec3& place) const;
  std::array<Vec3, 4> slopes() const;
  double size() const;  ///< diagonal of the box about its surface, m
  /// The rotation that took it from rest to where its nodes are; its centre of mass is their mean.
  Mat3 rotation(const std::array<Vec3, 4>& nodes) const;
};

/// Throws InputError, also for surfaces that are not closed.
RigidShape make_rigid_shape(const RigidOptions& options);

/// One tetrahedron, of the four nodes.
std::shared_ptr<const TetMesh> frame_mesh(const RigidShape& shape);

}  // namespace pliant
