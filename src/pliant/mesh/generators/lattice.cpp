// Struts of a cubic lattice: the cells of a grid, alternating narrow (a strut) and wide (an opening) along each axis,
// that lie in a strut along at least two axes. An axis without openings is one strut as wide as the lattice: a net.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pliant/base/error.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/generators/disc.hpp"

namespace pliant {

namespace {

/// The grid along one axis.
struct Ticks {
  std::vector<double> at;      ///< coordinates
  std::vector<bool> in_strut;  ///< of the interval after each coordinate but the last
  std::vector<bool> beside;    ///< of each coordinate: whether it belongs to a strut
};

Ticks ticks(double origin, double size, Index openings, double strut, Index across) {
  Ticks result;
  const auto add = [&](double begin, double length, Index count, bool is_strut) {
    for (Index i = 0; i < count; ++i) {
      result.at.push_back(origin + begin + length * i / count);
      result.in_strut.push_back(is_strut);
      result.beside.push_back(is_strut || i == 0);
    }
  };
  const double opening = openings > 0 ? (size - (openings + 1) * strut) / openings : 0;
  const Index in_opening = openings > 0 ? cells_for(opening, strut / across, 1) : 0;
  const double pitch = strut + opening;
  if (openings == 0) add(0, size, cells_for(size, strut / across, 1), true);
  for (Index o = 0; o <= openings && openings > 0; ++o) {
    add(o * pitch, strut, across, true);
    if (o < openings) add(o * pitch + strut, opening, in_opening, false);
  }
  result.at.push_back(origin + size);
  result.beside.push_back(true);
  return result;
}

void check(const LatticeOptions& options) {
  constexpr const char* kind = "lattice";
  constexpr std::array<char, 3> axis = {'x', 'y', 'z'};
  check_finite(kind, "origin", options.origin);
  check_length(kind, "strut", options.strut);
  check_count(kind, "across", options.across, 1);
  double vertices = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const double size = options.size[static_cast<Eigen::Index>(a)];
    check_length(kind, "size", size);
    check_count(kind, "cells", options.cells[a], 0);
    if (options.cells[a] > 0 && !((options.cells[a] + 1.0) * options.strut < size)) {
      throw InputError(
          fmt::format("lattice: {} struts of {} m leave no openings in {} m along {}; use thinner struts or fewer "
                      "cells.",
                      options.cells[a] + 1.0, options.strut, size, axis[a]));
    }
    vertices *= size / options.strut * options.across + options.cells[a] + 2.0;
  }
  if (std::count(options.cells.begin(), options.cells.end(), 0) > 1)
    throw InputError("lattice: a net has no openings along one axis; along two, it is a box without holes: use 'box'.");
  check_total(kind, vertices, 5 * vertices);  // of the grid, holes and all: it is walked through
}

}  // namespace

MeshData lattice(const LatticeOptions& options) {
  check(options);
  std::array<Ticks, 3> axes;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto e = static_cast<Eigen::Index>(a);
    axes[a] = ticks(options.origin[e], options.size[e], options.cells[a], options.strut, options.across);
  }
  const auto& [x, y, z] = axes;
  const std::size_t row = x.at.size();
  const std::size_t layer = row * y.at.size();

  HexBlocks blocks;
  std::vector<Index> number(layer * z.at.size(), -1);
  for (std::size_t k = 0; k + 1 < z.at.size(); ++k) {
    for (std::size_t j = 0; j + 1 < y.at.size(); ++j) {
      for (std::size_t i = 0; i + 1 < row; ++i) {
        if (x.in_strut[i] + y.in_strut[j] + z.in_strut[k] < 2) continue;
        std::array<Index, 8> cell{};
        for (unsigned c = 0; c < 8; ++c) {
          const std::size_t at = i + (c & 1U) + row * (j + ((c >> 1U) & 1U)) + layer * (k + ((c >> 2U) & 1U));
          number[at] = 0;
          cell[c] = static_cast<Index>(at);  // of the whole grid, renumbered below
        }
        blocks.cells.push_back(cell);
      }
    }
  }
  std::vector<Index> joints;
  for (std::size_t at = 0; at < number.size(); ++at) {
    if (number[at] < 0) continue;
    const std::size_t i = at % row;
    const std::size_t j = at % layer / row;
    const std::size_t k = at / layer;
    number[at] = static_cast<Index>(blocks.vertices.size());
    if (x.beside[i] && y.beside[j] && z.beside[k]) joints.push_back(number[at]);
    blocks.vertices.emplace_back(x.at[i], y.at[j], z.at[k]);
    blocks.odd.push_back(static_cast<std::uint8_t>((i + j + k) % 2));
  }
  for (auto& cell : blocks.cells) {
    for (Index& v : cell) v = number[static_cast<std::size_t>(v)];
  }
  MeshData data = cut_into_tets(std::move(blocks));
  data.source = fmt::format("lattice of {} x {} x {} openings", options.cells[0], options.cells[1], options.cells[2]);
  data.sets["joints"] = std::move(joints);
  add_usual_sets(data);
  return data;
}

MeshData generate(const MeshGenerator& options) {
  struct Visitor {
    MeshData operator()(const BoxOptions& o) const { return box(o); }
    MeshData operator()(const CylinderOptions& o) const { return cylinder(o); }
    MeshData operator()(const TubeOptions& o) const { return tube(o); }
    MeshData operator()(const SphereOptions& o) const { return sphere(o); }
    MeshData operator()(const TorusOptions& o) const { return torus(o); }
    MeshData operator()(const SheetOptions& o) const { return sheet(o); }
    MeshData operator()(const LatticeOptions& o) const { return lattice(o); }
  };
  return std::visit(Visitor{}, options);
}

}  // namespace pliant
