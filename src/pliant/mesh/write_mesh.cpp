#include "pliant/mesh/write_mesh.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "pliant/base/atomic_file.hpp"
#include "pliant/base/error.hpp"
#include "pliant/base/nearest.hpp"
#include "pliant/mesh/formats/gmsh.hpp"
#include "pliant/mesh/formats/medit.hpp"
#include "pliant/mesh/formats/surface_formats.hpp"
#include "pliant/mesh/formats/tetgen.hpp"
#include "pliant/mesh/formats/vtk_legacy.hpp"
#include "pliant/mesh/formats/vtu_writer.hpp"

namespace pliant {

const std::vector<FormatInfo>& mesh_formats() {
  static const std::vector<FormatInfo> formats = {
      {"medit", ".mesh", "MEDIT, text"},
      {"medit-binary", ".meshb", "MEDIT, binary"},
      {"gmsh41", ".msh", "Gmsh 4.1, text", true},
      {"gmsh41-binary", ".msh", "Gmsh 4.1, binary", true},
      {"gmsh22", ".msh", "Gmsh 2.2, text", true},
      {"gmsh22-binary", ".msh", "Gmsh 2.2, binary", true},
      {"tetgen", ".node", "TetGen, a .node and an .ele file"},
      {"vtk", ".vtk", "VTK legacy, text", true},
      {"vtk-binary", ".vtk", "VTK legacy, binary", true},
      {"vtu", ".vtu", "VTK XML, compressed", true},
  };
  return formats;
}

const std::vector<FormatInfo>& surface_formats() {
  static const std::vector<FormatInfo> formats = {
      {"obj", ".obj", "Wavefront OBJ"},  {"ply", ".ply", "PLY, binary, double precision"},
      {"ply-text", ".ply", "PLY, text"}, {"stl", ".stl", "STL, binary, single precision"},
      {"stl-text", ".stl", "STL, text"},
  };
  return formats;
}

const FormatInfo& format_for(const std::filesystem::path& path, const std::vector<FormatInfo>& formats) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (extension == ".ele") extension = ".node";
  std::vector<std::string> known;
  for (const FormatInfo& format : formats) {
    if (format.extension == extension) return format;
    if (std::find(known.begin(), known.end(), format.extension) == known.end()) known.push_back(format.extension);
  }
  throw InputError(fmt::format("{}: no format has the ending '{}'; use one of {}, or name the format.", path.string(),
                               extension, fmt::join(known, ", ")));
}

const FormatInfo& find_format(const std::string& name, const std::vector<FormatInfo>& formats) {
  std::vector<std::string> known;
  for (const FormatInfo& format : formats) {
    if (format.name == name) return format;
    known.push_back(format.name);
  }
  const std::string near = nearest(name, known);
  throw InputError(fmt::format("there is no format '{}'; {}", name,
                               near.empty() ? fmt::format("choose one of {}", fmt::join(known, ", "))
                                            : fmt::format("did you mean '{}'?", near)));
}

void write_mesh(const std::filesystem::path& path, const MeshData& data, const std::string& format) {
  if (format == "medit") return write_atomically(path, write_medit(data));
  if (format == "medit-binary") return write_atomically(path, write_medit_binary(data));
  if (format == "gmsh41") return write_atomically(path, write_gmsh(data, GmshVersion::v4_1, Encoding::text));
  if (format == "gmsh41-binary") return write_atomically(path, write_gmsh(data, GmshVersion::v4_1, Encoding::binary));
  if (format == "gmsh22") return write_atomically(path, write_gmsh(data, GmshVersion::v2_2, Encoding::text));
  if (format == "gmsh22-binary") return write_atomically(path, write_gmsh(data, GmshVersion::v2_2, Encoding::binary));
  if (format == "vtk") return write_atomically(path, write_vtk_legacy(data, Encoding::text));
  if (format == "vtk-binary") return write_atomically(path, write_vtk_legacy(data, Encoding::binary));
  if (format == "vtu") return write_vtu_mesh(path, data);
  if (format == "tetgen") {
    const TetgenFiles files = write_tetgen(data);
    std::filesystem::path name = path;
    write_atomically(name.replace_extension(".node"), files.nodes);
    return write_atomically(name.replace_extension(".ele"), files.elements);
  }
  find_format(format, mesh_formats());  // throws
}

void write_mesh(const std::filesystem::path& path, const TetMesh& mesh, const std::string& format) {
  write_mesh(path, mesh.data(), format);
}

void write_mesh(const std::filesystem::path& path, const TetMesh& mesh) {
  write_mesh(path, mesh.data(), format_for(path, mesh_formats()).name);
}

void write_surface(const std::filesystem::path& path, const TriangleMesh& mesh, const std::string& format) {
  check_triangle_mesh(mesh);
  if (format == "obj") return write_atomically(path, write_obj(mesh));
  if (format == "ply") return write_atomically(path, write_ply(mesh, Encoding::binary));
  if (format == "ply-text") return write_atomically(path, write_ply(mesh, Encoding::text));
  if (format == "stl") return write_atomically(path, write_stl(mesh, Encoding::binary));
  if (format == "stl-text") return write_atomically(path, write_stl(mesh, Encoding::text));
  find_format(format, surface_formats());  // throws
}

void write_surface(const std::filesystem::path& path, const TriangleMesh& mesh) {
  write_surface(path, mesh, format_for(path, surface_formats()).name);
}

TriangleMesh surface_of(const TetMesh& mesh) {
  TriangleMesh surface;
  surface.source = mesh.source();
  surface.triangles.assign(mesh.surface().begin(), mesh.surface().end());
  std::vector<Index> number(mesh.vertices().size(), -1);
  for (const Triangle& triangle : surface.triangles) {
    for (Index v : triangle) number[static_cast<std::size_t>(v)] = 0;
  }
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (number[v] < 0) continue;
    number[v] = static_cast<Index>(surface.vertices.size());
    surface.vertices.push_back(mesh.vertices()[v]);
  }
  for (Triangle& triangle : surface.triangles) {
    for (Index& v : triangle) v = number[static_cast<std::size_t>(v)];
  }
  for (const auto& [name, members] : mesh.sets()) {
    std::vector<Index>& set = surface.sets[name];
    for (Index v : members) {
      if (number[static_cast<std::size_t>(v)] >= 0) set.push_back(number[static_cast<std::size_t>(v)]);
    }
  }
  return surface;
}

}  // namespace pliant
