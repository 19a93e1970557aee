#include "pliant/contact/tessellate.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace pliant {

namespace {

constexpr double kPi = std::numbers::pi;

/// A point of a curve that is turned about an axis: distance from the axis and height along it.
struct ProfilePoint {
  double radius, height;
};

/// A surface of revolution. A point on the axis (radius 0) becomes one vertex; a ring is joined end to start.
TriangleMesh lathe(const std::vector<ProfilePoint>& profile, bool is_ring, const Vec3& centre, const Vec3& axis,
                   int segments) {
  const Vec3 other = std::abs(axis.x()) < 0.6 ? Vec3::UnitX() : Vec3::UnitY();
  const Vec3 u = axis.cross(other).normalized(), v = axis.cross(u);
  TriangleMesh mesh;
  std::vector<Index> first;  // vertex of each profile point at angle zero
  const auto is_pole = [](const ProfilePoint& p) { return p.radius == 0; };
  for (const ProfilePoint& p : profile) {
    first.push_back(static_cast<Index>(mesh.vertices.size()));
    for (int k = 0; k < (is_pole(p) ? 1 : segments); ++k) {
      const double angle = 2 * kPi * k / segments;
      mesh.vertices.push_back(centre + p.height * axis + p.radius * (std::cos(angle) * u + std::sin(angle) * v));
    }
  }
  const std::size_t n = profile.size(), strips = is_ring ? n : n - 1;
  for (std::size_t i = 0; i < strips; ++i) {
    const std::size_t j = (i + 1) % n;
    for (int k = 0; k < segments; ++k) {
      const int next = (k + 1) % segments;
      const auto corner = [&](std::size_t p, int at) { return first[p] + (is_pole(profile[p]) ? 0 : at); };
      const Index a = corner(i, k), b = corner(i, next), c = corner(j, next), d = corner(j, k);
      if (a != b) mesh.triangles.push_back({a, b, c});
      if (c != d) mesh.triangles.push_back({a, c, d});
    }
  }
  return mesh;
}

/// From height -radius to +radius about `height`, or a part of it between two latitudes.
void add_arc(std::vector<ProfilePoint>& profile, double radius, double height, double from, double to, int steps) {
  for (int k = 0; k <= steps; ++k) {
    const double latitude = from + (to - from) * k / steps;
    const bool pole = std::abs(std::abs(latitude) - kPi / 2) < 1e-12;
    profile.push_back({pole ? 0 : radius * std::cos(latitude), height + radius * std::sin(latitude)});
  }
}

struct Tessellate {
  int segments;

  TriangleMesh operator()(const PlaneShape&) const {
    assert(false && "a plane has no end");
    return {};
  }

  TriangleMesh operator()(const SphereShape& s) const {
    std::vector<ProfilePoint> profile;
    add_arc(profile, s.radius, 0, -kPi / 2, kPi / 2, segments / 2);
    return lathe(profile, false, s.centre, Vec3::UnitY(), segments);
  }

  TriangleMesh operator()(const BoxShape& s) const {
    TriangleMesh mesh;
    for (int corner = 0; corner < 8; ++corner)
      mesh.vertices.push_back(s.centre + Vec3(corner & 1 ? s.half.x() : -s.half.x(),
                                              corner & 2 ? s.half.y() : -s.half.y(),
                                              corner & 4 ? s.half.z() : -s.half.z()));
    static constexpr Index faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                          {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (const auto& f : faces) {
      mesh.triangles.push_back({f[0], f[1], f[2]});
      mesh.triangles.push_back({f[0], f[2], f[3]});
    }
    return mesh;
  }

  TriangleMesh operator()(const CylinderShape& s) const {
    // Strips about as long as they are wide.
    const double width = 2 * kPi * s.radius / segments;
    const int rings = std::clamp(static_cast<int>(std::ceil(2 * s.half_length / (4 * width))), 1, 256);
    const int discs = std::clamp(segments / 16, 1, 64);
    std::vector<ProfilePoint> profile;
    for (int k = 0; k < discs; ++k) profile.push_back({s.radius * k / discs, -s.half_length});
    for (int k = 0; k <= rings; ++k) profile.push_back({s.radius, s.half_length * (2.0 * k / rings - 1)});
    for (int k = discs; k-- > 0;) profile.push_back({s.radius * k / discs, s.half_length});
    return lathe(profile, false, s.centre, s.axis, segments);
  }

  TriangleMesh operator()(const CapsuleShape& s) const {
    const Vec3 edge = s.end - s.begin;
    const double half = 0.5 * edge.norm();
    std::vector<ProfilePoint> profile;
    add_arc(profile, s.radius, -half, -kPi / 2, 0, segments / 4);
    add_arc(profile, s.radius, half, 0, kPi / 2, segments / 4);
    return lathe(profile, false, 0.5 * (s.begin + s.end), edge.normalized(), segments);
  }

  TriangleMesh operator()(const TorusShape& s) const {
    std::vector<ProfilePoint> profile;
    const int steps = segments / 2;
    for (int k = 0; k < steps; ++k) {
      const double angle = 2 * kPi * k / steps;
      profile.push_back({s.ring + s.tube * std::cos(angle), s.tube * std::sin(angle)});
    }
    return lathe(profile, true, s.centre, s.axis, segments);
  }

  TriangleMesh operator()(const BowlShape& s) const {
    std::vector<ProfilePoint> profile = {{3 * s.radius, 0}, {2 * s.radius, 0}};
    add_arc(profile, s.radius, 0, 0, -kPi / 2, segments / 4);
    return lathe(profile, false, s.centre, s.axis, segments);
  }
};

}  // namespace

TriangleMesh tessellate(const Shape& shape, int segments) {
  TriangleMesh mesh = std::visit(Tessellate{segments}, shape);
  mesh.source = "collider";
  return mesh;
}

}  // namespace pliant
