#include "pliant/mesh/formats/vtu_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "pliant/base/error.hpp"
#include "pliant/mesh/formats/text_scanner.hpp"
#include "pliant/mesh/formats/vtk_grid.hpp"
#include "pliant/mesh/formats/vtu_data.hpp"
#include "pliant/mesh/formats/xml_scanner.hpp"

// First all tags are gone through, then the arrays are decoded: those that are "appended" lie behind the last tag.

namespace pliant {

namespace {

std::optional<Scalar> vtu_scalar_type(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Scalar>, 10> types = {{{"Int8", Scalar::int8},
                                                                          {"UInt8", Scalar::uint8},
                                                                          {"Int16", Scalar::int16},
                                                                          {"UInt16", Scalar::uint16},
                                                                          {"Int32", Scalar::int32},
                                                                          {"UInt32", Scalar::uint32},
                                                                          {"Int64", Scalar::int64},
                                                                          {"UInt64", Scalar::uint64},
                                                                          {"Float32", Scalar::float32},
                                                                          {"Float64", Scalar::float64}}};
  const auto found = std::find_if(types.begin(), types.end(), [&](const auto& t) { return t.first == name; });
  if (found == types.end()) return std::nullopt;
  return found->second;
}

enum class Storage { text, inline_base64, appended };

struct StoredArray {
  std::string parent;  ///< "Points", "Cells", "PointData", ...
  std::string name;
  std::string type;
  int components = 1;
  Storage storage = Storage::text;
  std::string_view content;  ///< unless appended
  std::uint64_t offset = 0;  ///< if appended
  std::int64_t line = 0;
};

class VtuReader {
 public:
  VtuReader(std::string_view content, const std::string& file) : content_(content), file_(file), xml_(content, file) {
    // Values are 8 bytes each once decoded. Compression gains little on coordinates and indices.
    budget_ = 32 * content.size() + (std::size_t{64} << 20U);
  }

  enum class PointArrays { flags, all };

  VtkGrid read(PointArrays point_arrays) {
    point_arrays_ = point_arrays;
    tags();
    if (!piece_) xml_.fail("the file has no <Piece>; it may be truncated.");
    VtkGrid grid;
    for (const StoredArray& array : arrays_) place(array, grid);
    if (have_.size() < 4) xml_.fail("the file lacks Points, connectivity, offsets or types; it may be truncated.");
    return grid;
  }

 private:
  static std::string attribute(const XmlScanner::Tag& tag, std::string_view key, const char* fallback) {
    const auto found = tag.attributes.find(key);
    return found == tag.attributes.end() ? fallback : found->second;
  }

  std::uint64_t number(const XmlScanner::Tag& tag, std::string_view key, const char* fallback) const {
    const std::string text = attribute(tag, key, fallback);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
      xml_.fail(fmt::format("{} of <{}> must be a whole number, but is '{}'.", key, tag.name, shown(text)));
    }
    return value;
  }

  void tags() {
    std::vector<std::string> open;
    for (;;) {
      const XmlScanner::Tag tag = xml_.next();
      if (tag.kind == XmlScanner::Kind::end) break;
      if (tag.kind == XmlScanner::Kind::close) {
        if (open.empty() || open.back() != tag.name) xml_.fail(fmt::format("</{}> closes nothing.", tag.name));
        open.pop_back();
        continue;
      }
      if (!root_seen_) {
        root(tag);
      } else if (tag.name == "Piece") {
        if (piece_) xml_.fail("a second <Piece>; merge the pieces into one file.");
        piece_ = true;
        points_ = number(tag, "NumberOfPoints", "");
        cells_ = number(tag, "NumberOfCells", "");
      } else if (tag.name == "DataArray" || tag.name == "Array") {
        array(tag, open.empty() ? "" : open.back());
      } else if (tag.name == "AppendedData") {
        appended(tag);
        break;  // what follows is not XML
      }
      constexpr std::size_t deepest = 64;
      if (!tag.empty) open.push_back(tag.name);
      if (open.size() > deepest) xml_.fail("elements are nested too deep.");
    }
  }

