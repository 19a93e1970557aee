#include "fuzz/readers.hpp"

#include "fuzz/inputs.hpp"
#include "pliant/base/error.hpp"
#include "pliant/mesh/formats/gmsh.hpp"
#include "pliant/mesh/formats/medit.hpp"
#include "pliant/mesh/formats/surface_formats.hpp"
#include "pliant/mesh/formats/tetgen.hpp"
#include "pliant/mesh/formats/vtk_legacy.hpp"
#include "pliant/mesh/formats/vtu_reader.hpp"
#include "pliant/mesh/read_mesh.hpp"
#include "pliant/mesh/surface_check.hpp"

namespace pliant::test {

namespace {

template <MeshData (*reader)(std::string_view, const std::string&)>
void read_tets(std::string_view content) {
  const TetMesh mesh(reader(content, "fuzz"));
}

template <TriangleMesh (*reader)(std::string_view, const std::string&)>
void read_triangles(std::string_view content) {
  TriangleMesh mesh = reader(content, "fuzz");
  merge_equal_vertices(mesh);
  check_closed(mesh, examine_surface(mesh));
}

/// The two files in one, with this line in between.
void read_tetgen_pair(std::string_view content) {
  constexpr std::string_view line = "=====\n";
  const std::size_t at = content.find(line);
  const std::string_view nodes = content.substr(0, at);
  const std::string_view elements = at == std::string_view::npos ? "" : content.substr(at + line.size());
  const TetMesh mesh(read_tetgen({nodes, "fuzz.node"}, {elements, "fuzz.ele"}));
}

}  // namespace

const std::vector<FuzzedReader>& fuzzed_readers() {
  static const std::vector<FuzzedReader> readers = {{"any", read_tets<parse_mesh>},
                                                    {"medit", read_tets<read_medit>},
                                                    {"medit_binary", read_tets<read_medit_binary>},
                                                    {"gmsh", read_tets<read_gmsh>},
                                                    {"tetgen", read_tetgen_pair},
                                                    {"vtk", read_tets<read_vtk_legacy>},
                                                    {"vtu", read_tets<read_vtu>},
                                                    {"obj", read_triangles<read_obj>},
                                                    {"ply", read_triangles<read_ply>},
                                                    {"stl", read_triangles<read_stl>},
                                                    {"scene", read_scene_text},
                                                    {"set", read_changes},
                                                    {"selection", read_selection},
                                                    {"checkpoint", read_sealed_checkpoint},
                                                    {"state", read_sealed_state},
                                                    {"messages", read_messages},
                                                    {"film", read_film}};
  return readers;
}

void try_to_read(const FuzzedReader& reader, std::string_view content) {
  try {
    reader.read(content);
  } catch (const InputError&) {
  }
}

}  // namespace pliant::test
