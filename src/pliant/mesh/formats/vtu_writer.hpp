#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <variant>

#include "pliant/mesh/tet_mesh.hpp"

namespace pliant {

/// Elements of one order: `nodes_per_cell` point numbers for each, in VTK's node order.
///
/// VTK's order of the nodes of a tetrahedron, as lattice coordinates (barycentric coordinates times order):
///   order 1 (VTK_TETRA, 4 nodes):            1000 0100 0010 0001
///   order 2 (VTK_QUADRATIC_TETRA, 10 nodes): 2000 0200 0020 0002, the middles of the edges 01 12 02 03 13 23:
///                                            1100 0110 1010 1001 0101 0011
///   order 3 (VTK_LAGRANGE_TETRAHEDRON, 20):  3000 0300 0030 0003, two on each of the edges 0-1 1-2 2-0 0-3 1-3 2-3, in
///                                            this direction: 2100 1200  0210 0120  1020 2010  2001 1002  0201 0102
///                                            0021 0012, the middles of the faces 013 123 023 012: 1101 0111 1011 1110
struct VtuCells {
  std::span<const Index> nodes = {};
  int nodes_per_cell = 4;  ///< 4, 10 or 20
};

/// Values at the points or in the cells: `components` (1: scalar, 3: vector, 9: tensor) for each.
struct VtuField {
  std::string name;
  int components = 1;
  std::variant<std::span<const double>, std::span<const Index>, std::span<const std::uint8_t>> values = {};
};

/// Lines of text that belong to the file as a whole.
struct VtuStrings {
  std::string name;
  std::span<const std::string> lines = {};
};

/// Cells compressed once, for many files that share them.
struct VtuPackedCells {
  std::size_t count = 0;
  std::string connectivity, offsets, types;

  VtuPackedCells() = default;
  explicit VtuPackedCells(std::span<const VtuCells> cells);
};

struct VtuGrid {
  std::span<const double> points = {};  ///< x, y, z of each, m
  std::span<const VtuCells> cells = {};
  const VtuPackedCells* packed_cells = nullptr;  ///< in place of `cells`, where they are at hand
  std::span<const VtuField> point_fields = {};
  std::span<const VtuField> cell_fields = {};
  std::span<const VtuStrings> strings = {};
};

/// Writes a VTK XML unstructured grid for ParaView and the like: doubles keep all their bits, compressed by zlib. The
/// file is whole or not there at all; std::system_error says why it could not be written.
void write_vtu(const std::filesystem::path& path, const VtuGrid& grid);
/// The same with vertices, tetrahedra, regions, sets and element fields of a mesh; vtk_grid.hpp says how they are
/// named.
void write_vtu_mesh(const std::filesystem::path& path, const MeshData& data);

/// Writes a .pvtu file: the list of .vtu files, relative to its folder, that hold a grid in pieces. All have the fields
/// of `piece`, one of them.
void write_pvtu(const std::filesystem::path& path, const VtuGrid& piece, std::span<const std::string> files);

struct PvdFrame {
  double time = 0;   ///< s
  std::string file;  ///< relative to the folder of the .pvd file
};

/// Writes the list that makes a film of many .vtu files; as whole as a .vtu.
void write_pvd(const std::filesystem::path& path, std::span<const PvdFrame> frames, std::string_view comment = "");

}  // namespace pliant
