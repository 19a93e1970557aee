// Cylinder, tube and torus: a disc or a ring swept along a line or around a circle.

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "pliant/base/error.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/generators/disc.hpp"

namespace pliant {

namespace {

double disc_cells(Index cells) {
  const double n = core_cells(cells);
  return n * n + 2 * n * (cells - n);
}

/// Adds the points `members` of the copies [first, last] of a grid with `points` points.
void add_set(MeshData& data, const char* name, const std::vector<Index>& members, std::size_t points, Index first,
             Index last) {
  std::vector<Index>& set = data.sets[name];
  for (Index k = first; k <= last; ++k) {
    for (Index i : members) set.push_back(i + k * static_cast<Index>(points));
  }
}

std::vector<Index> all_of(const QuadGrid& grid) {
  std::vector<Index> members(grid.points.size());
  for (std::size_t i = 0; i < members.size(); ++i) members[i] = static_cast<Index>(i);
  return members;
}

/// The grid, its points scaled, along a straight axis.
MeshData prism(const QuadGrid& grid, double scale, const Vec3& origin, double length, Axis axis, Index along) {
  return cut_into_tets(stack(grid, along, Stacking::open, [&](const Vec2& p, Index k) {
    return Vec3(origin + along_axis(axis, scale * p[0], scale * p[1], length * k / along));
  }));
}

Index even_count(const char* kind, const char* key, Index value) {
  check_count(kind, key, value, 6);
  if (value % 2 == 0) return value;
  throw InputError(fmt::format("{}: {} is {}; give an even number, for example {}.", kind, key, value, value + 1));
}

}  // namespace

MeshData cylinder(const CylinderOptions& options) {
  constexpr const char* kind = "cylinder";
  check_finite(kind, "origin", options.origin);
  check_length(kind, "radius", options.radius);
  check_length(kind, "length", options.length);
  check_count(kind, "cells", options.cells, 4);
  check_count(kind, "along", options.along, 0);
  const Index along =
      options.along > 0 ? options.along : cells_for(options.length, 2 * options.radius / options.cells, 1);
  const double quads = disc_cells(options.cells);
  check_total(kind, (quads + 2.0 * options.cells + 1) * (along + 1.0), 5 * quads * along);

  const QuadGrid grid = disc_grid(options.cells);
  MeshData data = prism(grid, options.radius, options.origin, options.length, options.axis, along);
  data.source = fmt::format("cylinder of {} x {} cells", options.cells, along);
  const std::vector<Index> all = all_of(grid);
  add_set(data, "start", all, all.size(), 0, 0);
  add_set(data, "end", all, all.size(), along, along);
  add_set(data, "side", grid.outer, all.size(), 0, along);
  add_usual_sets(data);
  return data;
}

MeshData tube(const TubeOptions& options) {
  constexpr const char* kind = "tube";
  check_finite(kind, "origin", options.origin);
  check_length(kind, "inner_radius", options.inner_radius);
  check_length(kind, "outer_radius", options.outer_radius);
  check_length(kind, "length", options.length);
  if (!(options.inner_radius < options.outer_radius)) {
    throw InputError(fmt::format("tube: inner_radius is {} and outer_radius {}; the inner one must be the smaller.",
                                 options.inner_radius, options.outer_radius));
  }
  check_count(kind, "layers", options.layers, 1);
  check_count(kind, "along", options.along, 0);
  const double thickness = (options.outer_radius - options.inner_radius) / options.layers;
  const double middle = (options.outer_radius + options.inner_radius) / 2;
  const Index around = options.around != 0 ? even_count(kind, "around", options.around)
                                           : round_up_to_even(cells_for(2 * std::numbers::pi * middle, thickness, 6));
  const Index along = options.along > 0 ? options.along : cells_for(options.length, thickness, 1);
  const double quads = static_cast<double>(options.layers) * around;
  check_total(kind, (quads + around) * (along + 1.0), 5 * quads * along);

  const QuadGrid grid = ring_grid(options.inner_radius, options.outer_radius, options.layers, around);
  MeshData data = prism(grid, 1, options.origin, options.length, options.axis, along);
  data.source = fmt::format("tube of {} x {} x {} cells", options.layers, around, along);
  const std::vector<Index> all = all_of(grid);
  add_set(data, "start", all, all.size(), 0, 0);
  add_set(data, "end", all, all.size(), along, along);
  add_set(data, "inner", grid.inner, all.size(), 0, along);
  add_set(data, "outer", grid.outer, all.size(), 0, along);
  add_usual_sets(data);
  return data;
}

MeshData torus(const TorusOptions& options) {
  constexpr const char* kind = "torus";
  check_finite(kind, "centre", options.centre);
  check_length(kind, "radius", options.radius);
  check_length(kind, "ring_radius", options.ring_radius);
  if (!(options.ring_radius < options.radius)) {
    throw InputError(fmt::format("torus: ring_radius is {} and radius {}; the ring must be thinner, to leave a hole.",
                                 options.ring_radius, options.radius));
  }
  check_count(kind, "cells", options.cells, 4);
  const Index around = options.around != 0 ? even_count(kind, "around", options.around)
                                           : round_up_to_even(cells_for(2 * std::numbers::pi * options.radius,
                                                                        2 * options.ring_radius / options.cells, 6));
  const double quads = disc_cells(options.cells);
  check_total(kind, (quads + 2.0 * options.cells + 1) * around, 5 * quads * around);

  const QuadGrid grid = disc_grid(options.cells);
  MeshData data = cut_into_tets(stack(grid, around, Stacking::closed, [&](const Vec2& p, Index k) {
    const double angle = 2 * std::numbers::pi * k / around;
    const double distance = options.radius + options.ring_radius * p[0];
    // Outwards, against the axis, around: right-handed.
    return Vec3(options.centre + along_axis(options.axis, distance * std::cos(angle), distance * std::sin(angle),
                                            -options.ring_radius * p[1]));
  }));
  data.source = fmt::format("torus of {} x {} cells", options.cells, around);
  add_usual_sets(data);
  return data;
}

}  // namespace pliant
