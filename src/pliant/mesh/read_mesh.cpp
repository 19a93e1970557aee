#include "pliant/mesh/read_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pliant/math/error.hpp"
#include "pliant/mesh/gmsh_reader.hpp"
#include "pliant/mesh/medit_reader.hpp"
#include "pliant/mesh/tet_geometry.hpp"
#include "pliant/mesh/text_scanner.hpp"

namespace pliant {

namespace {

void turn_over_if_all_inverted(MeshData& data) {
  for (const Tet& tet : data.tets) {
    if (!(signed_volume(data.vertices, tet) < 0)) return;
  }
  for (Tet& tet : data.tets) std::swap(tet[2], tet[3]);
  data.notes.push_back("all elements were turned over: the file numbers their vertices the other way round");
}

}  // namespace

TetMesh read_mesh(const std::filesystem::path& path) { return TetMesh(read_mesh_data(path)); }

MeshData read_mesh_data(const std::filesystem::path& path) {
  const std::string file = path.string();
  const std::string text = read_text(path);
  TextScanner scanner(text, file, TextScanner::Comments::hash);
  const std::string_view first = scanner.word();
  MeshData data;
  if (first.starts_with('$')) {
    data = read_gmsh(text, file);
  } else if (first == "MeshVersionFormatted") {
    data = read_medit(text, file);
  } else if (first.empty()) {
    throw InputError(file + ": the file is empty.");
  } else {
    scanner.fail(
        "neither a MEDIT text mesh (which begins with MeshVersionFormatted) nor a Gmsh mesh (which begins with "
        "$MeshFormat); "
        "convert it to one of these. Binary .meshb files must be saved as text.");
  }
  turn_over_if_all_inverted(data);
  return data;
}

}  // namespace pliant
