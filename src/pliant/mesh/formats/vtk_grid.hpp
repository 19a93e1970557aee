#pragma once

#include <string>
#include <vector>

#include "pliant/base/variant.hpp"
#include "pliant/mesh/tet_mesh.hpp"

namespace pliant {

/// Numbers of a VTK file: integers stay integers.
using VtkValues = Variant<std::vector<double>, std::vector<std::int64_t>>;
std::size_t length(const VtkValues& values);

struct VtkArray {
  std::string name;
  int components = 1;
  VtkValues values;
};

/// What legacy and XML files hold alike.
struct VtkGrid {
  std::vector<Vec3> points;
  std::vector<std::int64_t> connectivity;  ///< the points of all cells, cell after cell
  std::vector<std::int64_t> ends;          ///< for each cell, where its points end in connectivity
  std::vector<std::int64_t> types;
  std::vector<VtkArray> point_data;
  std::vector<VtkArray> cell_data;
  std::vector<std::string> region_names;  ///< "7 gel"
  std::vector<std::string> unread;        ///< arrays of the points that were not read, for a note
};

/// The tetrahedra of a grid. Cells of higher order are taken by their corners, cells of lower dimension left out, both
/// with a note; other volumes are an error. An integer array of the cells named region (or as other programs name
/// theirs) gives the regions, other arrays of the cells become element fields; an array of the points that holds only
/// the integers 0 and 1 becomes a set. `file` names the grid in messages.
MeshData to_mesh_data(VtkGrid grid, const std::string& file);

/// The name for the array of the regions of a mesh: one that no element field has.
std::string region_array_name(const MeshData& data);
/// What `region_names` of a grid holds for the mesh.
std::vector<std::string> region_name_lines(const MeshData& data);
inline constexpr const char* region_names_array = "region_names";

/// 1 for the members of a set, 0 for other vertices.
std::vector<std::uint8_t> set_flags(const MeshData& data, const std::vector<Index>& members);

}  // namespace pliant
