#include "pliant/mesh/formats/vtk_grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

/// Names under which programs save regions, ours first.
constexpr std::array<const char*, 10> region_aliases = {
    "region",    "region_id",     "RegionId",    "Region",   "gmsh:physical",
    "medit:ref", "CellEntityIds", "MaterialIds", "material", "gmsh:geometrical"};

enum class CellKind { tetrahedron, higher_tetrahedron, lower_dimension, other };

CellKind kind_of(std::int64_t type) {
  switch (type) {
    case 10:
      return CellKind::tetrahedron;
    case 24:  // quadratic
    case 71:  // Lagrange
    case 78:  // Bezier
      return CellKind::higher_tetrahedron;
    case 0:  // empty
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
    case 21:  // quadratic ones
    case 22:
    case 23:
    case 28:
    case 30:
    case 34:
    case 35:
    case 36:
    case 68:  // Lagrange
    case 69:
    case 70:
    case 75:  // Bezier
    case 76:
    case 77:
      return CellKind::lower_dimension;
    default:
      return CellKind::other;
  }
}

class Converter {
 public:
  Converter(VtkGrid grid, const std::string& file) : grid_(std::move(grid)) { data_.source = file; }

  MeshData convert() {
    cells();
    data_.vertices = std::move(grid_.points);
    regions();
    names();
    for (VtkArray& array : grid_.cell_data) field(array);
    sets();
    return std::move(data_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw InputError(data_.source + ": " + message); }

  void cells() {
    if (grid_.types.size() != grid_.ends.size()) {
      fail(fmt::format("{} cells, but {} cell types.", grid_.ends.size(), grid_.types.size()));
    }
    const auto points = static_cast<std::int64_t>(grid_.points.size());
    const auto length = static_cast<std::int64_t>(grid_.connectivity.size());
    std::int64_t begin = 0;
    std::int64_t lower = 0;
    std::int64_t higher = 0;
    for (std::size_t c = 0; c < grid_.types.size(); ++c) {
      const std::int64_t end = grid_.ends[c];
      if (end < begin || end > length) {
        fail(fmt::format("the points of cell {} end at {} of the connectivity, outside {} to {}.", c, end, begin,
                         length));
      }
      const CellKind kind = kind_of(grid_.types[c]);
      if (kind == CellKind::other) {
        fail(fmt::format("cell {} is of VTK's type {}; only tetrahedra can be simulated: convert it.", c,
                         grid_.types[c]));
      }
      if (kind == CellKind::lower_dimension) {
        ++lower;
      } else {
        if (end - begin < 4) fail(fmt::format("cell {}, a tetrahedron, has {} points.", c, end - begin));
        Tet tet;
        for (std::size_t k = 0; k < 4; ++k) {
          const std::int64_t v = grid_.connectivity[static_cast<std::size_t>(begin) + k];
          if (v < 0 || v >= points) {
            fail(fmt::format("cell {} names point {}, but the points are numbered 0 to {}.", c, v, points - 1));
          }
          tet[k] = static_cast<Index>(v);
        }
        data_.tets.push_back(tet);
        kept_.push_back(c);
        if (kind == CellKind::higher_tetrahedron) ++higher;
      }
      begin = end;
    }
    if (lower > 0) data_.notes.push_back(fmt::format("{} points, lines or surface cells were left out", lower));
    if (higher > 0) {
      data_.notes.push_back(
          fmt::format("{} tetrahedra of higher order were read by their corners, curved ones straightened", higher));
    }
  }

  void check_length(const VtkArray& array, const char* what, std::size_t rows) const {
    if (array.components > 0 && length(array.values) == rows * static_cast<std::size_t>(array.components)) return;
    fail(fmt::format("the array \"{}\" has {} values for {} {} with {} component(s).", array.name, length(array.values),
                     rows, what, array.components));
  }

  /// Whether the array holds regions; moves them.
  void regions() {
    for (const char* name : region_aliases) {
      const auto found = std::find_if(grid_.cell_data.begin(), grid_.cell_data.end(), [&](const VtkArray& array) {
        return array.name == name && array.components == 1 &&
               std::holds_alternative<std::vector<std::int64_t>>(array.values);
      });
      if (found == grid_.cell_data.end()) continue;
      check_length(*found, "cells", grid_.types.size());
      const auto& values = std::get<std::vector<std::int64_t>>(found->values);
      for (std::size_t c : kept_) {
        if (values[c] < std::numeric_limits<Index>::min() || values[c] > std::numeric_limits<Index>::max()) {
          fail(fmt::format("cell {} has the region {}, which is out of range.", c, values[c]));
        }
        data_.regions.push_back(static_cast<Index>(values[c]));
      }
      grid_.cell_data.erase(found);
      return;
    }
  }

  void names() {
    for (const std::string& line : grid_.region_names) {
      Index label = 0;
      const char* end = line.data() + line.size();
      const auto [stopped, error] = std::from_chars(line.data(), end, label);
      if (error != std::errc{} || stopped == end || *stopped != ' ') continue;  // another program's array
      data_.region_names[label] = std::string(stopped + 1, end);
    }
  }

  void field(VtkArray& array) {
    check_length(array, "cells", grid_.types.size());
    ElementField result;
    result.components = array.components;
    const auto width = static_cast<std::size_t>(array.components);
    result.values.reserve(kept_.size() * width);
    std::visit(
        [&](const auto& values) {
          for (std::size_t c : kept_) {
            for (std::size_t k = 0; k < width; ++k) result.values.push_back(static_cast<double>(values[c * width + k]));
          }
        },
        array.values);
    data_.element_fields[array.name] = std::move(result);
  }

  void sets() {
    std::vector<std::string> left = std::move(grid_.unread);
    for (const VtkArray& array : grid_.point_data) {
      check_length(array, "points", data_.vertices.size());
      const auto* flags = std::get_if<std::vector<std::int64_t>>(&array.values);
      if (flags == nullptr || array.components != 1 ||
          std::any_of(flags->begin(), flags->end(), [](std::int64_t f) { return f != 0 && f != 1; })) {
        left.push_back(array.name);
        continue;
      }
      std::vector<Index>& set = data_.sets[array.name];
      for (std::size_t v = 0; v < flags->size(); ++v) {
        if ((*flags)[v] == 1) set.push_back(static_cast<Index>(v));
      }
    }
    if (left.empty()) return;
    constexpr std::size_t shown = 8;
    const bool more = left.size() > shown;
    if (more) left.resize(shown);
    data_.notes.push_back(fmt::format("the point data {}{} were left out", fmt::join(left, ", "), more ? ", ..." : ""));
  }

  VtkGrid grid_;
  MeshData data_;
  std::vector<std::size_t> kept_;  ///< the cells that became tets
};

}  // namespace

std::size_t length(const VtkValues& values) {
  return std::visit([](const auto& v) { return v.size(); }, values);
}

MeshData to_mesh_data(VtkGrid grid, const std::string& file) { return Converter(std::move(grid), file).convert(); }

std::string region_array_name(const MeshData& data) {
  for (const char* name : region_aliases) {
    if (!data.element_fields.contains(name)) return name;
  }
  throw InputError(data.source + ": every name for the array of regions is taken by an element field; rename one.");
}

std::vector<std::string> region_name_lines(const MeshData& data) {
  std::vector<std::string> lines;
  for (const auto& [label, name] : data.region_names) lines.push_back(fmt::format("{} {}", label, name));
  return lines;
}

std::vector<std::uint8_t> set_flags(const MeshData& data, const std::vector<Index>& members) {
  std::vector<std::uint8_t> flags(data.vertices.size(), 0);
  for (Index v : members) flags[static_cast<std::size_t>(v)] = 1;
  return flags;
}

}  // namespace pliant
