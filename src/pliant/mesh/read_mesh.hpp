#pragma once

#include <filesystem>

#include "pliant/mesh/tet_mesh.hpp"

namespace pliant {

/// Reads a MEDIT `.mesh` or Gmsh `.msh` (2.2 or 4.1, text) file, recognised by its content, not its name. Throws InputError
/// with file and line. Elements other than tetrahedra are skipped; physical groups and references become regions and sets.
MeshData read_mesh(const std::filesystem::path& path);

}  // namespace pliant
