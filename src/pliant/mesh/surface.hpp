#pragma once

#include <span>
#include <string>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

/// The boundary of a set of tetrahedra.
struct BoundaryFaces {
  std::vector<Triangle> triangles;  ///< outward oriented, in the order of their tets
  std::vector<Index> tets;          ///< the tet each triangle belongs to
};

/// Collects the faces that belong to one tet only. Throws InputError, its message beginning with `source`, when two
/// tets are the same, when three or more share a face, or when two lie on the same side of a shared face. Tets must be
/// positively oriented and index vertices below `vertex_count`. Time and memory grow linearly with the number of tets.
BoundaryFaces extract_boundary(std::span<const Tet> tets, Index vertex_count, const std::string& source);

}  // namespace pliant
