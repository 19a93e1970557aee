#pragma once

#include <string>
#include <string_view>

#include "pliant/mesh/tet_mesh.hpp"

namespace pliant {

/// Reads the text of a MEDIT `.mesh` file; `file` names it in messages. The reference of a tetrahedron becomes its
/// region.
MeshData read_medit(std::string_view text, const std::string& file);

}  // namespace pliant