  void root(const XmlScanner::Tag& tag) {
    root_seen_ = true;
    if (tag.name != "VTKFile") xml_.fail(fmt::format("a VTU file begins with <VTKFile>, not <{}>.", tag.name));
    const std::string type = attribute(tag, "type", "");
    if (type != "UnstructuredGrid") {
      xml_.fail(fmt::format("the file holds a {}; only an UnstructuredGrid holds tetrahedra.", shown(type)));
    }
    const std::string order = attribute(tag, "byte_order", "LittleEndian");
    if (order != "LittleEndian" && order != "BigEndian") xml_.fail(fmt::format("byte_order '{}'.", shown(order)));
    encoding_.order = order == "BigEndian" ? ByteOrder::big : ByteOrder::little;
    const std::string header = attribute(tag, "header_type", "UInt32");
    if (header != "UInt32" && header != "UInt64") xml_.fail(fmt::format("header_type '{}'.", shown(header)));
    encoding_.header = header == "UInt64" ? Scalar::uint64 : Scalar::uint32;
    const std::string compressor = attribute(tag, "compressor", "");
    if (!compressor.empty() && compressor != "vtkZLibDataCompressor") {
      xml_.fail(fmt::format("the file is compressed by {}; save it with zlib or uncompressed.", shown(compressor)));
    }
    encoding_.compressed = !compressor.empty();
  }

  void array(const XmlScanner::Tag& tag, const std::string& parent) {
    StoredArray array;
    array.parent = parent;
    array.name = attribute(tag, "Name", "");
    array.type = attribute(tag, "type", "");
    const std::uint64_t components = number(tag, "NumberOfComponents", "1");
    if (components < 1 || components > 1000) xml_.fail(fmt::format("{} components.", components));
    array.components = static_cast<int>(components);
    array.line = xml_.line_of(xml_.position());
    const std::string format = attribute(tag, "format", "ascii");
    if (format == "appended") {
      array.storage = Storage::appended;
      array.offset = number(tag, "offset", "");
    } else if (format == "ascii" || format == "binary") {
      array.storage = format == "ascii" ? Storage::text : Storage::inline_base64;
      if (!tag.empty) array.content = xml_.content();
    } else {
      xml_.fail(fmt::format("an array of the format '{}'.", shown(format)));
    }
    arrays_.push_back(std::move(array));
  }

  void appended(const XmlScanner::Tag& tag) {
    const std::string encoding = attribute(tag, "encoding", "base64");
    if (encoding != "raw" && encoding != "base64") xml_.fail(fmt::format("appended data in '{}'.", shown(encoding)));
    appended_base64_ = encoding == "base64";
    const std::size_t begin = content_.find('_', xml_.position());
    if (begin == std::string_view::npos) xml_.fail("the appended data do not begin with '_'.");
    appended_ = content_.substr(begin + 1);
  }

  static std::string name_of(const StoredArray& array) { return array.name.empty() ? array.parent : array.name; }

  std::string bytes(const StoredArray& array) {
    const std::string what = fmt::format("{}:{}: array \"{}\"", file_, array.line, shown(name_of(array)));
    std::string_view stored = array.content;
    bool base64 = true;
    if (array.storage == Storage::appended) {
      if (array.offset > appended_.size()) {
        throw InputError(
            fmt::format("{} begins at byte {} of the appended data, which have {}; the file may be truncated.", what,
                        array.offset, appended_.size()));
      }
      stored = appended_.substr(static_cast<std::size_t>(array.offset));
      base64 = appended_base64_;
    }
    return decode_vtu_data(stored, base64, encoding_, what, budget_);
  }

  void spend(std::size_t values) {
    const std::size_t size = 8 * values;
    if (size > budget_) xml_.fail("the arrays are far longer than a file of this size can hold.");
    budget_ -= size;
  }

  VtkValues values(const StoredArray& array) {
    const auto type = vtu_scalar_type(array.type);
    const std::string file = fmt::format("{}:{}: array \"{}\"", file_, array.line, shown(name_of(array)));
    if (!type) throw InputError(fmt::format("{}: numbers of the type '{}' are not read.", file, shown(array.type)));
    if (array.storage == Storage::text) return text_values(array, *type);
    const std::string raw = bytes(array);
    if (raw.size() % size_of(*type) != 0) {
      throw InputError(fmt::format("{}: {} bytes are not a whole number of {}.", file, raw.size(), array.type));
    }
    const std::size_t count = raw.size() / size_of(*type);
    spend(count);
    BinaryScanner in(raw, file, encoding_.order);
    if (is_integer(*type)) {
      std::vector<std::int64_t> result(count);
      for (std::int64_t& value : result) value = in.integer(*type, "a value");
      return result;
    }
    std::vector<double> result(count);
    for (double& value : result) value = in.real(*type, "a value");
    return result;
  }

  VtkValues text_values(const StoredArray& array, Scalar type) {
    TextScanner in(array.content, file_, TextScanner::Comments::none, array.line);
    if (is_integer(type)) {
      std::vector<std::int64_t> result;
      while (!in.peek().empty()) result.push_back(in.integer("a value"));
      return result;
    }
    std::vector<double> result;
    while (!in.peek().empty()) result.push_back(in.real("a value"));
    return result;
  }

