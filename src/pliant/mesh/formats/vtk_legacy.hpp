#pragma once

#include <string>
#include <string_view>

#include "pliant/mesh/formats/encoding.hpp"
#include "pliant/mesh/tet_mesh.hpp"

namespace pliant {

/// Reads a VTK legacy file (`.vtk`, versions 1 to 5, text or binary) with an unstructured grid; `file` names it in
/// messages. vtk_grid.hpp says what becomes of its data.
MeshData read_vtk_legacy(std::string_view content, const std::string& file);

/// A file of version 4.2, which every program reads.
std::string write_vtk_legacy(const MeshData& data, Encoding encoding);

}  // namespace pliant
