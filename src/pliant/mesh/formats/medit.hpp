#pragma once

#include <string>
#include <string_view>

#include "pliant/mesh/tet_mesh.hpp"

namespace pliant {

/// Reads the text of a MEDIT `.mesh` file; `file` names it in messages. The reference of a tetrahedron becomes its
/// region. Of tetrahedra of second order (TetrahedraP2) the corners are read.
MeshData read_medit(std::string_view text, const std::string& file);
/// The same for the binary form, `.meshb`, versions 1 to 4.
MeshData read_medit_binary(std::string_view bytes, const std::string& file);

/// Vertices, tetrahedra and their regions (0 where there are none).
std::string write_medit(const MeshData& data);
std::string write_medit_binary(const MeshData& data);

}  // namespace pliant