  std::vector<std::int64_t> integers(const StoredArray& array) {
    VtkValues all = values(array);
    auto* list = std::get_if<std::vector<std::int64_t>>(&all);
    if (list == nullptr) {
      throw InputError(fmt::format("{}:{}: {} must be integers.", file_, array.line, shown(name_of(array))));
    }
    return std::move(*list);
  }

  void expect(const StoredArray& array, std::size_t found, std::uint64_t expected) const {
    if (found == expected) return;
    throw InputError(fmt::format("{}:{}: the array \"{}\" has {} values, but {} belong there.", file_, array.line,
                                 shown(name_of(array)), found, expected));
  }

  void place(const StoredArray& array, VtkGrid& grid) {
    if (array.parent == "Points") {
      once("Points");
      points(array, grid);
    } else if (array.parent == "Cells") {
      cells(array, grid);
    } else if (array.parent == "CellData") {
      grid.cell_data.push_back({array.name, array.components, values(array)});
    } else if (array.parent == "PointData") {
      // A mesh has use for flags only: other arrays are not decoded, and left out with a note.
      const auto type = vtu_scalar_type(array.type);
      const bool flags = type && is_integer(*type) && array.components == 1;
      if (flags || point_arrays_ == PointArrays::all) {
        grid.point_data.push_back({array.name, array.components, values(array)});
      } else {
        grid.unread.push_back(array.name);
      }
    } else if (array.parent == "FieldData" && array.name == region_names_array) {
      grid.region_names = strings(array);
    }
  }

  void once(const std::string& name) {
    if (std::find(have_.begin(), have_.end(), name) != have_.end()) xml_.fail(fmt::format("two arrays of {}.", name));
    have_.push_back(name);
  }

  void points(const StoredArray& array, VtkGrid& grid) {
    if (array.components != 3) xml_.fail(fmt::format("points with {} coordinates; there must be 3.", array.components));
    std::visit(
        [&](const auto& v) {
          if (points_ > std::numeric_limits<std::uint64_t>::max() / 3) xml_.fail(fmt::format("{} points.", points_));
          expect(array, v.size(), 3 * points_);
          grid.points.reserve(v.size() / 3);
          for (std::size_t i = 0; i < v.size(); i += 3) {
            grid.points.emplace_back(static_cast<double>(v[i]), static_cast<double>(v[i + 1]),
                                     static_cast<double>(v[i + 2]));
          }
        },
        values(array));
  }

  void cells(const StoredArray& array, VtkGrid& grid) {
    if (array.name == "connectivity") {
      once(array.name);
      grid.connectivity = integers(array);
    } else if (array.name == "offsets") {
      once(array.name);
      grid.ends = integers(array);
      expect(array, grid.ends.size(), cells_);
    } else if (array.name == "types") {
      once(array.name);
      grid.types = integers(array);
      expect(array, grid.types.size(), cells_);
    }
  }

  std::vector<std::string> strings(const StoredArray& array) {
    std::string raw;
    if (array.storage == Storage::text) {
      TextScanner in(array.content, file_, TextScanner::Comments::none, array.line);
      while (!in.peek().empty()) raw += static_cast<char>(in.integer("a character", 0, 255));
    } else {
      raw = bytes(array);
    }
    std::vector<std::string> lines(1);
    for (char c : raw) {
      if (c == '\0') {
        lines.emplace_back();
      } else {
        lines.back() += c;
      }
    }
    lines.pop_back();
    spend(4 * lines.size());
    return lines;
  }

  std::string_view content_;
  std::string file_;
  XmlScanner xml_;
  PointArrays point_arrays_ = PointArrays::flags;
  VtuEncoding encoding_;
  bool root_seen_ = false;
  bool piece_ = false;
  std::uint64_t points_ = 0;
  std::uint64_t cells_ = 0;
  std::vector<StoredArray> arrays_;
  std::string_view appended_;
  bool appended_base64_ = false;
  std::vector<std::string> have_;  ///< which arrays of points and cells were read
  std::size_t budget_ = 0;         ///< bytes the arrays may still take
};

}  // namespace

MeshData read_vtu(std::string_view content, const std::string& file) {
  return to_mesh_data(VtuReader(content, file).read(VtuReader::PointArrays::flags), file);
}

VtkGrid read_vtu_grid(std::string_view content, const std::string& file) {
  return VtuReader(content, file).read(VtuReader::PointArrays::all);
}

}  // namespace pliant
