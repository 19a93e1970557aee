#include <cctype>

#include "pliant/mesh/formats/text_writer.hpp"
#include "pliant/mesh/formats/vtk_grid.hpp"
#include "pliant/mesh/formats/vtk_legacy.hpp"

namespace pliant {

namespace {

/// A name without white space: legacy files write other characters as %XX.
std::string encoded(const std::string& name) {
  std::string result;
  for (char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte >= 127 || c == '"' || c == '%') {
      append(result, "%{:02X}", byte);
    } else {
      result += c;
    }
  }
  return result;
}

class LegacyWriter {
 public:
  LegacyWriter(const MeshData& data, Encoding encoding) : data_(data), binary_(encoding == Encoding::binary) {}

  std::string write() {
    append(out_, "# vtk DataFile Version 4.2\nmesh\n{}\nDATASET UNSTRUCTURED_GRID\n", binary_ ? "BINARY" : "ASCII");
    region_names();
    append(out_, "POINTS {} double\n", data_.vertices.size());
    for (const Vec3& x : data_.vertices) {
      for (int a = 0; a < 3; ++a) number(x[a]);
      end_row();
    }
    end_array();
    append(out_, "CELLS {} {}\n", data_.tets.size(), 5 * data_.tets.size());
    for (const Tet& tet : data_.tets) {
      number(Index{4});
      for (Index v : tet) number(v);
      end_row();
    }
    end_array();
    append(out_, "CELL_TYPES {}\n", data_.tets.size());
    for (std::size_t t = 0; t < data_.tets.size(); ++t) number(Index{10}), end_row();
    end_array();
    point_data();
    cell_data();
    return std::move(out_);
  }

 private:
  template <class T>
  void number(T value) {
    binary_ ? append_bytes(out_, value, ByteOrder::big) : append(out_, "{} ", value);
  }
  void end_row() {
    if (!binary_) out_.back() = '\n';
  }
  void end_array() {
    if (binary_) out_ += '\n';
  }

  void region_names() {
    const std::vector<std::string> lines = region_name_lines(data_);
    if (lines.empty()) return;
    append(out_, "FIELD FieldData 1\n{} 1 {} string\n", region_names_array, lines.size());
    for (const std::string& line : lines) {
      if (binary_) {
        // The length in eight bytes, whose first two bits are 0.
        append_bytes(out_, static_cast<std::uint64_t>(line.size()), ByteOrder::big);
        out_ += line;
      } else {
        append(out_, "{}\n", encoded(line));
      }
    }
    end_array();
  }

  void point_data() {
    if (data_.sets.empty()) return;
    append(out_, "POINT_DATA {}\nFIELD FieldData {}\n", data_.vertices.size(), data_.sets.size());
    for (const auto& [name, members] : data_.sets) {
      append(out_, "{} 1 {} unsigned_char\n", encoded(name), data_.vertices.size());
      for (std::uint8_t flag : set_flags(data_, members)) number(flag), end_row();
      end_array();
    }
  }

  void cell_data() {
    const std::size_t arrays = data_.element_fields.size() + (data_.regions.empty() ? 0 : 1);
    if (arrays == 0) return;
    append(out_, "CELL_DATA {}\nFIELD FieldData {}\n", data_.tets.size(), arrays);
    if (!data_.regions.empty()) {
      append(out_, "{} 1 {} int\n", encoded(region_array_name(data_)), data_.tets.size());
      for (Index label : data_.regions) number(label), end_row();
      end_array();
    }
    for (const auto& [name, field] : data_.element_fields) {
      append(out_, "{} {} {} double\n", encoded(name), field.components, data_.tets.size());
      const auto width = static_cast<std::size_t>(field.components);
      for (std::size_t i = 0; i < field.values.size(); ++i) {
        number(field.values[i]);
        if ((i + 1) % width == 0) end_row();
      }
      end_array();
    }
  }

  const MeshData& data_;
  bool binary_;
  std::string out_;
};

}  // namespace

std::string write_vtk_legacy(const MeshData& data, Encoding encoding) { return LegacyWriter(data, encoding).write(); }

}  // namespace pliant
