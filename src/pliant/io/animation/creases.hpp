#pragma once

#include <vector>

#include "pliant/io/animation/animation.hpp"

namespace pliant {

/// A surface with its own vertex for each smooth patch around a vertex, so that edges sharper than an angle stay sharp
/// where a format has one normal per vertex.
struct CreasedSurface {
  std::vector<Index> origin;        ///< for each vertex, the one of the surface
  std::vector<Triangle> triangles;  ///< over these vertices, in the order of the surface's

  /// Positions of the vertices in a frame, and their unit normals (weighted by area), x, y, z of each.
  std::vector<float> positions(const std::vector<float>& of_surface) const;
  std::vector<float> normals(const std::vector<float>& of_surface) const;
};

/// Creases are those of the given positions, and stay where they are whatever the surface does later.
CreasedSurface split_creases(const std::vector<Triangle>& triangles, const std::vector<float>& positions,
                             double degrees = 35);

}  // namespace pliant
