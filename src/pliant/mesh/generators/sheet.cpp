// Thin slabs of tetrahedra and rectangles of triangles.

#include <fmt/format.h>

#include <algorithm>

#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/generators/hex_blocks.hpp"

namespace pliant {

namespace {

/// The two axes of the plane with this normal, ascending.
std::array<int, 2> plane_axes(Axis normal) {
  switch (normal) {
    case Axis::x:
      return {1, 2};
    case Axis::y:
      return {0, 2};
    case Axis::z:
      break;
  }
  return {0, 1};
}

constexpr std::array<std::array<const char*, 2>, 3> side_names = {
    {{"x-min", "x-max"}, {"y-min", "y-max"}, {"z-min", "z-max"}}};

std::vector<Index> united(std::vector<Index> a, const std::vector<Index>& b) {
  std::vector<Index> result;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

std::vector<Index> common(const std::vector<Index>& a, const std::vector<Index>& b) {
  std::vector<Index> result;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

/// From the sets of the four sides: all of them, and what two neighbours share.
struct Edge {
  std::vector<Index> all;
  std::vector<Index> corners;
};
Edge edge_of(const std::map<std::string, std::vector<Index>>& sets, const std::array<int, 2>& axes) {
  Edge edge;
  for (const char* a : side_names[static_cast<std::size_t>(axes[0])]) {
    edge.all = united(edge.all, sets.at(a));
    for (const char* b : side_names[static_cast<std::size_t>(axes[1])]) {
      edge.corners = united(edge.corners, common(sets.at(a), sets.at(b)));
    }
  }
  for (const char* b : side_names[static_cast<std::size_t>(axes[1])]) edge.all = united(edge.all, sets.at(b));
  return edge;
}

}  // namespace

MeshData sheet(const SheetOptions& options) {
  constexpr const char* kind = "sheet";
  check_finite(kind, "origin", options.origin);
  for (double length : options.size) check_length(kind, "size", length);
  check_length(kind, "thickness", options.thickness);
  for (Index count : options.cells) check_count(kind, "cells", count, 1);
  check_count(kind, "layers", options.layers, 1);
  const auto axes = plane_axes(options.normal);
  const auto normal = static_cast<std::size_t>(options.normal);
  BoxOptions slab;
  slab.origin = options.origin;
  slab.size[static_cast<Eigen::Index>(normal)] = options.thickness;
  slab.cells[normal] = options.layers;
  for (std::size_t a = 0; a < 2; ++a) {
    slab.size[axes[a]] = options.size[a];
    slab.cells[static_cast<std::size_t>(axes[a])] = options.cells[a];
  }
  MeshData data = box(slab);
  data.source = fmt::format("sheet of {} x {} x {} cells", options.cells[0], options.cells[1], options.layers);
  data.sets["bottom"] = data.sets.at(side_names[normal][0]);
  data.sets["top"] = data.sets.at(side_names[normal][1]);
  Edge edge = edge_of(data.sets, axes);
  data.sets["edge"] = std::move(edge.all);
  data.sets["corners"] = std::move(edge.corners);
  return data;
}

TriangleMesh triangle_grid(const TriangleGridOptions& options) {
  constexpr const char* kind = "triangle_grid";
  check_finite(kind, "origin", options.origin);
  for (double length : options.size) check_length(kind, "size", length);
  for (Index count : options.cells) check_count(kind, "cells", count, 1);
  const auto [n, m] = options.cells;
  check_total(kind, (n + 1.0) * (m + 1.0), 2.0 * n * m);

  const auto axes = plane_axes(options.normal);
  TriangleMesh mesh;
  mesh.source = fmt::format("triangle grid of {} x {} cells", n, m);
  const std::array<std::string, 4> names = {
      side_names[static_cast<std::size_t>(axes[0])][0], side_names[static_cast<std::size_t>(axes[0])][1],
      side_names[static_cast<std::size_t>(axes[1])][0], side_names[static_cast<std::size_t>(axes[1])][1]};
  for (Index j = 0; j <= m; ++j) {
    for (Index i = 0; i <= n; ++i) {
      const auto v = static_cast<Index>(mesh.vertices.size());
      Vec3 x = options.origin;
      x[axes[0]] += options.size[0] * i / n;
      x[axes[1]] += options.size[1] * j / m;
      mesh.vertices.push_back(x);
      const std::array<bool, 4> on = {i == 0, i == n, j == 0, j == m};
      for (std::size_t s = 0; s < 4; ++s) {
        if (on[s]) mesh.sets[names[s]].push_back(v);
      }
    }
  }
  Edge edge = edge_of(mesh.sets, axes);
  mesh.sets["boundary"] = std::move(edge.all);
  mesh.sets["corners"] = std::move(edge.corners);

  // x cross z points against y.
  const bool reversed = options.normal == Axis::y;
  const auto add = [&](Index a, Index b, Index c) {
    mesh.triangles.push_back(reversed ? Triangle{a, c, b} : Triangle{a, b, c});
  };
  for (Index j = 0; j < m; ++j) {
    for (Index i = 0; i < n; ++i) {
      const Index a = i + (n + 1) * j;
      const Index b = a + 1;
      const Index c = a + n + 1;
      const Index d = c + 1;
      if ((i + j) % 2 == 0) {
        add(a, b, d), add(a, d, c);
      } else {
        add(a, b, c), add(b, d, c);
      }
    }
  }
  return mesh;
}

}  // namespace pliant
