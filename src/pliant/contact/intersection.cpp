#include "pliant/contact/intersection.hpp"

#include <Eigen/Geometry>
#include <algorithm>

#include "pliant/contact/closest.hpp"
#include "pliant/contact/predicates.hpp"
#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

/// Whether p lies in the box of a and b, which for three collinear points means between them.
bool between(const Vec2& a, const Vec2& b, const Vec2& p) {
  return (p.array() >= a.cwiseMin(b).array()).all() && (p.array() <= a.cwiseMax(b).array()).all();
}

bool segments_meet(const Vec2& a0, const Vec2& a1, const Vec2& b0, const Vec2& b1) {
  const int p = orientation(a0, a1, b0), q = orientation(a0, a1, b1);
  const int r = orientation(b0, b1, a0), s = orientation(b0, b1, a1);
  if (p * q < 0 && r * s < 0) return true;
  return (p == 0 && between(a0, a1, b0)) || (q == 0 && between(a0, a1, b1)) || (r == 0 && between(b0, b1, a0)) ||
         (s == 0 && between(b0, b1, a1));
}

bool contains(const std::array<Vec2, 3>& t, const Vec2& p) {
  const int a = orientation(t[0], t[1], p), b = orientation(t[1], t[2], p), c = orientation(t[2], t[0], p);
  return (a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0);
}

/// All five points in one plane: looked at along each axis in turn, of which one at least does not flatten the plane.
/// Points that are apart are apart in one of the views; a common point is common in all.
bool coplanar_meet(const Vec3& e0, const Vec3& e1, const std::array<Vec3, 3>& t) {
  for (int axis = 0; axis < 3; ++axis) {
    const auto seen = [&](const Vec3& p) { return Vec2(p[(axis + 1) % 3], p[(axis + 2) % 3]); };
    const std::array<Vec2, 3> corners{seen(t[0]), seen(t[1]), seen(t[2])};
    const Vec2 a = seen(e0), b = seen(e1);
    bool meet = orientation(corners[0], corners[1], corners[2]) != 0 && contains(corners, a);
    for (std::size_t k = 0; k < 3 && !meet; ++k) meet = segments_meet(a, b, corners[k], corners[(k + 1) % 3]);
    if (!meet) return false;
  }
  return true;
}

}  // namespace

bool intersects(const Vec3& e0, const Vec3& e1, const Vec3& t0, const Vec3& t1, const Vec3& t2) {
  const int side0 = orientation(t0, t1, t2, e0), side1 = orientation(t0, t1, t2, e1);
  if (side0 * side1 > 0) return false;
  const int a = orientation(e0, e1, t0, t1), b = orientation(e0, e1, t1, t2), c = orientation(e0, e1, t2, t0);
  if (side0 == 0 && side1 == 0)  // a triangle without area has every point "in its plane"
    return a == 0 && b == 0 && c == 0 && coplanar_meet(e0, e1, {t0, t1, t2});
  // The line through the edge crosses the plane: does it pass the triangle's edges all on the same side?
  return (a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0);
}

std::vector<CandidatePair> find_intersections(BroadPhase& broad_phase, const VecX& x) {
  const ContactSurface& s = broad_phase.surface();
  std::vector<CandidatePair> pairs;
  broad_phase.find_edge_triangle(x, pairs);
  std::vector<std::uint8_t> hit(pairs.size(), 0);
  for_chunks(static_cast<Index>(pairs.size()), 512, [&](Index begin, Index end) {
    for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
      const Edge& e = s.edges[static_cast<std::size_t>(pairs[k].first)];
      const Triangle& t = s.triangles[static_cast<std::size_t>(pairs[k].second)];
      hit[k] = intersects(node(x, e[0]), node(x, e[1]), node(x, t[0]), node(x, t[1]), node(x, t[2]));
    }
  });
  std::vector<CandidatePair> found;
  for (std::size_t k = 0; k < pairs.size(); ++k)
    if (hit[k]) found.push_back(pairs[k]);
  return found;
}

std::vector<CandidatePair> find_crossings(BroadPhase& broad_phase, const VecX& x) {
  constexpr double kRounding = 1e-12;  // of an edge's length
  const ContactSurface& s = broad_phase.surface();
  std::vector<CandidatePair> found;
  if (!s.has_loose_edges) return found;
  Candidates near;
  broad_phase.find(x, 0, near);
  for (const CandidatePair& pair : near.edge_edge) {
    const Edge &a = s.edges[static_cast<std::size_t>(pair.first)], &b = s.edges[static_cast<std::size_t>(pair.second)];
    const Corners corners{node(x, a[0]), node(x, a[1]), node(x, b[0]), node(x, b[1])};
    const double length2 = (corners[1] - corners[0]).squaredNorm();
    if (closest_edge_edge(corners).d2 <= kRounding * kRounding * length2) found.push_back(pair);
  }
  return found;
}

}  // namespace pliant
