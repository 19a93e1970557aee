#pragma once

#include <string>

#include "pliant/mesh/tet_mesh.hpp"
#include "pliant/mesh/triangle_mesh.hpp"

namespace pliant {

/// The programs that fill surfaces; `any` takes the first that is installed.
enum class Mesher { any, gmsh, tetgen };

struct TetrahedraliseOptions {
  Mesher mesher = Mesher::any;
  double edge = 0;  ///< edges inside are about this long at most, m; 0: as long as those of the surface
  /// About how many tetrahedra, of a lattice of our own that follows the surface roughly (lattice_fill.hpp); 0: as many
  /// as it takes to keep its triangles.
  Index coarse = 0;
};

/// Whether a program of this name is on the PATH.
bool is_installed(const std::string& program);

/// Fills a closed surface with tetrahedra by running Gmsh or TetGen, or by a coarse lattice. Pieces that face inwards
/// are cavities. Vertices at the same place are merged, and a surface that faces inwards as a whole is turned, both
/// with a note. The set `surface` holds the vertices of the boundary.
///
/// Throws InputError when the surface is not closed, oriented and free of edges with more than two triangles, when it
/// crosses itself, when no program is installed (naming the packages), when the program fails (with its last words),
/// and when it filled another volume than the surface encloses.
TetMesh tetrahedralise(TriangleMesh surface, const TetrahedraliseOptions& options = {});

}  // namespace pliant
