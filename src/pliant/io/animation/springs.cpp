#include "pliant/io/animation/springs.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace pliant {

namespace {

constexpr Colour kSteel = {0.42, 0.44, 0.48};
constexpr int kTurns = 7, kSegments = 12 * kTurns, kAround = 5;  // segments along the wire, sides around it
constexpr double kCoilRadius = 0.055, kWireRadius = 0.009;       // of the rest length
constexpr double kStraight = 0.1;                                // of the length, at each end

/// A wire: rings of corners around its middle, closed at both ends.
std::vector<Triangle> wire_triangles() {
  std::vector<Triangle> triangles;
  const auto corner = [](int ring, int side) { return static_cast<Index>(ring * kAround + side % kAround); };
  for (int ring = 0; ring < kSegments; ++ring)
    for (int side = 0; side < kAround; ++side) {
      triangles.push_back({corner(ring, side), corner(ring, side + 1), corner(ring + 1, side)});
      triangles.push_back({corner(ring, side + 1), corner(ring + 1, side + 1), corner(ring + 1, side)});
    }
  for (int side = 1; side + 1 < kAround; ++side) {
    triangles.push_back({corner(0, 0), corner(0, side + 1), corner(0, side)});
    triangles.push_back({corner(kSegments, 0), corner(kSegments, side), corner(kSegments, side + 1)});
  }
  return triangles;
}

/// The corners of the wire of a spring from a to b.
std::vector<float> coil(const Vec3& a, const Vec3& b, double rest_length, const Vec3& sideways) {
  const Vec3 along = (b - a).stableNormalized();
  const Vec3 u = along.cross(sideways).stableNormalized(), v = along.cross(u);
  const auto middle = [&](double t) -> Vec3 {
    const double edge = std::min({1.0, t / kStraight, (1 - t) / kStraight});
    const double radius = kCoilRadius * rest_length * edge * edge * (3 - 2 * edge);
    const double angle = 2 * std::numbers::pi * kTurns * t;
    return a + t * (b - a) + radius * (std::cos(angle) * u + std::sin(angle) * v);
  };
  std::vector<float> corners;
  corners.reserve(3 * static_cast<std::size_t>((kSegments + 1) * kAround));
  for (int ring = 0; ring <= kSegments; ++ring) {
    const double t = static_cast<double>(ring) / kSegments, step = 0.1 / kSegments;
    const Vec3 centre = middle(t);
    const Vec3 tangent = (middle(std::min(1.0, t + step)) - middle(std::max(0.0, t - step))).stableNormalized();
    const Vec3 p = tangent.cross(sideways).stableNormalized(), q = tangent.cross(p);
    for (int side = 0; side < kAround; ++side) {
      const double angle = 2 * std::numbers::pi * side / kAround;
      const Vec3 x = centre + kWireRadius * rest_length * (std::cos(angle) * p + std::sin(angle) * q);
      for (int k = 0; k < 3; ++k) corners.push_back(static_cast<float>(x[k]));
    }
  }
  return corners;
}

}  // namespace

void add_springs(const RecordedRun& run, const std::vector<std::size_t>& frames, Animation& animation) {
  if (run.springs().empty()) return;
  std::vector<AnimatedSurface> coils(run.springs().size());
  std::vector<Vec3> sideways(coils.size());
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const VtkGrid grid = RecordedRun::read(run.frames()[frames[k]]);
    VecX x(3 * static_cast<Eigen::Index>(grid.points.size()));
    for (std::size_t i = 0; i < grid.points.size(); ++i) node(x, static_cast<Index>(i)) = grid.points[i];
    for (std::size_t s = 0; s < coils.size(); ++s) {
      const Tie& spring = run.springs()[s];
      if (std::any_of(spring.nodes.begin(), spring.nodes.end(), [&](Index i) { return at(i) >= grid.points.size(); }))
        return;  // the frames of another model
      const auto [from, to] = spring.ends(x);
      if (k == 0) {
        Eigen::Index least = 0;
        (to - from).cwiseAbs().minCoeff(&least);
        sideways[s] = Vec3::Unit(least);
      }
      coils[s].positions.push_back(coil(from, to, spring.rest_length, sideways[s]));
    }
  }
  const std::vector<Triangle> triangles = wire_triangles();
  for (AnimatedSurface& surface : coils) {
    surface.is_collider = true;  // without the edges of a mesh
    surface.colour = kSteel;
    surface.triangles = triangles;
    animation.surfaces.push_back(std::move(surface));
  }
}

}  // namespace pliant
