#include <algorithm>
#include <charconv>
#include <limits>

#include "pliant/mesh/formats/polygons.hpp"
#include "pliant/mesh/formats/surface_formats.hpp"
#include "pliant/mesh/formats/text_scanner.hpp"
#include "pliant/mesh/formats/text_writer.hpp"

namespace pliant {

namespace {

/// A number of a corner such as "7", "7/1/3" or "-1" (the last one so far).
Index corner_number(TextScanner& in, std::string_view word, std::string_view text, std::size_t vertices) {
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

/// The vertex of a corner, and its place in the texture, -1 where there is none.
std::array<Index, 2> corner(TextScanner& in, std::size_t vertices, std::size_t places) {
  const std::string_view word = in.word("the corner of a face");
  const std::size_t slash = word.find('/');
  const Index vertex = corner_number(in, word, word.substr(0, slash), vertices);
  if (slash == std::string_view::npos) return {vertex, -1};
  const std::string_view rest = word.substr(slash + 1), place = rest.substr(0, rest.find('/'));
  // What cannot be a place in the texture is no reason to refuse the shape.
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(place.data(), place.data() + place.size(), number);
  const auto count = static_cast<std::int64_t>(places);
  if (error != std::errc{} || number == 0 || number > count || number < -count) return {vertex, -1};
  return {vertex, static_cast<Index>(number > 0 ? number - 1 : count + number)};
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
  std::vector<Index> corners, places;
  TriangleMesh::Look& look = mesh.look;
  Index material = -1;
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
      places.clear();
      while (more(in)) {
        const auto [vertex, place] = corner(in, mesh.vertices.size(), look.places.size());
        corners.push_back(vertex);
        places.push_back(place);
      }
      if (corners.size() < 3) in.fail(fmt::format("a face with {} corners.", corners.size()));
      if (std::find(places.begin(), places.end(), -1) != places.end()) places.assign(places.size(), -1);
      polygons.add(mesh, corners, places, material);
      if (mesh.triangles.size() > most) in.fail("too many triangles to number.");
    } else if (keyword == "vt") {
      std::array<double, 2> place = {0, 0};
      for (double& t : place)
        if (more(in)) t = in.real("a place in the texture");
      look.places.push_back(place);
      in.skip_line();
    } else if (keyword == "usemtl" && more(in)) {
      std::string name(in.rest_of_line());  // which may have spaces
      name.erase(0, name.find_first_not_of(" \t"));
      name.erase(name.find_last_not_of(" \t\r") + 1);
      material =
          static_cast<Index>(std::find(look.materials.begin(), look.materials.end(), name) - look.materials.begin());
      if (at(material) == look.materials.size()) look.materials.push_back(name);
    } else if (keyword == "mtllib" && more(in)) {
      look.library = in.word();
      in.skip_line();
    } else {
      in.skip_line();
    }
  }
  // So Blender writes down that there is no material.
  if (look.materials == std::vector<std::string>{"None"}) look.materials.clear();
  if (look.none()) look = {};
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
