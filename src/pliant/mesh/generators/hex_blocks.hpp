#pragma once

#include <cstdint>

#include "pliant/mesh/tet_mesh.hpp"

namespace pliant {

/// Cells with eight corners, numbered by the bits x + 2 y + 4 z of a right-handed frame, of a mesh in which every edge
/// joins an even and an odd vertex. That makes the cut into five tetrahedra conform whatever the topology: each cell
/// gets one tetrahedron through its even corners and one at each odd corner, so every face is cut along the diagonal of
/// its even corners, seen from both sides.
struct HexBlocks {
  std::vector<Vec3> vertices;
  std::vector<std::uint8_t> odd;  ///< one flag per vertex
  std::vector<std::array<Index, 8>> cells;
};

/// Five tets for each cell, in the order of the cells, and the vertices as they are.
MeshData cut_into_tets(HexBlocks blocks);

/// One cell's five tets as corner numbers; `first_odd` says whether corner 0 is an odd vertex.
const std::array<std::array<unsigned, 4>, 5>& five_tets(bool first_odd);

/// Adds the sets x-min to z-max (vertices on the sides of the bounding box) and boundary.
void add_usual_sets(MeshData& data);

/// Throws InputError "kind: key is value; ..." unless the length is positive and finite.
void check_length(const char* kind, const char* key, double value);
void check_finite(const char* kind, const char* key, const Vec3& value);
void check_count(const char* kind, const char* key, Index value, Index least);
/// Throws InputError when there are more vertices or tets than TetMesh can number.
void check_total(const char* kind, double vertices, double tets);

}  // namespace pliant
