#pragma once

#include <functional>

#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/generators/hex_blocks.hpp"

namespace pliant {

using Vec2 = Eigen::Vector2d;

/// How many of `cells` across a round body belong to its square or cubic core; the rest, an even number, to the layers
/// around it. Chosen so that cells are about equally large inside and outside.
Index core_cells(Index cells);

/// A grid of quadrilaterals in a plane, corners by the bits u + 2 v of a right-handed frame; every edge joins an even
/// and an odd vertex.
struct QuadGrid {
  std::vector<Vec2> points;
  std::vector<std::uint8_t> odd;
  std::vector<std::array<Index, 4>> quads;
  std::vector<Index> outer;  ///< points on the outer circle
  std::vector<Index> inner;  ///< on the inner circle of a ring
};

/// The unit disc: a core grid with bulging sides and layers of quadrilaterals around it.
QuadGrid disc_grid(Index cells);
/// A ring of `layers` times `around` quadrilaterals; `around` must be even.
QuadGrid ring_grid(double inner_radius, double outer_radius, Index layers, Index around);

/// Stacks copies of a grid: `count` layers of cells between count + 1 copies, or between `count` (even) copies around a
/// closed ring. `place(point, k)` is where a point of copy k goes; copies must follow each other along the third
/// direction of a right-handed frame. Point i of copy k becomes vertex i + k * points.size().
enum class Stacking { open, closed };
HexBlocks stack(const QuadGrid& grid, Index count, Stacking stacking,
                const std::function<Vec3(const Vec2&, Index)>& place);

/// (a, b, c) of a right-handed frame whose third direction is the axis.
Vec3 along_axis(Axis axis, double a, double b, double c);

/// Cells of a length so that they are about as long as `width`; at least `least`.
Index cells_for(double length, double width, Index least);
Index round_up_to_even(Index count);

}  // namespace pliant
