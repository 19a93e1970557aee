#include "pliant/mesh/read_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pliant/base/error.hpp"
#include "pliant/base/file_content.hpp"
#include "pliant/mesh/formats/gmsh.hpp"
#include "pliant/mesh/formats/medit.hpp"
#include "pliant/mesh/formats/surface_formats.hpp"
#include "pliant/mesh/formats/tetgen.hpp"
#include "pliant/mesh/formats/text_scanner.hpp"
#include "pliant/mesh/formats/vtk_legacy.hpp"
#include "pliant/mesh/formats/vtu_reader.hpp"
#include "pliant/mesh/tet_geometry.hpp"

namespace pliant {

namespace {

void turn_over_if_all_inverted(MeshData& data) {
  if (data.tets.empty()) return;
  for (const Tet& tet : data.tets) {
    if (!(signed_volume(data.vertices, tet) < 0)) return;
  }
  for (Tet& tet : data.tets) std::swap(tet[2], tet[3]);
  data.notes.push_back("all elements were turned over: the file numbers their vertices the other way round");
}

std::string lower_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return extension;
}

bool is_binary_medit(std::string_view content) {
  return content.starts_with(std::string_view("\1\0\0\0", 4)) || content.starts_with(std::string_view("\0\0\0\1", 4));
}

MeshData parse(std::string_view content, const std::string& file) {
  if (content.empty()) throw InputError(file + ": the file is empty.");
  if (is_binary_medit(content)) return read_medit_binary(content, file);
  if (content.starts_with("# vtk DataFile")) return read_vtk_legacy(content, file);
  TextScanner scanner(content, file, TextScanner::Comments::hash);
  const std::string_view first = scanner.word();
  if (first.empty()) throw InputError(file + ": the file is empty.");
  if (first.starts_with('$')) return read_gmsh(content, file);
  if (first.starts_with('<')) return read_vtu(content, file);
  if (first == "MeshVersionFormatted") return read_medit(content, file);
  if (first == "ply" || first == "solid" || first == "v" || is_surface_file(file)) {
    scanner.fail("this is a surface, without tetrahedra; fill it with `pliant mesh tetrahedralise` first.");
  }
  scanner.fail(
      "not a mesh of a known format: neither MEDIT (begins with MeshVersionFormatted) nor Gmsh ($MeshFormat) nor VTK "
      "(# vtk DataFile, or XML); convert it to one of these. TetGen's files need the names .node and .ele.");
}

}  // namespace

MeshData parse_mesh(std::string_view content, const std::string& file) {
  MeshData data = parse(content, file);
  turn_over_if_all_inverted(data);
  return data;
}

MeshData read_mesh_data(const std::filesystem::path& path) {
  const std::string extension = lower_extension(path);
  if (extension == ".node" || extension == ".ele") {
    std::filesystem::path nodes = path;
    std::filesystem::path elements = path;
    const bool upper = path.extension().string() != extension;
    nodes.replace_extension(upper ? ".NODE" : ".node");
    elements.replace_extension(upper ? ".ELE" : ".ele");
    const FileContent node_content(nodes);
    const FileContent element_content(elements);
    MeshData data = read_tetgen({node_content.bytes(), nodes.string()}, {element_content.bytes(), elements.string()});
    turn_over_if_all_inverted(data);
    return data;
  }
  const FileContent content(path);
  return parse_mesh(content.bytes(), path.string());
}

TetMesh read_mesh(const std::filesystem::path& path) { return TetMesh(read_mesh_data(path)); }

bool is_surface_file(const std::filesystem::path& path) {
  const std::string extension = lower_extension(path);
  return extension == ".obj" || extension == ".ply" || extension == ".stl";
}

TriangleMesh parse_surface(std::string_view content, const std::string& file) {
  if (content.empty()) throw InputError(file + ": the file is empty.");
  const std::string extension = lower_extension(file);
  if (content.starts_with("ply\n") || content.starts_with("ply\r")) return read_ply(content, file);
  if (extension == ".stl" || content.starts_with("solid ")) return read_stl(content, file);
  if (extension == ".obj") return read_obj(content, file);
  if (extension == ".ply") return read_ply(content, file);
  throw InputError(file + ": not a surface of a known format: OBJ, PLY or STL, known by the name of the file.");
}

TriangleMesh read_surface(const std::filesystem::path& path) {
  const FileContent content(path);
  return parse_surface(content.bytes(), path.string());
}

}  // namespace pliant
