#pragma once

#include <array>
#include <vector>

#include "pliant/mesh/triangle_mesh.hpp"

namespace pliant {

/// Pairs of triangles of which an edge of one passes through the inside of the other, lower index first, sorted; at
/// most `limit` of them. Triangles that share the edge's end, or that only touch, do not cross.
std::vector<std::array<Index, 2>> surface_crossings(const TriangleMesh& mesh, std::size_t limit = 10);

}  // namespace pliant
