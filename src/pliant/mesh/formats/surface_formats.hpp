#pragma once

#include <string>
#include <string_view>

#include "pliant/mesh/formats/encoding.hpp"
#include "pliant/mesh/triangle_mesh.hpp"

namespace pliant {

// `file` names the content in messages. Polygons with more than three corners are cut into triangles from their first
// corner, with a note; triangles that use a vertex twice are left out, with a note.

/// Wavefront OBJ: v and f; texture, normals, materials and groups are passed over.
TriangleMesh read_obj(std::string_view text, const std::string& file);
std::string write_obj(const TriangleMesh& mesh);

/// Stanford PLY, text or binary of either byte order: x, y, z of the vertices, vertex_indices (or vertex_index) of the
/// faces; other properties and elements are passed over.
TriangleMesh read_ply(std::string_view content, const std::string& file);
/// With coordinates as doubles; binary is little-endian.
std::string write_ply(const TriangleMesh& mesh, Encoding encoding);

/// STL, text or binary. It has corners instead of vertices: equal ones (bit for bit, but -0 equals 0) become one
/// vertex, numbered as they appear.
TriangleMesh read_stl(std::string_view content, const std::string& file);
/// Text keeps every bit of the coordinates; binary, as the format is, rounds them to single precision.
std::string write_stl(const TriangleMesh& mesh, Encoding encoding);

}  // namespace pliant
