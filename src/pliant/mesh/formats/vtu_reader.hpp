#pragma once

#include <string>
#include <string_view>

#include "pliant/mesh/formats/vtk_grid.hpp"

namespace pliant {

/// Reads a VTK XML unstructured grid (`.vtu`) of one piece: arrays as text, base64 or appended bytes, uncompressed or
/// compressed by zlib. `file` names it in messages; vtk_grid.hpp says what becomes of its data.
MeshData read_vtu(std::string_view content, const std::string& file);
/// The same as it is in the file, with all data of points and cells: what a frame of a run is read back with. Numbers
/// of points in the connectivity are not checked.
VtkGrid read_vtu_grid(std::string_view content, const std::string& file);

}  // namespace pliant
