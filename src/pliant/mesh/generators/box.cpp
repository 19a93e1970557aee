#include "pliant/mesh/generators.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "pliant/base/error.hpp"
#include "pliant/mesh/generators/hex_blocks.hpp"

// Corners of a cell are numbered 0 to 7 by the bits x + 2 y + 4 z.

namespace pliant {

namespace {

using Corners = std::array<unsigned, 4>;

/// Kuhn's split: one tet for each way to walk from corner 0 to corner 7 along the axes. Every face is cut along the
/// diagonal from its lowest to its highest corner, hence neighbours conform.
constexpr std::array<Corners, 6> six = {
    {{0, 1, 3, 7}, {0, 5, 1, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 6, 4, 7}}};

/// The faces of a cell, their corners in order around them as seen from outside.
constexpr std::array<Corners, 6> faces = {
    {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}}};

std::size_t tets_per_cell(BoxSplit split) { return split == BoxSplit::five ? 5 : split == BoxSplit::six ? 6 : 12; }

void check(const BoxOptions& options) {
  constexpr std::array<char, 3> axis = {'x', 'y', 'z'};
  constexpr double most = std::numeric_limits<Index>::max() / 4.0;  // what TetMesh can number
  double vertices = 1;
  double tets = static_cast<double>(tets_per_cell(options.split)), centres = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const double size = options.size[static_cast<Eigen::Index>(a)];
    if (!(size > 0) || !std::isfinite(size)) {
      throw InputError(fmt::format("box: size along {} is {}; give a positive length in metres.", axis[a], size));
    }
    if (!std::isfinite(options.origin[static_cast<Eigen::Index>(a)])) {
      throw InputError(fmt::format("box: origin along {} is not a finite number.", axis[a]));
    }
    if (options.cells[a] < 1) {
      throw InputError(fmt::format("box: {} cells along {}; give at least 1.", options.cells[a], axis[a]));
    }
    vertices *= static_cast<double>(options.cells[a]) + 1;
    tets *= static_cast<double>(options.cells[a]);
    centres *= static_cast<double>(options.cells[a]);
  }
  if (options.split == BoxSplit::twelve) vertices += centres;
  if (vertices > most || tets > most) {
    throw InputError(
        fmt::format("box: {} x {} x {} cells make {:.3g} vertices and {:.3g} tetrahedra, more than the {:.0f} that "
                    "can be numbered; use fewer cells.",
                    options.cells[0], options.cells[1], options.cells[2], vertices, tets, most));
  }
}

}  // namespace

MeshData box(const BoxOptions& options) {
  check(options);
  const Index nx = options.cells[0], ny = options.cells[1], nz = options.cells[2];
  const auto vertex = [nx, ny](Index i, Index j, Index k) { return i + (nx + 1) * (j + (ny + 1) * k); };

  MeshData data;
  data.source = fmt::format("box {}x{}x{}", nx, ny, nz);
  data.vertices.reserve(static_cast<std::size_t>(vertex(nx, ny, nz)) + 1);
  std::array<std::vector<Index>, 6> sides;
  std::vector<Index> boundary;
  for (Index k = 0; k <= nz; ++k) {
    for (Index j = 0; j <= ny; ++j) {
      for (Index i = 0; i <= nx; ++i) {
        const Vec3 fraction(static_cast<double>(i) / nx, static_cast<double>(j) / ny, static_cast<double>(k) / nz);
        const auto v = static_cast<Index>(data.vertices.size());
        data.vertices.push_back(options.origin + options.size.cwiseProduct(fraction));
        const std::array<bool, 6> on = {i == 0, i == nx, j == 0, j == ny, k == 0, k == nz};
        bool any = false;
        for (std::size_t s = 0; s < 6; ++s) {
          if (on[s]) sides[s].push_back(v), any = true;
        }
        if (any) boundary.push_back(v);
      }
    }
  }
  constexpr std::array<const char*, 6> names = {"x-min", "x-max", "y-min", "y-max", "z-min", "z-max"};
  for (std::size_t s = 0; s < 6; ++s) data.sets[names[s]] = std::move(sides[s]);
  data.sets["boundary"] = std::move(boundary);

  const auto add = [&](Index i, Index j, Index k, const auto& pattern) {
    for (const Corners& corners : pattern) {
      Tet tet;
      for (std::size_t c = 0; c < 4; ++c) {
        const unsigned bits = corners[c];
        tet[c] = vertex(i + static_cast<Index>(bits & 1U), j + static_cast<Index>((bits >> 1U) & 1U),
                        k + static_cast<Index>((bits >> 2U) & 1U));
      }
      data.tets.push_back(tet);
    }
  };
  data.tets.reserve(tets_per_cell(options.split) * static_cast<std::size_t>(nx) * static_cast<std::size_t>(ny) *
                    static_cast<std::size_t>(nz));
  // Every face is cut along the diagonal between its two corners with an even sum of indices: the same from both sides.
  const auto add_around_centre = [&](Index i, Index j, Index k) {
    const Vec3 fraction((i + 0.5) / nx, (j + 0.5) / ny, (k + 0.5) / nz);
    const auto centre = static_cast<Index>(data.vertices.size());
    data.vertices.push_back(options.origin + options.size.cwiseProduct(fraction));
    for (const Corners& face : faces) {
      std::array<Index, 4> v{};
      for (std::size_t c = 0; c < 4; ++c)
        v[c] = vertex(i + static_cast<Index>(face[c] & 1U), j + static_cast<Index>((face[c] >> 1U) & 1U),
                      k + static_cast<Index>((face[c] >> 2U) & 1U));
      const bool first_is_even = (i + j + k + static_cast<Index>(std::popcount(face[0]))) % 2 == 0;
      const std::size_t a = first_is_even ? 0 : 1;
      for (const std::size_t b : {a, a + 2}) data.tets.push_back(Tet{v[b], v[(b + 2) % 4], v[(b + 1) % 4], centre});
    }
  };
  for (Index k = 0; k < nz; ++k) {
    for (Index j = 0; j < ny; ++j) {
      for (Index i = 0; i < nx; ++i) {
        if (options.split == BoxSplit::twelve) {
          add_around_centre(i, j, k);
        } else if (options.split == BoxSplit::six) {
          add(i, j, k, six);
        } else {
          add(i, j, k, five_tets((i + j + k) % 2 != 0));
        }
      }
    }
  }
  return data;
}

}  // namespace pliant
