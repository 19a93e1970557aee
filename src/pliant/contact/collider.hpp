#pragma once

#include <string>
#include <variant>

#include "pliant/math/motion.hpp"

namespace pliant {

// Analytic obstacles by their signed distance: negative inside, with the unit normal n = grad d and, inside, the
// curvature grad n. Lengths in m.

/// The half space behind a plane.
struct PlaneShape {
  Vec3 point = Vec3::Zero();
  Vec3 normal = Vec3::UnitY();  ///< unit, away from the solid
};
struct SphereShape {
  Vec3 centre = Vec3::Zero();
  double radius = 1;
};
/// Axis-aligned where it starts; motion turns it.
struct BoxShape {
  Vec3 centre = Vec3::Zero();
  Vec3 half = Vec3::Constant(0.5);  ///< half the edge lengths
};
/// With flat ends.
struct CylinderShape {
  Vec3 centre = Vec3::Zero();
  Vec3 axis = Vec3::UnitY();  ///< unit
  double radius = 1, half_length = 1;
};
struct CapsuleShape {
  Vec3 begin = Vec3::Zero(), end = Vec3::UnitY();
  double radius = 0.5;
};
struct TorusShape {
  Vec3 centre = Vec3::Zero();
  Vec3 axis = Vec3::UnitY();  ///< unit
  double ring = 1;            ///< radius of the circle the tube follows
  double tube = 0.25;         ///< radius of the tube
};
/// A hollow half sphere that opens along its axis, in a block that is solid all around.
struct BowlShape {
  Vec3 centre = Vec3::Zero();  ///< of the sphere and of the rim
  Vec3 axis = Vec3::UnitY();   ///< unit, towards the opening
  double radius = 1;
};
using Shape = std::variant<PlaneShape, SphereShape, BoxShape, CylinderShape, CapsuleShape, TorusShape, BowlShape>;

struct Distance {
  double value = 0;               ///< m
  Vec3 normal = Vec3::UnitY();    ///< unit
  Mat3 curvature = Mat3::Zero();  ///< grad n, 1/m; only set inside
};
Distance distance(const Shape& shape, const Vec3& p);
/// Throws InputError for sizes that are not positive and directions that are not of unit length.
void check_shape(const Shape& shape, const std::string& name);

/// A rigid obstacle that may move. Nodes inside are pushed out by the potential stiffness m/2 d^2, m their mass, so
/// that a node at rest on it sinks in by gravity/stiffness whatever the mesh.
struct Collider {
  std::string name = "collider";
  Shape shape;
  Motion motion;           ///< rigid; its displacement field is not used
  double stiffness = 1e5;  ///< 1/s^2
  double friction = 0;     ///< Coulomb's coefficient
};

/// The collider at an instant.
Distance distance(const Collider& collider, const RigidPose& pose, const Vec3& p);

}  // namespace pliant
