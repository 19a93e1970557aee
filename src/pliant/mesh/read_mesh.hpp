#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "pliant/mesh/tet_mesh.hpp"
#include "pliant/mesh/triangle_mesh.hpp"

namespace pliant {

/// Reads a mesh from a file: MEDIT `.mesh` and `.meshb`, Gmsh `.msh` (2.2 and 4.1, text and binary), VTK `.vtk` and
/// `.vtu`, recognised by their content, and TetGen `.node` and `.ele` (either of the two names both), recognised by
/// name. docs/meshes.md says what each carries. Throws InputError with file and line or byte.
///
/// Points, edges and surface elements are skipped, physical groups, references and the like become regions and sets. Of
/// tetrahedra of higher order the corners are read, with a note; other volume elements are an error, because without
/// them the body would have holes.
///
/// Some programs number the corners of a tetrahedron the other way round. When no element of the file has positive
/// volume, all are turned over (their last two corners swapped). A mixture is left as it is, and TetMesh refuses it.
TetMesh read_mesh(const std::filesystem::path& path);

/// The same before the checks of TetMesh, for whoever changes or examines it first.
MeshData read_mesh_data(const std::filesystem::path& path);
/// The same for the content of a file in memory; `file` names it in messages. Not TetGen, which has two files.
MeshData parse_mesh(std::string_view content, const std::string& file);

/// Reads a surface from an OBJ, PLY or STL file, recognised by its content or, where that says nothing, by its name.
TriangleMesh read_surface(const std::filesystem::path& path);
TriangleMesh parse_surface(std::string_view content, const std::string& file);
/// Whether the name is one of a surface file: .obj, .ply, .stl.
bool is_surface_file(const std::filesystem::path& path);

}  // namespace pliant
