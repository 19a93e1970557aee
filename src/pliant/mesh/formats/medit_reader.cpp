#include <fmt/format.h>

#include <cctype>

#include "pliant/base/error.hpp"
#include "pliant/mesh/formats/medit.hpp"
#include "pliant/mesh/formats/text_scanner.hpp"

// A MEDIT file is a sequence of sections, each a keyword, a count and that many records of numbers, free of line
// structure. Vertices and Tetrahedra are read; whatever else describes points, edges or surfaces (Triangles,
// RequiredVertices, Normals, ...) is passed over up to the next keyword, without a table of record lengths that would
// never be complete. Other volume elements are refused: leaving them out would leave holes in the body.

namespace pliant {

namespace {

class MeditReader {
 public:
  MeditReader(std::string_view text, const std::string& file) : in_(text, file, TextScanner::Comments::hash) {
    data_.source = file;
  }

  MeshData read() {
    header();
    while (!in_.peek().empty()) {
      const std::string_view keyword = in_.word();
      if (keyword == "End") break;
      if (keyword == "Dimension") {
        dimension();
      } else if (keyword == "Vertices") {
        vertices();
      } else if (keyword == "Tetrahedra") {
        tetrahedra(4);
      } else if (keyword == "TetrahedraP2") {
        tetrahedra(10);
      } else if (is_keyword(keyword)) {
        other(keyword);
      } else {
        in_.fail(fmt::format(
            "expected a section keyword, found '{}'; the section before it holds more numbers than its count "
            "says.",
            shown(keyword)));
      }
    }
    if (!have_vertices_) throw InputError(in_.file() + ": the file has no Vertices section; it may be truncated.");
    if (!have_tets_)
      throw InputError(in_.file() + ": the file has no Tetrahedra section; save the mesh with its volume elements.");
    return std::move(data_);
  }

 private:
  static bool is_keyword(std::string_view word) { return std::isalpha(static_cast<unsigned char>(word[0])) != 0; }

  void header() {
    if (in_.word("MeshVersionFormatted") != "MeshVersionFormatted") {
      in_.fail("a MEDIT text file begins with MeshVersionFormatted.");
    }
    in_.integer("the format version", 1, 4);
  }

  void dimension() {
    if (in_.integer("the dimension") != 3)
      in_.fail("the dimension must be 3; a planar mesh has no volume to simulate.");
  }

  void once(bool& seen, const char* section) {
    if (seen) in_.fail(fmt::format("a second {} section; a file must have one.", section));
    seen = true;
  }

  void vertices() {
    once(have_vertices_, "Vertices");
    const Index count = in_.count("the number of vertices", 4);
    data_.vertices.resize(static_cast<std::size_t>(count));
    for (Vec3& x : data_.vertices) {
      for (int a = 0; a < 3; ++a) x[a] = in_.real("a vertex coordinate");
      in_.integer("the reference of a vertex");
    }
  }

  /// Elements with more than four vertices are read by the first four, their corners.
  void tetrahedra(int nodes) {
    if (!have_vertices_) in_.fail("Tetrahedra come before Vertices; the vertices must come first.");
    const Index count = in_.count("the number of tetrahedra", nodes + 1);
    if (nodes > 4 && count == 0) return;
    once(have_tets_, "Tetrahedra");
    data_.tets.resize(static_cast<std::size_t>(count));
    data_.regions.resize(static_cast<std::size_t>(count));
    const auto last = static_cast<std::int64_t>(data_.vertices.size());
    for (std::size_t t = 0; t < data_.tets.size(); ++t) {
      for (int k = 0; k < nodes; ++k) {
        const auto v = static_cast<Index>(in_.integer("the vertex number of a tetrahedron", 1, last) - 1);
        if (k < 4) data_.tets[t][static_cast<std::size_t>(k)] = v;
      }
      data_.regions[t] = static_cast<Index>(in_.integer(
          "the reference of a tetrahedron", std::numeric_limits<Index>::min(), std::numeric_limits<Index>::max()));
    }
    if (nodes > 4) {
      data_.notes.push_back(
          fmt::format("{} tetrahedra of higher order were read by their corners, curved ones straightened", count));
    }
  }

  void other(std::string_view keyword) {
    const bool volume = keyword == "TetrahedraP3" || keyword == "TetrahedraP4" || keyword.starts_with("Hexahedra") ||
                        keyword.starts_with("Prism") || keyword.starts_with("Pyramid") ||
                        keyword.starts_with("Pentahedra");
    if (volume && in_.integer("the number of elements", 0) > 0) {
      in_.fail(fmt::format(
          "the file holds {}; only tetrahedra of first or second order can be simulated: convert them.", keyword));
    }
    while (!in_.peek().empty() && !is_keyword(in_.peek())) in_.word();
  }

  TextScanner in_;
  MeshData data_;
  bool have_vertices_ = false;
  bool have_tets_ = false;
};

}  // namespace

MeshData read_medit(std::string_view text, const std::string& file) { return MeditReader(text, file).read(); }

}  // namespace pliant
