#pragma once

#include <array>
#include <cstdint>

#include "pliant/math/types.hpp"

namespace pliant {

using Vec12 = Eigen::Matrix<double, 12, 1>;
using Mat12 = Eigen::Matrix<double, 12, 12>;

/// The positions of a pair: a point p and a triangle t0 t1 t2, the edges a0 a1 and b0 b1, two points p q, or a point p
/// and an edge e0 e1. Corners beyond these are of no meaning. m.
using Corners = std::array<Vec3, 4>;

/// Surfaces meet as points and triangles or as edges; the other two are what the nearest parts of such pairs are.
enum class PairKind : std::uint8_t { point_triangle, edge_edge, point_point, point_edge };

/// Which part of the triangle is nearest to the point; edges 0, 1, 2 are t0t1, t1t2, t2t0.
enum class PointTriangleType : std::uint8_t { t0, t1, t2, edge0, edge1, edge2, face };
/// Which parts of two edges are nearest to each other.
enum class EdgeEdgeType : std::uint8_t { a0_b0, a0_b1, a1_b0, a1_b1, a_b0, a_b1, a0_b, a1_b, a_b };

/// Where two primitives are nearest. In every case the difference r of the nearest points is a weighted sum of the
/// corners, r = sum_i weight_i x_i, with weights that are affine in 0, 1 or 2 parameters (places on edges or in the
/// face) at which |r|^2 is stationary. All derivatives follow from that, once for all types.
struct Closest {
  std::array<double, 4> weight{};                     ///< positive for the first primitive, negative for the second
  std::array<std::array<double, 4>, 2> directions{};  ///< of the weights, by parameter
  int parameters = 0;
  std::uint8_t type = 0;  ///< a PointTriangleType or an EdgeEdgeType; of no meaning for other pairs
  Vec3 r = Vec3::Zero();  ///< m
  double d2 = 0;          ///< |r|^2, m^2
};

/// Ties go to the part of lower dimension. Triangles and edges may be degenerate: what is nearest is then found among
/// their edges and ends.
Closest closest_point_triangle(const Corners& x);
Closest closest_edge_edge(const Corners& x);
Closest closest_point_point(const Corners& x);
Closest closest_point_edge(const Corners& x);
Closest closest(PairKind kind, const Corners& x);

}  // namespace pliant
