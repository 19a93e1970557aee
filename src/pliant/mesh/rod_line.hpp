#pragma once

#include <span>
#include <vector>

#include "pliant/mesh/spring_network.hpp"

namespace pliant {

/// The middle line of a rod.
struct RodLine {
  std::vector<Vec3> points;  ///< m, along it
  /// How many in all, shared among the stretches between points by their lengths, each of which gets one at least.
  Index segments = 40;
  bool closed = false;  ///< the last point is joined to the first
};

/// Its vertices, and segments in order: the k-th is from vertex k to the next one. The measure is the length of rod
/// that is nearest to each vertex, m. Sets, unless it is closed: start and end, first-segment and last-segment. Throws
/// InputError.
SpringNetwork rod_network(const RodLine& line);

/// The round surface that is drawn of a rod: `sides` corners about each of its vertices.
struct RodTube {
  static constexpr Index sides = 8;
  std::vector<Triangle> triangles;  ///< over the corners, those of each vertex together; open ends have lids
  std::vector<Index> segments;      ///< that each triangle belongs to
};
RodTube rod_tube(Index vertices, bool closed);

/// The corners of the tube about a middle line. They turn along it as little as they can, from a direction at the first
/// vertex that follows the motion of its tangent from rest. Where it bends they are mitred, to twice the radius at
/// most.
std::vector<Vec3> rod_tube_corners(std::span<const Vec3> middle, const Vec3& first_tangent_at_rest, double radius,
                                   bool closed);

}  // namespace pliant
