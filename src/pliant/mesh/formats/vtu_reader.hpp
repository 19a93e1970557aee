#pragma once

#include <string>
#include <string_view>

#include "pliant/mesh/tet_mesh.hpp"

namespace pliant {

/// Reads a VTK XML unstructured grid (`.vtu`) of one piece: arrays as text, base64 or appended bytes, uncompressed or
/// compressed by zlib. `file` names it in messages; vtk_grid.hpp says what becomes of its data.
MeshData read_vtu(std::string_view content, const std::string& file);

}  // namespace pliant
