#pragma once

#include <limits>

#include "pliant/math/types.hpp"

namespace pliant {

/// An axis-aligned box, m. Empty until something is included.
struct Aabb {
  Vec3 min = Vec3::Constant(std::numeric_limits<double>::infinity());
  Vec3 max = Vec3::Constant(-std::numeric_limits<double>::infinity());

  void include(const Vec3& p) {
    min = min.cwiseMin(p);
    max = max.cwiseMax(p);
  }
  void include(const Aabb& other) {
    min = min.cwiseMin(other.min);
    max = max.cwiseMax(other.max);
  }
  /// By as much on every side.
  void inflate(double distance) {
    min.array() -= distance;
    max.array() += distance;
  }
  /// Boxes that only touch overlap.
  bool overlaps(const Aabb& other) const {
    return min[0] <= other.max[0] && other.min[0] <= max[0] && min[1] <= other.max[1] && other.min[1] <= max[1] &&
           min[2] <= other.max[2] && other.min[2] <= max[2];
  }
  Vec3 centre() const { return 0.5 * (min + max); }
};

}  // namespace pliant
