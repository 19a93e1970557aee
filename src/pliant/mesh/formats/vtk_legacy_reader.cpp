#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "pliant/mesh/formats/binary_scanner.hpp"
#include "pliant/mesh/formats/text_scanner.hpp"
#include "pliant/mesh/formats/vtk_grid.hpp"
#include "pliant/mesh/formats/vtk_legacy.hpp"

// A legacy file: a line with the version, a title, ASCII or BINARY, then keywords followed by numbers. In a binary file
// the numbers are big-endian and begin after the end of the keyword's line; everything else is text in both.

namespace pliant {

namespace {

std::optional<Scalar> legacy_scalar_type(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Scalar>, 16> types = {{{"unsigned_char", Scalar::uint8},
                                                                          {"char", Scalar::int8},
                                                                          {"unsigned_short", Scalar::uint16},
                                                                          {"short", Scalar::int16},
                                                                          {"unsigned_int", Scalar::uint32},
                                                                          {"int", Scalar::int32},
                                                                          {"unsigned_long", Scalar::uint64},
                                                                          {"long", Scalar::int64},
                                                                          {"vtkidtype", Scalar::int32},
                                                                          {"vtktypeint64", Scalar::int64},
                                                                          {"vtktypeuint64", Scalar::uint64},
                                                                          {"vtktypeint32", Scalar::int32},
                                                                          {"vtktypeuint8", Scalar::uint8},
                                                                          {"vtktypeint8", Scalar::int8},
                                                                          {"float", Scalar::float32},
                                                                          {"double", Scalar::float64}}};
  const auto found = std::find_if(types.begin(), types.end(), [&](const auto& t) { return t.first == name; });
  if (found == types.end()) return std::nullopt;
  return found->second;
}

std::string lower_case(std::string_view word) {
  std::string result(word);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

class LegacyReader {
 public:
  LegacyReader(std::string_view content, const std::string& file) : text_(content, file, TextScanner::Comments::none) {}

  MeshData read() {
    header();
    while (!text_.peek().empty()) {
      keyword_ = lower_case(text_.word());
      if (keyword_ == "points") {
        points();
      } else if (keyword_ == "cells") {
        cells();
      } else if (keyword_ == "cell_types") {
        cell_types();
      } else if (keyword_ == "point_data") {
        rows_ = text_.integer("the number of points");
        target_ = &grid_.point_data;
      } else if (keyword_ == "cell_data") {
        rows_ = text_.integer("the number of cells");
        target_ = &grid_.cell_data;
      } else if (keyword_ == "metadata") {
        metadata();
      } else if (keyword_ == "field") {
        field();
      } else {
        attribute();
      }
    }
    if (!have_points_ || !have_types_) {
      text_.fail("the file has no POINTS, CELLS and CELL_TYPES; it may be truncated.");
    }
    const std::string file = text_.file();
    return to_mesh_data(std::move(grid_), file);
  }

 private:
  void header() {
    const std::string_view first = text_.rest_of_line();
    if (!first.starts_with("# vtk DataFile Version ")) text_.fail("a VTK file begins with '# vtk DataFile Version'.");
    text_.end_line();
    text_.end_line();  // the title
    const std::string encoding = lower_case(text_.word("ASCII or BINARY"));
    if (encoding != "ascii" && encoding != "binary") {
      text_.fail(fmt::format("expected ASCII or BINARY, found '{}'.", shown(encoding)));
    }
    binary_ = encoding == "binary";
    if (lower_case(text_.word("DATASET")) != "dataset") text_.fail("expected DATASET.");
    const std::string kind = lower_case(text_.word("the kind of the data set"));
    if (kind != "unstructured_grid") {
      text_.fail(fmt::format("the data set is {}; only an UNSTRUCTURED_GRID holds tetrahedra.", shown(kind)));
    }
  }

  Scalar type() {
    const std::string name = lower_case(text_.word("a data type"));
    const auto found = legacy_scalar_type(name);
    if (!found) text_.fail(fmt::format("numbers of the type '{}' are not read.", shown(name)));
    return *found;
  }

  /// How many numbers there can be at most.
  void check_room(std::uint64_t count, Scalar of) {
    const std::size_t rest = text_.text().size() - text_.position();
    const std::size_t room = binary_ ? rest / size_of(of) : (rest + 1) / 2;
    if (count > room) {
      text_.fail(fmt::format(
          "{} numbers should follow, but the rest of the file can hold {} at most; it may be truncated.", count, room));
    }
  }

  VtkValues numbers(std::uint64_t count, Scalar of, const char* what) {
    if (is_integer(of)) return integers(count, of, what);
    check_room(count, of);
    std::vector<double> values(static_cast<std::size_t>(count));
    if (binary_) {
      BinaryScanner bytes = begin_binary();
      for (double& value : values) value = bytes.real(of, what);
      text_.resume(bytes.position());
    } else {
      for (double& value : values) value = text_.real(what);
    }
    return values;
  }

  std::vector<std::int64_t> integers(std::uint64_t count, Scalar of, const char* what) {
    check_room(count, of);
    std::vector<std::int64_t> values(static_cast<std::size_t>(count));
    if (binary_) {
      BinaryScanner bytes = begin_binary();
      for (std::int64_t& value : values) value = bytes.integer(of, what);
      text_.resume(bytes.position());
    } else {
      for (std::int64_t& value : values) value = text_.integer(what);
    }
    return values;
  }

  BinaryScanner begin_binary() {
    text_.end_line();
    return {text_.text(), text_.file(), ByteOrder::big, text_.position()};
  }

  std::uint64_t product(std::int64_t rows, std::int64_t components) {
    if (rows < 0 || components < 1 || components > 1000) {
      text_.fail(fmt::format("{} rows with {} components.", rows, components));
    }
    if (rows > std::numeric_limits<std::int64_t>::max() / 1000) text_.fail(fmt::format("{} rows.", rows));
    return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(components);
  }

  void points() {
    if (have_points_) text_.fail("a second POINTS section.");
    have_points_ = true;
    const std::int64_t count = text_.integer("the number of points", 0, std::numeric_limits<Index>::max());
    const Scalar of = type();
    const VtkValues values = numbers(product(count, 3), of, "a coordinate");
    grid_.points.reserve(static_cast<std::size_t>(count));
    std::visit(
        [&](const auto& v) {
          for (std::size_t i = 0; i < v.size(); i += 3) {
            grid_.points.emplace_back(static_cast<double>(v[i]), static_cast<double>(v[i + 1]),
                                      static_cast<double>(v[i + 2]));
          }
        },
        values);
  }

  void cells() {
    if (!grid_.ends.empty()) text_.fail("a second CELLS section.");
    const std::int64_t count = text_.integer("the number of cells", 0, std::numeric_limits<Index>::max());
    const std::int64_t size = text_.integer("the size of the list of cells", 0);
    if (text_.next_line_begins("offsets")) {
      offsets(count, size);
      return;
    }
    const std::vector<std::int64_t> list =
        integers(static_cast<std::uint64_t>(size), Scalar::int32, "a point of a cell");
    std::size_t at = 0;
    for (std::int64_t c = 0; c < count; ++c) {
      if (at >= list.size()) text_.fail(fmt::format("the list ends before cell {} of {}.", c, count));
      const std::int64_t corners = list[at++];
      if (corners < 0 || static_cast<std::uint64_t>(corners) > list.size() - at) {
        text_.fail(fmt::format("cell {} has {} points, more than the list holds.", c, corners));
      }
      for (std::int64_t k = 0; k < corners; ++k) grid_.connectivity.push_back(list[at++]);
      grid_.ends.push_back(static_cast<std::int64_t>(grid_.connectivity.size()));
    }
    if (at != list.size()) text_.fail(fmt::format("the list of cells has {} numbers too many.", list.size() - at));
  }

  /// Version 5: cells as offsets (one more than there are cells) and connectivity.
  void offsets(std::int64_t count, std::int64_t size) {
    text_.word();
    const Scalar offset_type = type();
    grid_.ends = integers(static_cast<std::uint64_t>(count), offset_type, "an offset");
    if (!grid_.ends.empty()) {
      if (grid_.ends.front() != 0) text_.fail(fmt::format("the first offset is {}, not 0.", grid_.ends.front()));
      grid_.ends.erase(grid_.ends.begin());
    }
    if (lower_case(text_.word("CONNECTIVITY")) != "connectivity") text_.fail("expected CONNECTIVITY.");
    const Scalar index_type = type();
    grid_.connectivity = integers(static_cast<std::uint64_t>(size), index_type, "a point of a cell");
  }

  void cell_types() {
    if (have_types_) text_.fail("a second CELL_TYPES section.");
    have_types_ = true;
    const std::int64_t count = text_.integer("the number of cell types", 0);
    grid_.types = integers(static_cast<std::uint64_t>(count), Scalar::int32, "the type of a cell");
  }

  /// Names and units of components: text up to an empty line.
  void metadata() {
    text_.end_line();
    for (;;) {
      const std::string_view line = text_.rest_of_line();
      const bool last = text_.position() == text_.text().size();
      text_.end_line();
      if (last || line.empty()) return;
    }
  }

  static std::string decoded(std::string_view name) {
    std::string result;
    for (std::size_t i = 0; i < name.size(); ++i) {
      const auto digit = [&](std::size_t at) {
        const char c = at < name.size() ? name[at] : '?';
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
      };
      if (name[i] == '%' && digit(i + 1) >= 0 && digit(i + 2) >= 0) {
        result += static_cast<char>(16 * digit(i + 1) + digit(i + 2));
        i += 2;
      } else {
        result += name[i];
      }
    }
    return result;
  }

  void keep(VtkArray array) {
    if (target_ != nullptr && static_cast<std::int64_t>(length(array.values)) ==
                                  static_cast<std::int64_t>(product(rows_, array.components))) {
      target_->push_back(std::move(array));
    }
  }

  void field() {
    text_.word("the name of the field");
    const std::int64_t arrays = text_.integer("the number of arrays", 0);
    for (std::int64_t i = 0; i < arrays; ++i) {
      VtkArray array;
      array.name = decoded(text_.word("the name of an array"));
      if (lower_case(array.name) == "metadata") {  // of the array before
        metadata();
        --i;
        continue;
      }
      const std::int64_t components = text_.integer("the number of components", 0, 1000);
      const std::int64_t rows = text_.integer("the number of rows", 0);
      if (text_.peek() == "string") {
        strings(array.name, components, rows);
        continue;
      }
      const Scalar of = type();
      array.components = static_cast<int>(components);
      if (components == 0 || rows == 0) continue;
      array.values = numbers(product(rows, components), of, "a number of an array");
      keep(std::move(array));
    }
  }

  /// One a line in text; in binary each is preceded by its length, in one to eight bytes, the first two bits of which
  /// say how many.
  void strings(const std::string& name, std::int64_t components, std::int64_t rows) {
    text_.word();
    const std::uint64_t count = product(rows, std::max<std::int64_t>(components, 1));
    check_room(count, Scalar::int8);
    std::vector<std::string> lines;
    if (binary_) {
      BinaryScanner bytes = begin_binary();
      for (std::uint64_t i = 0; i < count; ++i) {
        const auto first = bytes.value<std::uint8_t>("the length of a string");
        constexpr std::array<int, 4> more = {7, 3, 1, 0};
        std::uint64_t size = first & 0x3FU;
        for (int k = 0; k < more[first >> 6U]; ++k) {
          size = size << 8U | bytes.value<std::uint8_t>("the length of a string");
        }
        if (size > bytes.remaining()) bytes.fail(fmt::format("a string of {} bytes.", size));
        lines.emplace_back(bytes.take(static_cast<std::size_t>(size), "a string"));
      }
      text_.resume(bytes.position());
    } else {
      text_.end_line();
      for (std::uint64_t i = 0; i < count; ++i) {
        lines.push_back(decoded(text_.rest_of_line()));
        text_.end_line();
      }
    }
    if (name == region_names_array) grid_.region_names = std::move(lines);
  }

  /// SCALARS, VECTORS and the like.
  void attribute() {
    VtkArray array;
    std::int64_t components = 0;
    if (keyword_ == "lookup_table") {  // a colour map: 4 bytes or numbers for each entry
      text_.word("the name of a lookup table");
      const std::int64_t rows = text_.integer("the size of a lookup table", 0);
      const Scalar of = binary_ ? Scalar::uint8 : Scalar::float64;
      numbers(product(rows, 4), of, "a colour");
      return;
    }
    static const std::map<std::string, std::int64_t, std::less<>> known = {
        {"scalars", 1},  {"vectors", 3},    {"normals", 3},      {"tensors", 9},
        {"tensors6", 6}, {"global_ids", 1}, {"pedigree_ids", 1}, {"edge_flags", 1}};
    const bool colours = keyword_ == "color_scalars";
    const bool texture = keyword_ == "texture_coordinates";
    if (!colours && !texture && !known.contains(keyword_)) {
      text_.fail(
          fmt::format("expected a keyword such as CELLS or SCALARS, found '{}'; what came before holds more "
                      "numbers than its count says.",
                      shown(keyword_)));
    }
    if (target_ == nullptr) text_.fail("data come before POINT_DATA or CELL_DATA.");
    array.name = decoded(text_.word("the name of an array"));
    Scalar of = Scalar::float64;
    if (colours) {
      components = text_.integer("the number of components", 1, 1000);
      of = binary_ ? Scalar::uint8 : Scalar::float64;
    } else if (texture) {
      components = text_.integer("the number of components", 1, 3);
      of = type();
    } else {
      components = known.at(keyword_);
      of = type();
    }
    if (keyword_ == "scalars") {
      if (text_.more_on_line()) components = text_.integer("the number of components", 1, 1000);
      if (text_.next_line_begins("lookup_table")) {
        text_.word();
        text_.word("the name of a lookup table");
      }
    }
    array.components = static_cast<int>(components);
    array.values = numbers(product(rows_, components), of, "a number of an array");
    keep(std::move(array));
  }

  TextScanner text_;
  bool binary_ = false;
  bool have_points_ = false;
  bool have_types_ = false;
  std::string keyword_;
  VtkGrid grid_;
  std::int64_t rows_ = 0;                    ///< of POINT_DATA or CELL_DATA
  std::vector<VtkArray>* target_ = nullptr;  ///< where their arrays go
};

}  // namespace

MeshData read_vtk_legacy(std::string_view content, const std::string& file) {
  return LegacyReader(content, file).read();
}

}  // namespace pliant
