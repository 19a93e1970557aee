#pragma once

#include <string>
#include <string_view>

#include "pliant/mesh/formats/encoding.hpp"
#include "pliant/mesh/tet_mesh.hpp"

namespace pliant {

/// Reads a Gmsh `.msh` file of version 2.0 to 2.2 or 4.1, text or binary; `file` names it in messages. The region of a
/// tetrahedron is the tag of its physical group, or of its geometrical entity when it is in no group. A named physical
/// group of any dimension becomes the set of the vertices of its elements; one of volumes names its region too.
/// $ElementData become element fields. Of tetrahedra of higher order the corners are read.
MeshData read_gmsh(std::string_view content, const std::string& file);

enum class GmshVersion { v2_2, v4_1 };

/// The content of a Gmsh file. Sets become physical groups of points, regions physical groups of volumes (labels below
/// 1, which cannot be groups, numbers of entities), element fields $ElementData.
std::string write_gmsh(const MeshData& data, GmshVersion version, Encoding encoding);

}  // namespace pliant
