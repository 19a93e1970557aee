#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "pliant/base/error.hpp"
#include "pliant/mesh/formats/binary_scanner.hpp"
#include "pliant/mesh/formats/polygons.hpp"
#include "pliant/mesh/formats/surface_formats.hpp"
#include "pliant/mesh/formats/text_scanner.hpp"
#include "pliant/mesh/formats/text_writer.hpp"

namespace pliant {

namespace {

struct Property {
  std::string name;
  Scalar type = Scalar::float32;
  std::optional<Scalar> length;  ///< of a list: the type of its length
};

struct Element {
  std::string name;
  std::uint64_t count = 0;
  std::vector<Property> properties;
};

Scalar scalar_type(TextScanner& in) {
  constexpr std::array<std::pair<std::string_view, Scalar>, 16> types = {{{"char", Scalar::int8},
                                                                          {"int8", Scalar::int8},
                                                                          {"uchar", Scalar::uint8},
                                                                          {"uint8", Scalar::uint8},
                                                                          {"short", Scalar::int16},
                                                                          {"int16", Scalar::int16},
                                                                          {"ushort", Scalar::uint16},
                                                                          {"uint16", Scalar::uint16},
                                                                          {"int", Scalar::int32},
                                                                          {"int32", Scalar::int32},
                                                                          {"uint", Scalar::uint32},
                                                                          {"uint32", Scalar::uint32},
                                                                          {"float", Scalar::float32},
                                                                          {"float32", Scalar::float32},
                                                                          {"double", Scalar::float64},
                                                                          {"float64", Scalar::float64}}};
  const std::string_view name = in.word("the type of a property");
  const auto found = std::find_if(types.begin(), types.end(), [&](const auto& t) { return t.first == name; });
  if (found == types.end()) in.fail(fmt::format("a property of the unknown type '{}'.", shown(name)));
  return found->second;
}

class PlyReader {
 public:
  PlyReader(std::string_view content, const std::string& file) : text_(content, file, TextScanner::Comments::none) {
    mesh_.source = file;
  }

  TriangleMesh read() {
    header();
    for (const Element& element : elements_) {
      if (element.name == "vertex") {
        vertices(element);
      } else if (element.name == "face") {
        faces(element);
      } else {
        each(
            element, [](const Property&, auto&&) {}, [] {});
      }
    }
    polygons_.add_notes(mesh_);
    check_triangle_mesh(mesh_);
    return std::move(mesh_);
  }

 private:
  void header() {
    if (text_.word("ply") != "ply") text_.fail("a PLY file begins with 'ply'.");
    for (;;) {
      text_.end_line();
      const std::string_view keyword = text_.word("end_header");
      if (keyword == "end_header") break;
      if (keyword == "format") {
        format();
      } else if (keyword == "element") {
        Element& element = elements_.emplace_back();
        element.name = text_.word("the name of an element");
        element.count = static_cast<std::uint64_t>(text_.integer("the number of elements", 0));
      } else if (keyword == "property") {
        property();
      } else if (keyword != "comment" && keyword != "obj_info") {
        text_.fail(fmt::format("expected a line of the header, found '{}'.", shown(keyword)));
      }
    }
    if (!have_format_) text_.fail("the header has no line 'format'.");
    text_.end_line();
    if (binary_) bytes_.emplace(text_.text(), text_.file(), order_, text_.position());
  }

  void format() {
    const std::string_view name = text_.word("the format");
    have_format_ = true;
    binary_ = name != "ascii";
    if (name == "binary_big_endian") {
      order_ = ByteOrder::big;
    } else if (name != "ascii" && name != "binary_little_endian") {
      text_.fail(fmt::format("the format '{}' is not known.", shown(name)));
    }
  }

  void property() {
    if (elements_.empty()) text_.fail("a property before the first element.");
    Property property;
    if (text_.peek() == "list") {
      text_.word();
      property.length = scalar_type(text_);
    }
    property.type = scalar_type(text_);
    property.name = text_.word("the name of a property");
    elements_.back().properties.push_back(std::move(property));
  }

  [[noreturn]] void fail(const std::string& message) const {
    if (bytes_) bytes_->fail(message);
    text_.fail(message);
  }

  double real(Scalar type) { return bytes_ ? bytes_->real(type, "a property") : text_.real("a property"); }
  std::int64_t integer(Scalar type) {
    return bytes_ ? bytes_->integer(type, "a property") : text_.integer("a property");
  }

