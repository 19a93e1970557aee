#pragma once

#include <string>
#include <string_view>

#include "pliant/mesh/tet_mesh.hpp"

namespace pliant {

/// Reads the text of a Gmsh `.msh` file of version 2.0 to 2.2 or 4.1; `file` names it in messages. The region of a
/// tetrahedron is the tag of its physical group, or of its geometrical entity when it is in no group. A named physical
/// group of any dimension becomes the set of the vertices of its elements; one of volumes names its region too.
MeshData read_gmsh(std::string_view text, const std::string& file);

}  // namespace pliant
