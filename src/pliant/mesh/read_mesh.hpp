#pragma once

#include <filesystem>

#include "pliant/mesh/tet_mesh.hpp"

namespace pliant {

/// Reads a MEDIT `.mesh` or Gmsh `.msh` (2.2 or 4.1, text) file, recognised by its content, not its name. Throws
/// InputError with file and line. Points, edges and surface elements are skipped, physical groups and references become
/// regions and sets; volume elements other than four-node tetrahedra are an error, because without them the body would
/// have holes.
///
/// Some programs number the corners of a tetrahedron the other way round. When no element of the file has positive
/// volume, all are turned over (their last two corners swapped). A mixture is left as it is, and TetMesh refuses it.
TetMesh read_mesh(const std::filesystem::path& path);

/// The same before the checks of TetMesh, for whoever changes or examines it first.
MeshData read_mesh_data(const std::filesystem::path& path);

}  // namespace pliant
