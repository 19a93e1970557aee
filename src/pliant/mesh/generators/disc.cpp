#include "pliant/mesh/generators/disc.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

// The disc. A square mapped onto a disc as a whole would straighten its corners to angles of 180 degrees; so a square
// core of n x n cells stays inside, and each of its four sides is joined to a quarter of the circle by m layers. The
// core's sides bulge by `bulge` of the way from the square to the circle through its corners, which shares the angle at
// a core corner evenly between the three cells that meet there. Distances along the sides are equal in angle
// (the equiangular map of the cubed sphere), so that cells on the circle are equally wide.

namespace pliant {

namespace {

/// Found by maximising the least dihedral angle over n = 2 .. 8, which it changes by some degrees only.
constexpr double core_radius = 0.65;
constexpr double bulge = 0.4;

/// Unit vector through a point of the boundary of the square [-1, 1]^2, equiangular.
Vec2 direction(const Vec2& u) {
  return Vec2(std::tan(std::numbers::pi / 4 * u[0]), std::tan(std::numbers::pi / 4 * u[1])).normalized();
}

Vec2 core_point(const Vec2& u) {
  const double r = u.cwiseAbs().maxCoeff();
  if (r == 0) return Vec2::Zero();
  return core_radius * ((1 - bulge) / std::numbers::sqrt2 * u + bulge * r * direction(u / r));
}

}  // namespace

Index core_cells(Index cells) {
  // n core cells and layers of 0.42 n on either side.
  auto n = static_cast<Index>(std::lround(cells / 1.85));
  if ((cells - n) % 2 != 0) n += n * 1.85 < cells ? 1 : -1;
  return std::clamp<Index>(n, 1, cells - 2);
}

QuadGrid disc_grid(Index cells) {
  const Index n = core_cells(cells);
  const Index layers = (cells - n) / 2;
  QuadGrid grid;
  const auto coordinate = [n](Index i, Index j) { return Vec2(2.0 * i / n - 1, 2.0 * j / n - 1); };
  const auto core = [n](Index i, Index j) { return i + (n + 1) * j; };
  for (Index j = 0; j <= n; ++j) {
    for (Index i = 0; i <= n; ++i) {
      grid.points.push_back(core_point(coordinate(i, j)));
      grid.odd.push_back(static_cast<std::uint8_t>((i + j) % 2));
    }
  }
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i)
      grid.quads.push_back({core(i, j), core(i + 1, j), core(i, j + 1), core(i + 1, j + 1)});
  }
  // Once around the core, counter-clockwise.
  std::vector<std::array<Index, 2>> rim;
  for (Index i = 0; i < n; ++i) rim.push_back({i, 0});
  for (Index j = 0; j < n; ++j) rim.push_back({n, j});
  for (Index i = n; i > 0; --i) rim.push_back({i, n});
  for (Index j = n; j > 0; --j) rim.push_back({0, j});
  const auto around = static_cast<Index>(rim.size());
  const auto core_count = static_cast<Index>(grid.points.size());
  const auto layered = [&](Index p, Index layer) {
    const auto [i, j] = rim[static_cast<std::size_t>(p % around)];
    return layer == 0 ? core(i, j) : core_count + (layer - 1) * around + p % around;
  };
  for (Index layer = 1; layer <= layers; ++layer) {
    const double t = static_cast<double>(layer) / layers;
    for (const auto& [i, j] : rim) {
      const Vec2 u = coordinate(i, j);
      if (layer == layers) grid.outer.push_back(static_cast<Index>(grid.points.size()));
      grid.points.push_back(layer == layers ? direction(u) : (1 - t) * core_point(u) + t * direction(u));
      grid.odd.push_back(static_cast<std::uint8_t>((i + j + layer) % 2));
    }
    for (Index p = 0; p < around; ++p) {
      grid.quads.push_back(
          {layered(p, layer - 1), layered(p, layer), layered(p + 1, layer - 1), layered(p + 1, layer)});
    }
  }
  return grid;
}

QuadGrid ring_grid(double inner_radius, double outer_radius, Index layers, Index around) {
  QuadGrid grid;
  for (Index layer = 0; layer <= layers; ++layer) {
    const double t = static_cast<double>(layer) / layers;
    const double radius = layer == layers ? outer_radius : (1 - t) * inner_radius + t * outer_radius;
    for (Index p = 0; p < around; ++p) {
      const double angle = 2 * std::numbers::pi * p / around;
      const auto i = static_cast<Index>(grid.points.size());
      if (layer == 0) grid.inner.push_back(i);
      if (layer == layers) grid.outer.push_back(i);
      grid.points.emplace_back(radius * std::cos(angle), radius * std::sin(angle));
      grid.odd.push_back(static_cast<std::uint8_t>((p + layer) % 2));
    }
  }
  for (Index layer = 0; layer < layers; ++layer) {
    for (Index p = 0; p < around; ++p) {
      const Index next = (p + 1) % around;
      const Index below = layer * around;
      grid.quads.push_back({below + p, below + around + p, below + next, below + around + next});
    }
  }
  return grid;
}

HexBlocks stack(const QuadGrid& grid, Index count, Stacking stacking,
                const std::function<Vec3(const Vec2&, Index)>& place) {
  HexBlocks blocks;
  const Index copies = stacking == Stacking::open ? count + 1 : count;
  const auto points = static_cast<Index>(grid.points.size());
  blocks.vertices.reserve(grid.points.size() * static_cast<std::size_t>(copies));
  blocks.odd.reserve(blocks.vertices.capacity());
  for (Index k = 0; k < copies; ++k) {
    for (std::size_t i = 0; i < grid.points.size(); ++i) {
      blocks.vertices.push_back(place(grid.points[i], k));
      blocks.odd.push_back(static_cast<std::uint8_t>((grid.odd[i] + k) % 2));
    }
  }
  blocks.cells.reserve(grid.quads.size() * static_cast<std::size_t>(count));
  for (Index k = 0; k < count; ++k) {
    const Index low = k * points;
    const Index high = (k + 1) % copies * points;
    for (const auto& [a, b, c, d] : grid.quads) {
      blocks.cells.push_back({low + a, low + b, low + c, low + d, high + a, high + b, high + c, high + d});
    }
  }
  return blocks;
}

Vec3 along_axis(Axis axis, double a, double b, double c) {
  switch (axis) {
    case Axis::x:
      return {c, a, b};
    case Axis::y:
      return {b, c, a};
    case Axis::z:
      break;
  }
  return {a, b, c};
}

Index cells_for(double length, double width, Index least) {
  constexpr double most = 1e9;  // far above what check_total lets pass
  return static_cast<Index>(std::clamp<double>(std::round(length / width), least, most));
}

Index round_up_to_even(Index count) { return count + count % 2; }

}  // namespace pliant
