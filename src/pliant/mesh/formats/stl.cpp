#include <Eigen/Geometry>
#include <limits>
#include <unordered_map>

#include "pliant/base/error.hpp"
#include "pliant/mesh/formats/binary_scanner.hpp"
#include "pliant/mesh/formats/polygons.hpp"
#include "pliant/mesh/formats/surface_formats.hpp"
#include "pliant/mesh/formats/text_scanner.hpp"
#include "pliant/mesh/formats/text_writer.hpp"

namespace pliant {

namespace {

constexpr std::size_t header_size = 84;
constexpr std::size_t facet_size = 50;

/// Gives equal points the same number.
class PointNumbers {
 public:
  explicit PointNumbers(TriangleMesh& mesh) : mesh_(mesh) {}

  Index number(Vec3 x) {
    for (int a = 0; a < 3; ++a) x[a] += 0.0;  // -0 becomes 0
    const auto [entry, fresh] = numbers_.try_emplace(x, static_cast<Index>(mesh_.vertices.size()));
    if (fresh) mesh_.vertices.push_back(x);
    return entry->second;
  }

 private:
  struct Hash {
    std::size_t operator()(const Vec3& x) const {
      std::uint64_t hash = 0;
      for (int a = 0; a < 3; ++a) {
        hash ^= std::bit_cast<std::uint64_t>(x[a]) + 0x9e3779b97f4a7c15ULL + (hash << 6U) + (hash >> 2U);
        hash *= 0xff51afd7ed558ccdULL;
        hash ^= hash >> 32U;
      }
      return static_cast<std::size_t>(hash);
    }
  };

  TriangleMesh& mesh_;
  std::unordered_map<Vec3, Index, Hash> numbers_;
};

void read_binary(std::string_view content, const std::string& file, TriangleMesh& mesh, Polygons& polygons) {
  BinaryScanner in(content, file, ByteOrder::little);
  in.take(header_size - 4, "the header of a binary STL file");
  const auto count =
      in.checked_count(in.value<std::uint32_t>("the number of triangles"), facet_size, "the number of triangles");
  PointNumbers points(mesh);
  for (Index t = 0; t < count; ++t) {
    in.take(12, "the normal of a triangle");
    Triangle corners;
    for (Index& v : corners) {
      Vec3 x;
      for (int a = 0; a < 3; ++a) x[a] = in.real(Scalar::float32, "a coordinate");
      v = points.number(x);
    }
    in.take(2, "the attribute of a triangle");
    polygons.add(mesh, corners);
  }
}

void expect(TextScanner& in, const char* word) {
  const std::string_view found = in.word(word);
  if (found != word) in.fail(fmt::format("expected '{}', found '{}'.", word, shown(found)));
}

void read_text(std::string_view content, const std::string& file, TriangleMesh& mesh, Polygons& polygons) {
  TextScanner in(content, file, TextScanner::Comments::none);
  PointNumbers points(mesh);
  while (!in.peek().empty()) {
    expect(in, "solid");
    in.skip_line();  // its name
    for (;;) {
      const std::string_view word = in.word("endsolid");
      if (word == "endsolid") break;
      if (word != "facet") in.fail(fmt::format("expected 'facet' or 'endsolid', found '{}'.", shown(word)));
      in.skip_line();  // its normal
      expect(in, "outer");
      expect(in, "loop");
      Triangle corners;
      for (Index& v : corners) {
        expect(in, "vertex");
        Vec3 x;
        for (int a = 0; a < 3; ++a) x[a] = in.real("a coordinate");
        v = points.number(x);
      }
      expect(in, "endloop");
      expect(in, "endfacet");
      polygons.add(mesh, corners);
    }
    in.skip_line();
  }
}

/// A binary file may begin with "solid" too, but its length follows from the number of its triangles.
bool is_binary(std::string_view content) {
  if (content.size() >= header_size) {
    const auto count = BinaryScanner(content, "", ByteOrder::little, header_size - 4).value<std::uint32_t>("");
    if (content.size() == header_size + facet_size * std::uint64_t{count}) return true;
  }
  return !content.starts_with("solid");
}

}  // namespace

TriangleMesh read_stl(std::string_view content, const std::string& file) {
  TriangleMesh mesh;
  mesh.source = file;
  Polygons polygons;
  is_binary(content) ? read_binary(content, file, mesh, polygons) : read_text(content, file, mesh, polygons);
  polygons.add_notes(mesh);
  check_triangle_mesh(mesh);
  return mesh;
}

std::string write_stl(const TriangleMesh& mesh, Encoding encoding) {
  const bool binary = encoding == Encoding::binary;
  std::string out;
  if (binary) {
    out = "binary STL, lengths in metres";
    out.resize(header_size - 4, ' ');
    append_bytes(out, static_cast<std::uint32_t>(mesh.triangles.size()), ByteOrder::little);
  } else {
    out = "solid surface\n";
  }
  for (const auto& [a, b, c] : mesh.triangles) {
    const std::array<const Vec3*, 3> x = {&mesh.vertices[static_cast<std::size_t>(a)],
                                          &mesh.vertices[static_cast<std::size_t>(b)],
                                          &mesh.vertices[static_cast<std::size_t>(c)]};
    const Vec3 normal = (*x[1] - *x[0]).cross(*x[2] - *x[0]).stableNormalized();
    if (binary) {
      for (int k = 0; k < 3; ++k) append_bytes(out, static_cast<float>(normal[k]), ByteOrder::little);
      for (const Vec3* corner : x) {
        for (int k = 0; k < 3; ++k) append_bytes(out, static_cast<float>((*corner)[k]), ByteOrder::little);
      }
      append_bytes(out, std::uint16_t{0}, ByteOrder::little);
    } else {
      append(out, "facet normal {} {} {}\nouter loop\n", normal[0], normal[1], normal[2]);
      for (const Vec3* corner : x) append(out, "vertex {} {} {}\n", (*corner)[0], (*corner)[1], (*corner)[2]);
      out += "endloop\nendfacet\n";
    }
  }
  if (!binary) out += "endsolid surface\n";
  return out;
}

}  // namespace pliant
