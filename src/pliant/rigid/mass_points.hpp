#pragma once

#include <vector>

#include "pliant/contact/collider.hpp"

namespace pliant {

/// A rigid body as points: as heavy as the body, with its centre of mass and its inertia, and so with all its dynamics
/// when they move as one (equimomental points, Routh 1882). Nodes are what models are made of; a link of points needs
/// no other kind of mass.
struct MassPoints {
  std::vector<Vec3> positions;      ///< m
  std::vector<double> masses;       ///< kg
  std::vector<Triangle> triangles;  ///< of the body's surface, over the first points
};

/// A ball, box, cylinder or capsule of uniform density (kg/m^3). The surface is coarse; mass and inertia are exact.
/// Throws InputError for other shapes, which have no mass.
MassPoints mass_points(const Shape& shape, double density);

}  // namespace pliant
