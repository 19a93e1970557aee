#pragma once

#include "pliant/mesh/tet_mesh.hpp"
#include "pliant/mesh/triangle_mesh.hpp"

namespace pliant {

/// About this many tetrahedra of like size that fill what a closed surface encloses, for a fine surface to be embedded
/// in: those of a body-centred cubic lattice that have a corner inside or hold a vertex of the surface, with the
/// vertices on the outside drawn to the surface as far as the elements stay good (mean ratio 0.3).
///
/// The outside is that of the lattice where the surface has features finer than it. Needs no other program, and few
/// tetrahedra where Gmsh and TetGen, which keep the triangles of the surface, need many.
///
/// Throws InputError for less than 50 tetrahedra or more than ten million.
MeshData lattice_fill(const TriangleMesh& surface, Index tets);

}  // namespace pliant
