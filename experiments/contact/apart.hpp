#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "pliant/sim/model.hpp"

/// A judge of states with contact that shares no code with what it judges: neither the search for pairs, nor distances,
/// nor predicates. It reads the lists of points, edges and triangles, and where obstacles are.
namespace pliant::apart {

/// Wide enough that the sign of a volume of doubles comes out right, up to differences of exponents beyond any mesh.
__extension__ typedef __float128 Wide;

inline int sign_of(Wide value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

/// The side of the plane through a, b, c on which d lies.
inline int side(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  Wide m[3][3];
  for (int k = 0; k < 3; ++k) {
    m[0][k] = Wide(b[k]) - Wide(a[k]);
    m[1][k] = Wide(c[k]) - Wide(a[k]);
    m[2][k] = Wide(d[k]) - Wide(a[k]);
  }
  return sign_of(m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                 m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]));
}

/// The same for the line through a and b, seen along an axis.
inline int side(const Vec3& a, const Vec3& b, const Vec3& p, int axis) {
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  return sign_of((Wide(b[u]) - Wide(a[u])) * (Wide(p[v]) - Wide(a[v])) -
                 (Wide(b[v]) - Wide(a[v])) * (Wide(p[u]) - Wide(a[u])));
}

/// Whether a segment and a triangle of one plane are apart as seen along an axis: some side of either separates them.
inline bool apart_along(const Vec3& p, const Vec3& q, const std::array<Vec3, 3>& t, int axis) {
  const auto separates = [&](const Vec3& a, const Vec3& b, const auto& these, const auto& those) {
    int low = 1, high = -1, other_low = 1, other_high = -1;
    for (const Vec3& x : these) low = std::min(low, side(a, b, x, axis)), high = std::max(high, side(a, b, x, axis));
    for (const Vec3& x : those)
      other_low = std::min(other_low, side(a, b, x, axis)), other_high = std::max(other_high, side(a, b, x, axis));
    return (low >= 0 && other_high < 0) || (high <= 0 && other_low > 0);
  };
  const std::array<Vec3, 2> segment{p, q};
  if (separates(p, q, segment, t)) return true;
  for (std::size_t k = 0; k < 3; ++k)
    if (separates(t[k], t[(k + 1) % 3], t, segment)) return true;
  return false;
}

inline bool cuts(const Vec3& p, const Vec3& q, const std::array<Vec3, 3>& t) {
  const int from = side(t[0], t[1], t[2], p), to = side(t[0], t[1], t[2], q);
  if (from * to > 0) return false;
  if (from == 0 && to == 0) {
    for (int axis = 0; axis < 3; ++axis)
      if (apart_along(p, q, t, axis)) return false;
    return true;
  }
  const int a = side(p, q, t[0], t[1]), b = side(p, q, t[1], t[2]), c = side(p, q, t[2], t[0]);
  return std::min({a, b, c}) >= 0 || std::max({a, b, c}) <= 0;
}

/// Edges that cut triangles and points behind planes, at a state.
inline int intersections(const Model& model, const State& state) {
  if (!model.contact()) return 0;
  const ContactModel& contact = *model.contact();
  const ContactSurface& surface = *contact.surface;
  VecX x = contact.rest;
  x.head(state.x.size()) = state.x;
  for (const ContactModel::Placed& obstacle : contact.obstacles) {
    const RigidPose pose = obstacle.motion.pose(state.time);
    for (Index i = obstacle.positions.begin; i < obstacle.positions.end; ++i)
      node(x, i) = pose.from_rest(node(contact.rest, i));
  }

  struct Extent {
    Eigen::Array3d low, high;
    std::size_t number;
  };
  const auto extent = [&](const auto& corners, std::size_t number) {
    Extent e{Eigen::Array3d::Constant(1e300), Eigen::Array3d::Constant(-1e300), number};
    for (Index i : corners) e.low = e.low.min(node(x, i).array()), e.high = e.high.max(node(x, i).array());
    return e;
  };
  std::vector<Extent> edges, triangles;
  for (std::size_t k = 0; k < surface.edges.size(); ++k) edges.push_back(extent(surface.edges[k], k));
  double widest = 0;
  for (std::size_t k = 0; k < surface.triangles.size(); ++k) {
    triangles.push_back(extent(surface.triangles[k], k));
    widest = std::max(widest, (triangles.back().high - triangles.back().low).x());
  }
  std::sort(triangles.begin(), triangles.end(), [](const Extent& a, const Extent& b) { return a.low.x() < b.low.x(); });

  int found = 0;
  for (const Extent& edge : edges) {
    const Edge& e = surface.edges[edge.number];
    auto other = std::lower_bound(triangles.begin(), triangles.end(), edge.low.x() - widest,
                                  [](const Extent& t, double value) { return t.low.x() < value; });
    for (; other != triangles.end() && other->low.x() <= edge.high.x(); ++other) {
      if ((other->low > edge.high).any() || (other->high < edge.low).any()) continue;
      const Triangle& t = surface.triangles[other->number];
      const bool share = std::any_of(t.begin(), t.end(), [&](Index i) { return i == e[0] || i == e[1]; });
      if (share || !surface.may_touch(e[0], t[0])) continue;
      found += cuts(node(x, e[0]), node(x, e[1]), {Vec3(node(x, t[0])), Vec3(node(x, t[1])), Vec3(node(x, t[2]))});
    }
  }
  for (const ContactModel::Placed& plane : contact.planes) {
    const RigidPose pose = plane.motion.pose(state.time);
    const Vec3 point = pose.from_rest(plane.plane.point), normal = pose.rotation * plane.plane.normal;
    for (Index i : surface.points)
      if (i < contact.nodes && surface.touches[static_cast<std::size_t>(
                                   surface.group[static_cast<std::size_t>(i)] * surface.groups + plane.group)])
        found += !(normal.dot(Vec3(node(x, i)) - point) > 0);
  }
  return found;
}

}  // namespace pliant::apart
