#include "pliant/contact/closest.hpp"

#include <Eigen/Geometry>
#include <algorithm>

namespace pliant {

namespace {

/// Below this squared sine of their angle two edges count as parallel (and a triangle with such edges as flat): its
/// face, or the inside of both edges, is not looked at. The distance to it differs by less than rounding.
constexpr double kParallel = 1e-20;
/// Below this one, formulas that divide by it can no longer tell types apart: what is nearest inside competes with
/// everything on the border by distance. Else only signs decide, which are good to rounding where distances, flat at
/// their minimum, are good to its square root.
constexpr double kNearlyParallel = 1e-10;

/// The nearest point of a segment: its parameter, 0 or 1 exactly at the ends.
double nearest_on_segment(const Vec3& p, const Vec3& q0, const Vec3& q1) {
  const Vec3 e = q1 - q0;
  const double length2 = e.squaredNorm(), t = (p - q0).dot(e);
  if (!(t > 0) || !(length2 > 0)) return 0;
  return t < length2 ? t / length2 : 1;
}

bool inside(double t) { return t > 0 && t < 1; }

void finish(const Corners& x, Closest& c) {
  // By differences to one corner: the weights add up to zero, and positions may be far from the origin.
  c.r = c.weight[1] * (x[1] - x[0]) + c.weight[2] * (x[2] - x[0]) + c.weight[3] * (x[3] - x[0]);
  c.d2 = c.r.squaredNorm();
}

/// The same where the direction is known: as a difference of nearest points it would be lost at tiny distances.
void finish_along(const Vec3& n, double factor, Closest& c) {
  c.r = factor * n;
  c.d2 = c.r.squaredNorm();
}

/// Corner `point` against the segment of corners q0 and q1. `sign` is that of the point's weight.
Closest point_segment(const Corners& x, std::size_t point, std::size_t q0, std::size_t q1, double sign,
                      std::array<std::uint8_t, 3> types) {
  const double t = nearest_on_segment(x[point], x[q0], x[q1]);
  Closest c;
  c.weight[point] = sign;
  c.weight[q0] = -sign * (1 - t);
  c.weight[q1] = -sign * t;
  c.type = types[t <= 0 ? 0 : t >= 1 ? 1 : 2];
  if (inside(t)) {
    c.parameters = 1;
    c.directions[0][q0] = sign;
    c.directions[0][q1] = -sign;
  }
  finish(x, c);
  return c;
}

bool nearer(const Closest& a, const Closest& b) { return a.d2 < b.d2 || (a.d2 == b.d2 && a.parameters < b.parameters); }

template <class Type>
constexpr std::uint8_t code(Type type) {
  return static_cast<std::uint8_t>(type);
}

constexpr std::array<std::array<std::uint8_t, 3>, 3> kTriangleEdgeTypes = {
    {{code(PointTriangleType::t0), code(PointTriangleType::t1), code(PointTriangleType::edge0)},
     {code(PointTriangleType::t1), code(PointTriangleType::t2), code(PointTriangleType::edge1)},
     {code(PointTriangleType::t2), code(PointTriangleType::t0), code(PointTriangleType::edge2)}}};

/// The point against the k-th edge of the triangle.
Closest point_edge(const Corners& x, std::size_t k) {
  return point_segment(x, 0, k + 1, (k + 1) % 3 + 1, 1, kTriangleEdgeTypes[k]);
}

Closest nearest_of_triangle_border(const Corners& x) {
  Closest best = point_edge(x, 0);
  for (const Closest& other : {point_edge(x, 1), point_edge(x, 2)})
    if (nearer(other, best)) best = other;
  return best;
}

/// The same for a point that does not lie over the face, by signs alone: an edge is nearest when the point is beyond it
/// and between its ends; else it is a corner.
Closest nearest_of_triangle_border(const Corners& x, const std::array<double, 3>& barycentric) {
  std::array<Closest, 3> edges;
  for (std::size_t k = 0; k < 3; ++k) {
    edges[k] = point_edge(x, k);
    if (barycentric[(k + 2) % 3] <= 0 && edges[k].parameters == 1) return edges[k];
  }
  for (std::size_t k = 0; k < 3; ++k)
    if (edges[k].type == edges[(k + 2) % 3].type) return edges[k];
  return nearest_of_triangle_border(x);
}

/// Corner `end` of the first edge against the second, or of the second against the first.
Closest edge_end(const Corners& x, std::size_t end) {
  using enum EdgeEdgeType;
  switch (end) {
    case 0:
      return point_segment(x, 0, 2, 3, 1, {code(a0_b0), code(a0_b1), code(a0_b)});
    case 1:
      return point_segment(x, 1, 2, 3, 1, {code(a1_b0), code(a1_b1), code(a1_b)});
    case 2:
      return point_segment(x, 2, 0, 1, -1, {code(a0_b0), code(a1_b0), code(a_b0)});
    default:
      return point_segment(x, 3, 0, 1, -1, {code(a0_b1), code(a1_b1), code(a_b1)});
  }
}

Closest nearest_of_edge_ends(const Corners& x) {
  Closest best = edge_end(x, 0);
  for (std::size_t end = 1; end < 4; ++end)
    if (const Closest other = edge_end(x, end); nearer(other, best)) best = other;
  return best;
}

}  // namespace

Closest closest_point_triangle(const Corners& x) {
  const Vec3 e1 = x[2] - x[1], e2 = x[3] - x[1], d = x[0] - x[1];
  const Vec3 n = e1.cross(e2);
  const double n2 = n.squaredNorm(), scale = e1.squaredNorm() * e2.squaredNorm();
  if (!(n2 > kParallel * scale)) return nearest_of_triangle_border(x);
  const double u = d.cross(e2).dot(n) / n2, v = e1.cross(d).dot(n) / n2;
  const bool is_flat = n2 <= kNearlyParallel * scale;
  if (!(u > 0 && v > 0 && u + v < 1))
    return is_flat ? nearest_of_triangle_border(x) : nearest_of_triangle_border(x, {1 - u - v, u, v});
  Closest c;
  c.weight = {1, -(1 - u - v), -u, -v};
  c.parameters = 2;
  c.directions = {{{0, 1, -1, 0}, {0, 1, 0, -1}}};
  c.type = code(PointTriangleType::face);
  if (!is_flat) {
    finish_along(n, d.dot(n) / n2, c);
    return c;
  }
  finish(x, c);
  const Closest border = nearest_of_triangle_border(x);
  return nearer(border, c) ? border : c;
}

Closest closest_edge_edge(const Corners& x) {
  const Vec3 u = x[1] - x[0], v = x[3] - x[2], w = x[2] - x[0];
  const Vec3 n = u.cross(v);
  const double n2 = n.squaredNorm(), v2 = v.squaredNorm(), scale = u.squaredNorm() * v2;
  if (!(n2 > kParallel * scale)) return nearest_of_edge_ends(x);
  const bool is_parallel = n2 <= kNearlyParallel * scale;
  const double s = std::clamp(w.cross(v).dot(n) / n2, 0.0, 1.0);
  // By projection, not by a formula like that of s: for nearly parallel edges both parameters may then be off along
  // the edges, but together, which the distance does not feel.
  const double t = (s * u - w).dot(v) / v2;
  if (!inside(t) || !inside(s)) {
    if (is_parallel) return nearest_of_edge_ends(x);
    // The squared distance is convex: beyond an end of the second edge that end is nearest, whatever s was.
    if (!inside(t)) return edge_end(x, t <= 0 ? 2 : 3);
    return edge_end(x, s <= 0 ? 0 : 1);
  }
  Closest c;
  c.weight = {1 - s, s, -(1 - t), -t};
  c.parameters = 2;
  c.directions = {{{-1, 1, 0, 0}, {0, 0, 1, -1}}};
  c.type = code(EdgeEdgeType::a_b);
  if (!is_parallel) {
    finish_along(n, -w.dot(n) / n2, c);
    return c;
  }
  finish(x, c);
  const Closest ends = nearest_of_edge_ends(x);
  return nearer(ends, c) ? ends : c;
}

Closest closest_point_point(const Corners& x) {
  Closest c;
  c.weight = {1, -1, 0, 0};
  finish_along(x[0] - x[1], 1, c);
  return c;
}

Closest closest_point_edge(const Corners& x) { return point_segment({x[0], x[1], x[2], x[0]}, 0, 1, 2, 1, {0, 1, 2}); }

Closest closest(PairKind kind, const Corners& x) {
  switch (kind) {
    case PairKind::point_triangle:
      return closest_point_triangle(x);
    case PairKind::edge_edge:
      return closest_edge_edge(x);
    case PairKind::point_point:
      return closest_point_point(x);
    case PairKind::point_edge:
      return closest_point_edge(x);
  }
  return {};
}

}  // namespace pliant
