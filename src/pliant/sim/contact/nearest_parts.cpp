#include "pliant/sim/contact/nearest_parts.hpp"

#include <algorithm>
#include <tuple>

#include "pliant/contact/pair_derivatives.hpp"

namespace pliant {

namespace {

auto key(const ContactPair& pair) { return std::tie(pair.kind, pair.plane, pair.corners, pair.reach); }

ContactPair points(const ContactPair& pair, std::size_t a, std::size_t b) {
  ContactPair part = pair;
  part.kind = PairKind::point_point;
  part.threshold = 0;
  const auto [first, second] = std::minmax(pair.corners[a], pair.corners[b]);
  part.corners = {first, second, -1, -1};
  return part;
}

ContactPair point_and_edge(const ContactPair& pair, std::size_t p, std::size_t e0, std::size_t e1) {
  ContactPair part = pair;
  part.kind = PairKind::point_edge;
  part.threshold = 0;
  const auto [first, second] = std::minmax(pair.corners[e0], pair.corners[e1]);
  part.corners = {pair.corners[p], first, second, -1};
  return part;
}

ContactPair part_of_triangle(const ContactPair& pair, PointTriangleType type) {
  using enum PointTriangleType;
  switch (type) {
    case t0:
      return points(pair, 0, 1);
    case t1:
      return points(pair, 0, 2);
    case t2:
      return points(pair, 0, 3);
    case edge0:
      return point_and_edge(pair, 0, 1, 2);
    case edge1:
      return point_and_edge(pair, 0, 2, 3);
    case edge2:
      return point_and_edge(pair, 0, 3, 1);
    case face:
      break;
  }
  return pair;
}

ContactPair part_of_edges(const ContactPair& pair, EdgeEdgeType type) {
  using enum EdgeEdgeType;
  switch (type) {
    case a0_b0:
      return points(pair, 0, 2);
    case a0_b1:
      return points(pair, 0, 3);
    case a1_b0:
      return points(pair, 1, 2);
    case a1_b1:
      return points(pair, 1, 3);
    case a_b0:
      return point_and_edge(pair, 2, 0, 1);
    case a_b1:
      return point_and_edge(pair, 3, 0, 1);
    case a0_b:
      return point_and_edge(pair, 0, 2, 3);
    case a1_b:
      return point_and_edge(pair, 1, 2, 3);
    case a_b:
      break;
  }
  return pair;
}

}  // namespace

ContactPair nearest_part(const ContactPair& pair, const Corners& x, const Closest& closest) {
  if (pair.kind == PairKind::point_triangle)
    return part_of_triangle(pair, static_cast<PointTriangleType>(closest.type));
  if (pair.kind != PairKind::edge_edge || edge_cross_norm(x) < pair.threshold) return pair;
  return part_of_edges(pair, static_cast<EdgeEdgeType>(closest.type));
}

void merge_equal(std::vector<ContactPair>& pairs) {
  // By area, too, so that sums do not depend on the order that the pairs came in.
  std::sort(pairs.begin(), pairs.end(), [](const ContactPair& a, const ContactPair& b) {
    return std::tuple(key(a), a.area) < std::tuple(key(b), b.area);
  });
  std::size_t count = 0;
  for (const ContactPair& pair : pairs) {
    if (count > 0 && key(pairs[count - 1]) == key(pair))
      pairs[count - 1].area += pair.area;
    else
      pairs[count++] = pair;
  }
  pairs.resize(count);
}

}  // namespace pliant
