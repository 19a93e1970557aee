#include "pliant/mesh/formats/vtu_writer.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <bit>
#include <cassert>
#include <cstring>
#include <new>
#include <stdexcept>
#include <vector>

#include "pliant/base/atomic_file.hpp"
#include "pliant/math/parallel.hpp"
#include "pliant/mesh/formats/vtk_grid.hpp"

// All arrays go to the end of the file ("appended"), as raw bytes, where an offset finds them: no text to parse, no
// base64 to pay a third more for. Each array is cut into blocks that zlib compresses one by one (in parallel; the
// blocks, and with them the file, are the same for any number of threads), preceded by a header of 64-bit integers:
//   number of blocks, size of a block before compression, size of the last one if smaller (else 0), compressed sizes.
// The lowest compression level: the mantissas of positions are noise no level compresses, the rest shrinks at any.

namespace pliant {

namespace {

static_assert(std::endian::native == std::endian::little, "the byte order announced in the files");

constexpr std::size_t block_size = std::size_t{1} << 17U;

std::string compress_block(std::string_view bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string result(size, '\0');
  const int status =
      compress2(reinterpret_cast<Bytef*>(result.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                static_cast<uLong>(bytes.size()), Z_BEST_SPEED);
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  if (status != Z_OK) throw std::runtime_error("zlib could not compress a block");
  result.resize(size);
  return result;
}

void append_number(std::string& to, std::uint64_t value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  to.append(bytes, sizeof value);
}

std::string compressed(std::string_view bytes) {
  const auto count = static_cast<Index>((bytes.size() + block_size - 1) / block_size);
  std::vector<std::string> blocks(static_cast<std::size_t>(count));
  for_chunks(count, 1, [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) {
      const auto i = static_cast<std::size_t>(b);
      blocks[i] = compress_block(bytes.substr(i * block_size, block_size));
    }
  });
  std::string result;
  append_number(result, static_cast<std::uint64_t>(count));
  append_number(result, block_size);
  append_number(result, bytes.size() % block_size);
  for (const std::string& block : blocks) append_number(result, block.size());
  for (const std::string& block : blocks) result += block;
  return result;
}

template <class Value>
std::string packed(std::span<const Value> values) {
  return compressed({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

template <class Value>
constexpr const char* type_name() {
  if constexpr (std::is_same_v<Value, double>) return "Float64";
  if constexpr (std::is_same_v<Value, Index>) return "Int32";
  return "UInt8";
}

/// Grows the two parts of a file together: the XML that describes the arrays and their bytes.
class VtuText {
 public:
  template <class Value>
  void array(const char* type, std::string_view name, int components, std::span<const Value> values) {
    array(type, name, components, packed(values));
  }
  void array(const char* type, std::string_view name, int components, const std::string& bytes) {
    xml += fmt::format(
        "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" offset=\"{}\"/>\n", type,
        escaped(name), components, appended.size());
    appended += bytes;
  }

  void fields(const char* tag, std::span<const VtuField> list, [[maybe_unused]] std::size_t count) {
    xml += fmt::format("<{}>\n", tag);
    for (const VtuField& field : list) {
      std::visit(
          [&]<class Value>(std::span<const Value> values) {
            assert(values.size() == count * static_cast<std::size_t>(field.components));
            array<Value>(type_name<Value>(), field.name, field.components, values);
          },
          field.values);
    }
    xml += fmt::format("</{}>\n", tag);
  }

  /// Each line ends with a zero; all are given as numbers, which need no escapes.
  void strings(std::span<const VtuStrings> list) {
    if (list.empty()) return;
    xml += "<FieldData>\n";
    for (const VtuStrings& item : list) {
      xml += fmt::format("<Array type=\"String\" Name=\"{}\" NumberOfTuples=\"{}\" format=\"ascii\">\n",
                         escaped(item.name), item.lines.size());
      for (const std::string& line : item.lines) {
        for (char c : line) xml += fmt::format("{} ", static_cast<unsigned char>(c));
        xml += "0\n";
      }
      xml += "</Array>\n";
    }
    xml += "</FieldData>\n";
  }

  std::string xml;
  std::string appended;
};

std::uint8_t cell_type(int nodes_per_cell) {
  switch (nodes_per_cell) {
    case 3:
      return 5;  // VTK_TRIANGLE
    case 4:
      return 10;  // VTK_TETRA
    case 10:
      return 24;  // VTK_QUADRATIC_TETRA
    case 20:
      return 71;  // VTK_LAGRANGE_TETRAHEDRON
    default:
      throw std::invalid_argument("a triangle has 3 nodes, a tetrahedron 4, 10 or 20");
  }
}

}  // namespace

VtuPackedCells::VtuPackedCells(std::span<const VtuCells> cells) {
  std::vector<Index> all;
  std::vector<std::int64_t> ends;
  std::vector<std::uint8_t> kinds;
  for (const VtuCells& block : cells) {
    const auto per_cell = static_cast<std::size_t>(block.nodes_per_cell);
    assert(block.nodes.size() % per_cell == 0);
    kinds.insert(kinds.end(), block.nodes.size() / per_cell, cell_type(block.nodes_per_cell));
    for (std::size_t end = per_cell; end <= block.nodes.size(); end += per_cell) {
      ends.push_back(static_cast<std::int64_t>(all.size() + end));
    }
    all.insert(all.end(), block.nodes.begin(), block.nodes.end());
  }
  count = kinds.size();
  connectivity = packed<Index>(all);
  offsets = packed<std::int64_t>(ends);
  types = packed<std::uint8_t>(kinds);
}

void write_vtu(const std::filesystem::path& path, const VtuGrid& grid) {
  const VtuPackedCells own = grid.packed_cells ? VtuPackedCells() : VtuPackedCells(grid.cells);
  const VtuPackedCells& cells = grid.packed_cells ? *grid.packed_cells : own;
  const std::size_t points = grid.points.size() / 3;
  VtuText text;
  text.xml =
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\" "
      "compressor=\"vtkZLibDataCompressor\">\n"
      "<UnstructuredGrid>\n";
  text.strings(grid.strings);
  text.xml += fmt::format("<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n<Points>\n", points, cells.count);
  text.array<double>("Float64", "Points", 3, grid.points);
  text.xml += "</Points>\n<Cells>\n";
  text.array("Int32", "connectivity", 1, cells.connectivity);
  text.array("Int64", "offsets", 1, cells.offsets);
  text.array("UInt8", "types", 1, cells.types);
  text.xml += "</Cells>\n";
  text.fields("PointData", grid.point_fields, points);
  text.fields("CellData", grid.cell_fields, cells.count);
  text.xml += "</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_";
  const std::array<std::string_view, 3> pieces = {text.xml, text.appended, "\n</AppendedData>\n</VTKFile>\n"};
  write_atomically(path, pieces);
}

void write_vtu_mesh(const std::filesystem::path& path, const MeshData& data) {
  static_assert(sizeof(Vec3) == 3 * sizeof(double) && sizeof(Tet) == 4 * sizeof(Index));
  const VtuCells cells{{data.tets.empty() ? nullptr : data.tets.front().data(), 4 * data.tets.size()}, 4};
  std::vector<std::vector<std::uint8_t>> flags;
  std::vector<VtuField> point_fields;
  for (const auto& [name, members] : data.sets) flags.push_back(set_flags(data, members));
  for (const auto& [name, members] : data.sets) {
    point_fields.push_back({name, 1, std::span<const std::uint8_t>(flags[point_fields.size()])});
  }
  std::vector<VtuField> cell_fields;
  if (!data.regions.empty()) cell_fields.push_back({region_array_name(data), 1, std::span<const Index>(data.regions)});
  for (const auto& [name, field] : data.element_fields) {
    cell_fields.push_back({name, field.components, std::span<const double>(field.values)});
  }
  const std::vector<std::string> lines = region_name_lines(data);
  const VtuStrings names{region_names_array, lines};
  VtuGrid grid;
  grid.points = {data.vertices.empty() ? nullptr : data.vertices.front().data(), 3 * data.vertices.size()};
  grid.cells = {&cells, 1};
  grid.point_fields = point_fields;
  grid.cell_fields = cell_fields;
  if (!lines.empty()) grid.strings = {&names, 1};
  write_vtu(path, grid);
}

void write_pvtu(const std::filesystem::path& path, const VtuGrid& piece, std::span<const std::string> files) {
  std::string text =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"PUnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" "
      "header_type=\"UInt64\">\n<PUnstructuredGrid GhostLevel=\"0\">\n<PPoints>\n"
      "<PDataArray type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"/>\n</PPoints>\n";
  const auto fields = [&](const char* tag, std::span<const VtuField> list) {
    text += fmt::format("<{}>\n", tag);
    for (const VtuField& field : list)
      std::visit(
          [&]<class Value>(std::span<const Value>) {
            text += fmt::format("<PDataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\"/>\n", type_name<Value>(),
                                escaped(field.name), field.components);
          },
          field.values);
    text += fmt::format("</{}>\n", tag);
  };
  fields("PPointData", piece.point_fields);
  fields("PCellData", piece.cell_fields);
  for (const std::string& file : files) text += fmt::format("<Piece Source=\"{}\"/>\n", escaped(file));
  text += "</PUnstructuredGrid>\n</VTKFile>\n";
  write_atomically(path, text);
}

void write_pvd(const std::filesystem::path& path, std::span<const PvdFrame> frames, std::string_view comment) {
  std::string text =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
      "byte_order=\"LittleEndian\">\n";
  if (!comment.empty()) text += fmt::format("<!-- {} -->\n", comment);
  text += "<Collection>\n";
  for (const PvdFrame& frame : frames) {
    text += fmt::format("<DataSet timestep=\"{}\" part=\"0\" file=\"{}\"/>\n", frame.time, escaped(frame.file));
  }
  text += "</Collection>\n</VTKFile>\n";
  write_atomically(path, text);
}

}  // namespace pliant
