#pragma once

#include "pliant/mesh/tet_mesh.hpp"

namespace pliant {

/// How a box cell is cut into tetrahedra. `five` alternates two mirrored patterns so that neighbours conform; `six`
/// (Kuhn) uses the same pattern everywhere.
enum class BoxSplit { five, six };

struct BoxOptions {
  Vec3 origin = Vec3::Zero();              ///< lowest corner, m
  Vec3 size = Vec3::Ones();                ///< m
  std::array<Index, 3> cells = {1, 1, 1};  ///< along x, y, z
  BoxSplit split = BoxSplit::five;
};

/// A box of regular cells with the named sets x-min, x-max, y-min, y-max, z-min, z-max and boundary. Vertices run x
/// fastest.
MeshData box(const BoxOptions& options);

}  // namespace pliant