  /// Reads every row of an element. `use(property, read)` may call read() for the number of a property (once for each
  /// of a list, whose length it is given by `length()`); what it does not read is passed over. `done()` ends a row.
  template <class Use, class Done>
  void each(const Element& element, Use&& use, Done&& done) {
    if (element.properties.empty()) return;  // takes no room: its count may say anything
    for (std::uint64_t row = 0; row < element.count; ++row) {
      for (const Property& property : element.properties) {
        list_.clear();
        const std::int64_t length = property.length ? integer(*property.length) : 1;
        const std::size_t room =
            bytes_ ? bytes_->remaining() / size_of(property.type) : text_.text().size() - text_.position();
        if (length < 0 || static_cast<std::uint64_t>(length) > room) {
          fail(fmt::format("a list of {} numbers, more than the rest of the file can hold.", length));
        }
        for (std::int64_t i = 0; i < length; ++i) list_.push_back(real(property.type));
        use(property, list_);
      }
      done();
    }
  }

  void vertices(const Element& element) {
    std::array<bool, 3> have = {false, false, false};
    const auto axis = [](const Property& property) {
      const bool one = property.name.size() == 1 && !property.length;
      return one && property.name[0] >= 'x' && property.name[0] <= 'z' ? property.name[0] - 'x' : -1;
    };
    for (const Property& property : element.properties) {
      if (axis(property) >= 0) have[static_cast<std::size_t>(axis(property))] = true;
    }
    if (!have[0] || !have[1] || !have[2]) fail("the vertices lack one of the properties x, y, z.");
    if (element.count > static_cast<std::uint64_t>(std::numeric_limits<Index>::max())) {
      fail(fmt::format("{} vertices are too many to number.", element.count));
    }
    Vec3 x;
    each(
        element,
        [&](const Property& property, const std::vector<double>& values) {
          if (const int a = axis(property); a >= 0) x[a] = values[0];
        },
        [&] { mesh_.vertices.push_back(x); });
    vertex_count_ = static_cast<std::int64_t>(element.count);
  }

  void faces(const Element& element) {
    std::vector<Index> corners;
    each(
        element,
        [&](const Property& property, const std::vector<double>& values) {
          if (!property.length || (property.name != "vertex_indices" && property.name != "vertex_index")) return;
          corners.clear();
          for (double value : values) {
            if (!(value >= 0 && value < static_cast<double>(vertex_count_)) || value != std::floor(value)) {
              fail(fmt::format("a face names vertex {}, but the vertices are numbered 0 to {}.", value,
                               vertex_count_ - 1));
            }
            corners.push_back(static_cast<Index>(value));
          }
          if (corners.size() < 3) fail(fmt::format("a face with {} corners.", corners.size()));
        },
        [&] { polygons_.add(mesh_, corners); });
  }

  TextScanner text_;
  std::optional<BinaryScanner> bytes_;  ///< after the header of a binary file
  bool have_format_ = false;
  bool binary_ = false;
  ByteOrder order_ = ByteOrder::little;
  std::vector<Element> elements_;
  std::vector<double> list_;
  std::int64_t vertex_count_ = 0;
  TriangleMesh mesh_;
  Polygons polygons_;
};

}  // namespace

TriangleMesh read_ply(std::string_view content, const std::string& file) { return PlyReader(content, file).read(); }

std::string write_ply(const TriangleMesh& mesh, Encoding encoding) {
  const bool binary = encoding == Encoding::binary;
  std::string out = fmt::format(
      "ply\nformat {} 1.0\nelement vertex {}\nproperty double x\nproperty double y\nproperty double z\n"
      "element face {}\nproperty list uchar int vertex_indices\nend_header\n",
      binary ? "binary_little_endian" : "ascii", mesh.vertices.size(), mesh.triangles.size());
  for (const Vec3& x : mesh.vertices) {
    if (binary) {
      for (int a = 0; a < 3; ++a) append_bytes(out, x[a], ByteOrder::little);
    } else {
      append(out, "{} {} {}\n", x[0], x[1], x[2]);
    }
  }
  for (const Triangle& triangle : mesh.triangles) {
    if (binary) {
      append_bytes(out, std::uint8_t{3}, ByteOrder::little);
      for (Index v : triangle) append_bytes(out, v, ByteOrder::little);
    } else {
      append(out, "3 {} {} {}\n", triangle[0], triangle[1], triangle[2]);
    }
  }
  return out;
}

}  // namespace pliant
