#include "pliant/mesh/formats/tetgen.hpp"

#include <fmt/format.h>

#include <cmath>

#include "pliant/mesh/formats/text_scanner.hpp"
#include "pliant/mesh/formats/text_writer.hpp"

namespace pliant {

namespace {

constexpr std::int64_t most_attributes = 1000;

/// The points, and the number of the first one: 0 or 1.
std::int64_t read_nodes(const NamedText& from, MeshData& data) {
  TextScanner in(from.text, from.file, TextScanner::Comments::hash);
  const Index count = in.count("the number of points", 4);
  if (in.integer("the dimension") != 3) in.fail("the dimension must be 3.");
  const std::int64_t attributes = in.integer("the number of attributes", 0, most_attributes);
  const std::int64_t markers = in.integer("the number of boundary markers", 0, 1);
  std::int64_t first = 0;
  data.vertices.resize(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) {
    const std::int64_t number = in.integer("the number of a point");
    if (i == 0) {
      if (number != 0 && number != 1) in.fail(fmt::format("the first point has the number {}, not 0 or 1.", number));
      first = number;
    } else if (number != first + i) {
      in.fail(fmt::format("the number of this point should be {}, but is {}.", first + i, number));
    }
    for (int a = 0; a < 3; ++a) data.vertices[static_cast<std::size_t>(i)][a] = in.real("a coordinate");
    for (std::int64_t k = 0; k < attributes + markers; ++k) in.real("an attribute of a point");
  }
  if (!in.peek().empty()) in.word(), in.fail("the file holds more than the points announced.");
  return first;
}

bool all_integers(const ElementField& field) {
  for (double value : field.values) {
    if (value != std::floor(value) || std::abs(value) > std::numeric_limits<Index>::max()) return false;
  }
  return true;
}

}  // namespace

MeshData read_tetgen(const NamedText& nodes, const NamedText& elements) {
  MeshData data;
  data.source = elements.file;
  const std::int64_t first = read_nodes(nodes, data);
  TextScanner in(elements.text, elements.file, TextScanner::Comments::hash);
  const Index count = in.count("the number of tetrahedra", 5);
  const std::int64_t corners = in.integer("the number of nodes of a tetrahedron");
  if (corners != 4 && corners != 10)
    in.fail(fmt::format("a tetrahedron with {} nodes; there must be 4 or 10.", corners));
  const auto attributes =
      static_cast<std::size_t>(in.integer("the number of attributes of a tetrahedron", 0, most_attributes));
  const std::int64_t last = first + static_cast<std::int64_t>(data.vertices.size()) - 1;
  std::vector<ElementField> fields(attributes);
  data.tets.resize(static_cast<std::size_t>(count));
  for (Index t = 0; t < count; ++t) {
    const std::int64_t number = in.integer("the number of a tetrahedron");
    if (number != first + t)
      in.fail(fmt::format("the number of this tetrahedron should be {}, but is {}.", first + t, number));
    for (std::int64_t k = 0; k < corners; ++k) {
      const std::int64_t v = in.integer("the point of a tetrahedron", first, last) - first;
      if (k < 4) data.tets[static_cast<std::size_t>(t)][static_cast<std::size_t>(k)] = static_cast<Index>(v);
    }
    for (ElementField& field : fields) field.values.push_back(in.real("an attribute of a tetrahedron"));
  }
  if (!in.peek().empty()) in.word(), in.fail("the file holds more than the tetrahedra announced.");

  for (std::size_t k = 0; k < attributes; ++k) {
    if (k == 0 && all_integers(fields[k])) {
      data.regions.assign(fields[k].values.begin(), fields[k].values.end());
    } else {
      data.element_fields[fmt::format("attribute {}", k + 1)] = std::move(fields[k]);
    }
  }
  if (corners == 10) {
    data.notes.push_back(
        fmt::format("{} tetrahedra of higher order were read by their corners, curved ones straightened", count));
  }
  return data;
}

TetgenFiles write_tetgen(const MeshData& data) {
  TetgenFiles files;
  append(files.nodes, "{} 3 0 0\n", data.vertices.size());
  for (std::size_t v = 0; v < data.vertices.size(); ++v) {
    const Vec3& x = data.vertices[v];
    append(files.nodes, "{} {} {} {}\n", v, x[0], x[1], x[2]);
  }
  append(files.elements, "{} 4 {}\n", data.tets.size(), data.regions.empty() ? 0 : 1);
  for (std::size_t t = 0; t < data.tets.size(); ++t) {
    append(files.elements, "{} {}", t, fmt::join(data.tets[t], " "));
    if (!data.regions.empty()) append(files.elements, " {}", data.regions[t]);
    files.elements += '\n';
  }
  return files;
}

}  // namespace pliant
