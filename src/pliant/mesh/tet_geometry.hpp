#pragma once

#include <Eigen/Geometry>
#include <span>

#include "pliant/math/types.hpp"

namespace pliant {

/// Signed volume of a tetrahedron, m^3: (v1-v0) x (v2-v0) . (v3-v0) / 6.
inline double signed_volume(const Vec3& v0, const Vec3& v1, const Vec3& v2, const Vec3& v3) {
  return (v1 - v0).cross(v2 - v0).dot(v3 - v0) / 6;
}

inline double signed_volume(std::span<const Vec3> vertices, const Tet& tet) {
  const auto v = [&](int k) -> const Vec3& {
    return vertices[static_cast<std::size_t>(tet[static_cast<std::size_t>(k)])];
  };
  return signed_volume(v(0), v(1), v(2), v(3));
}

/// The six edges of a tetrahedron as pairs of local corners.
inline constexpr std::array<std::array<std::size_t, 2>, 6> tet_edges = {
    {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}}};

/// The four faces of a positively oriented tetrahedron, outward normals; face k lies opposite corner
/// tet_face_opposite[k].
inline constexpr std::array<std::array<std::size_t, 3>, 4> tet_faces = {{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
inline constexpr std::array<std::size_t, 4> tet_face_opposite = {3, 2, 1, 0};

}  // namespace pliant
