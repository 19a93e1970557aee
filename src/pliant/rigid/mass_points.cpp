#include "pliant/rigid/mass_points.hpp"

#include <cmath>
#include <numbers>

#include "pliant/base/error.hpp"
#include "pliant/math/decompositions.hpp"
#include "pliant/math/turn.hpp"

namespace pliant {

namespace {

constexpr double pi = std::numbers::pi;

/// The share of the mass that points of the surface carry, so that they are nodes like others.
constexpr double kSurfaceShare = 0.1;
constexpr int kAround = 12;

/// Mass, centre, the matrix of second moments about it (sum of m r r^T), and a surface whose vertices have their mean
/// in the centre.
struct Solid {
  double volume = 0;  ///< m^3
  Vec3 centre = Vec3::Zero();
  Mat3 moments = Mat3::Zero();  ///< of unit density, m^5
  std::vector<Vec3> surface;
  std::vector<Triangle> triangles;
};

Mat3 frame_of(const Vec3& axis) { return turn_between(Vec3::UnitZ(), axis).toRotationMatrix(); }

/// A body of revolution about z through rings of the given heights and radii, closed by a point at each end.
void add_rings(const std::vector<std::pair<double, double>>& rings, double low, double high, Solid& solid) {
  solid.surface.emplace_back(0, 0, low);
  for (const auto& [z, r] : rings)
    for (int k = 0; k < kAround; ++k) {
      const double angle = 2 * pi * k / kAround;
      solid.surface.emplace_back(r * std::cos(angle), r * std::sin(angle), z);
    }
  solid.surface.emplace_back(0, 0, high);
  const auto last = static_cast<Index>(solid.surface.size()) - 1;
  const auto at = [&](std::size_t ring, int k) { return static_cast<Index>(1 + ring * kAround) + k % kAround; };
  for (int k = 0; k < kAround; ++k) {
    solid.triangles.push_back({0, at(0, k + 1), at(0, k)});
    solid.triangles.push_back({last, at(rings.size() - 1, k), at(rings.size() - 1, k + 1)});
    for (std::size_t ring = 0; ring + 1 < rings.size(); ++ring) {
      solid.triangles.push_back({at(ring, k), at(ring, k + 1), at(ring + 1, k + 1)});
      solid.triangles.push_back({at(ring, k), at(ring + 1, k + 1), at(ring + 1, k)});
    }
  }
}

/// Turns the z-axis to `axis` and moves to `centre`.
void place(const Vec3& axis, const Vec3& centre, Solid& solid) {
  const Mat3 R = frame_of(axis);
  solid.centre = centre;
  solid.moments = R * solid.moments * R.transpose();
  for (Vec3& p : solid.surface) p = centre + R * p;
}

Solid solid_of(const BoxShape& box) {
  Solid solid;
  const Vec3& h = box.half;
  solid.volume = 8 * h.prod();
  solid.centre = box.centre;
  solid.moments = (solid.volume / 3 * h.cwiseAbs2()).asDiagonal();
  for (int c = 0; c < 8; ++c)
    solid.surface.push_back(box.centre + Vec3(c & 1 ? h.x() : -h.x(), c & 2 ? h.y() : -h.y(), c & 4 ? h.z() : -h.z()));
  solid.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                     {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return solid;
}

Solid solid_of(const SphereShape& ball) {
  Solid solid;
  const double r = ball.radius;
  solid.volume = 4.0 / 3 * pi * r * r * r;
  solid.moments = solid.volume * r * r / 5 * Mat3::Identity();
  std::vector<std::pair<double, double>> rings;
  for (int k = 1; k < 6; ++k) rings.emplace_back(-r * std::cos(pi * k / 6), r * std::sin(pi * k / 6));
  add_rings(rings, -r, r, solid);
  place(Vec3::UnitZ(), ball.centre, solid);
  return solid;
}

Solid solid_of(const CylinderShape& cylinder) {
  Solid solid;
  const double r = cylinder.radius, l = cylinder.half_length;
  solid.volume = 2 * pi * r * r * l;
  solid.moments = Vec3(r * r / 4, r * r / 4, l * l / 3).asDiagonal();
  solid.moments *= solid.volume;
  add_rings({{-l, r}, {l, r}}, -l, l, solid);
  place(cylinder.axis, cylinder.centre, solid);
  return solid;
}

/// A cylinder and two half balls: a half ball of radius r has volume 2/3 pi r^3, its centroid 3/8 r beyond its face,
/// and second moments V r^2 / 5 about the centre of the ball in every direction.
Solid solid_of(const CapsuleShape& capsule) {
  Solid solid;
  const Vec3 along = capsule.end - capsule.begin;
  const double r = capsule.radius, l = along.norm() / 2;
  const double tube = 2 * pi * r * r * l, ball = 4.0 / 3 * pi * r * r * r;
  solid.volume = tube + ball;
  const double across = tube * r * r / 4 + ball * r * r / 5;
  const double axial = tube * l * l / 3 + ball * (l * l + 2 * l * 3 * r / 8 + r * r / 5);
  solid.moments = Vec3(across, across, axial).asDiagonal();
  std::vector<std::pair<double, double>> rings;
  for (int k = 1; k <= 3; ++k) rings.emplace_back(-l - r * std::cos(pi * k / 6), r * std::sin(pi * k / 6));
  for (int k = 3; k <= 5; ++k) rings.emplace_back(l - r * std::cos(pi * k / 6), r * std::sin(pi * k / 6));
  add_rings(rings, -l - r, l + r, solid);
  place(l > 0 ? Vec3(along / (2 * l)) : Vec3(Vec3::UnitZ()), 0.5 * (capsule.begin + capsule.end), solid);
  return solid;
}

template <class Other>
Solid solid_of(const Other&) {
  throw InputError("a link is a box, sphere, cylinder or capsule; other shapes have no mass");
}

}  // namespace

MassPoints mass_points(const Shape& shape, double density) {
  if (!(density > 0) || !std::isfinite(density)) throw InputError("the density of a link must be positive (kg/m^3)");
  const Solid solid = std::visit([](const auto& which) { return solid_of(which); }, shape);
  const double mass = density * solid.volume,
               at_surface = kSurfaceShare * mass / static_cast<double>(solid.surface.size());
  MassPoints points{solid.surface, std::vector<double>(solid.surface.size(), at_surface), solid.triangles};
  // What the surface leaves over, as four points at the corners of a tetrahedron along the principal axes.
  Mat3 moments = density * solid.moments;
  for (const Vec3& p : solid.surface) moments -= at_surface * (p - solid.centre) * (p - solid.centre).transpose();
  const double rest = (1 - kSurfaceShare) * mass;
  const SymmetricEigen<3> eigen(moments);
  const Vec3 reach = (eigen.values / rest).cwiseMax(0).cwiseSqrt();
  for (const Vec3& corner : {Vec3(1, 1, 1), Vec3(1, -1, -1), Vec3(-1, 1, -1), Vec3(-1, -1, 1)}) {
    points.positions.push_back(solid.centre + eigen.vectors * corner.cwiseProduct(reach));
    points.masses.push_back(rest / 4);
  }
  return points;
}

}  // namespace pliant
