#include <charconv>
#include <limits>

#include "pliant/mesh/formats/polygons.hpp"
#include "pliant/mesh/formats/surface_formats.hpp"
#include "pliant/mesh/formats/text_scanner.hpp"
#include "pliant/mesh/formats/text_writer.hpp"

namespace pliant {

namespace {

/// The vertex of a corner such as "7", "7/1/3" or "-1" (the last one so far).
Index corner(TextScanner& in, std::size_t vertices) {
  const std::string_view word = in.word("the corner of a face");
  const std::string_view text = word.substr(0, word.find('/'));
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    in.fail(fmt::format("expected the corner of a face, found '{}'.", shown(word)));
  }
  const auto count = static_cast<std::int64_t>(vertices);
  if (number == 0 || number > count || number < -count) {
    in.fail(fmt::format("a face names vertex {}, but {} came before it.", number, count));
  }
  return static_cast<Index>(number > 0 ? number - 1 : count + number);
}

/// Whether the line goes on; a backslash at its end joins the next one.
bool more(TextScanner& in) {
  while (in.more_on_line()) {
    if (in.peek() != "\\") return true;
    in.word();
    in.end_line();
  }
  return false;
}

}  // namespace

TriangleMesh read_obj(std::string_view text, const std::string& file) {
  TextScanner in(text, file, TextScanner::Comments::hash);
  TriangleMesh mesh;
  mesh.source = file;
  Polygons polygons;
  std::vector<Index> corners;
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<Index>::max());
  while (!in.peek().empty()) {
    const std::string_view keyword = in.word();
    if (keyword == "v") {
      Vec3 x;
      for (int a = 0; a < 3; ++a) {
        if (!more(in)) in.fail("a vertex needs three coordinates.");
        x[a] = in.real("a coordinate");
      }
      mesh.vertices.push_back(x);
      if (mesh.vertices.size() > most) in.fail("too many vertices to number.");
      in.skip_line();  // a weight or a colour
    } else if (keyword == "f") {
      corners.clear();
      while (more(in)) corners.push_back(corner(in, mesh.vertices.size()));
      if (corners.size() < 3) in.fail(fmt::format("a face with {} corners.", corners.size()));
      polygons.add(mesh, corners);
      if (mesh.triangles.size() > most) in.fail("too many triangles to number.");
    } else {
      in.skip_line();
    }
  }
  polygons.add_notes(mesh);
  check_triangle_mesh(mesh);
  return mesh;
}

std::string write_obj(const TriangleMesh& mesh) {
  std::string out;
  for (const Vec3& x : mesh.vertices) append(out, "v {} {} {}\n", x[0], x[1], x[2]);
  for (const auto& [a, b, c] : mesh.triangles) append(out, "f {} {} {}\n", a + 1, b + 1, c + 1);
  return out;
}

}  // namespace pliant
