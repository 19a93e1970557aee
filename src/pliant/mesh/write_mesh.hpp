#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pliant/mesh/tet_mesh.hpp"
#include "pliant/mesh/triangle_mesh.hpp"

namespace pliant {

// All files are whole or not there at all. Text has as many digits as it takes to read every coordinate back bit for
// bit. Throws InputError for names and formats that do not fit, std::system_error when a file cannot be written.

/// Writes a mesh in the format that goes with the name: `.mesh`, `.meshb` (MEDIT), `.msh` (Gmsh 4.1, text), `.node` or
/// `.ele` (TetGen, both files), `.vtk` (text), `.vtu`. docs/meshes.md says what each carries.
void write_mesh(const std::filesystem::path& path, const TetMesh& mesh);
/// Writes it in one of mesh_formats(), whatever the name.
void write_mesh(const std::filesystem::path& path, const TetMesh& mesh, const std::string& format);
void write_mesh(const std::filesystem::path& path, const MeshData& data, const std::string& format);

/// `.obj`, `.ply` (binary), `.stl` (binary).
void write_surface(const std::filesystem::path& path, const TriangleMesh& mesh);
void write_surface(const std::filesystem::path& path, const TriangleMesh& mesh, const std::string& format);

/// What can be written, by names such as "gmsh22-binary".
struct FormatInfo {
  std::string name;
  std::string extension;  ///< the first format with an extension is the one its name stands for
  std::string summary;
  bool rich = false;  ///< carries names of regions, sets and element fields too, besides vertices, elements and regions
};
const std::vector<FormatInfo>& mesh_formats();
const std::vector<FormatInfo>& surface_formats();

/// The format a file of this name is written in. Throws InputError for an ending that goes with none.
const FormatInfo& format_for(const std::filesystem::path& path, const std::vector<FormatInfo>& formats);
/// The format of this name. Throws InputError naming the nearest.
const FormatInfo& find_format(const std::string& name, const std::vector<FormatInfo>& formats);

/// The boundary of a mesh, its vertices in their order.
TriangleMesh surface_of(const TetMesh& mesh);

}  // namespace pliant
