#include "pliant/render/picture_light.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr double golden_angle = 2.39996322972865332;

// Multiples of 36, so that 1, 4 or 9 shares are equal.
constexpr int lamp_sources = 36;
constexpr int sky_sources = 108;
constexpr int lamp_resolution = 512;
constexpr int sky_resolution = 144;

constexpr double lamp_strength = 0.86;
constexpr double sky_strength = 0.56;
constexpr double bounce_strength = 0.2;
constexpr double lamp_radius = 0.1;  // tangent of the half angle under which the lamp appears

Vec3 any_perpendicular(const Vec3& direction) {
  Eigen::Index least = 0;
  direction.cwiseAbs().minCoeff(&least);
  return direction.cross(Vec3::Unit(least)).normalized();
}

}  // namespace

PictureLight::PictureLight(const PictureScene& scene, const Vec3& up, const Vec3& right, const Vec3& back, int shares,
                           Shadows shadows)
    : up_(up),
      centre_(scene.centre),
      radius_(std::max(scene.radius, 1e-30)),
      shares_(shares),
      shadows_(shadows),
      lamp_direction_((1.0 * up - 0.6 * right + 0.55 * back).normalized()) {
  // Both sets lie on spirals that turn by the golden angle: even coverage, and so is every share of it.
  const Vec3 u = any_perpendicular(lamp_direction_);
  const Vec3 v = lamp_direction_.cross(u);
  std::vector<Vec3> lamp;
  for (int i = 0; i < lamp_sources; ++i) {
    const double r = lamp_radius * std::sqrt((i + 0.5) / lamp_sources);
    const double angle = golden_angle * i;
    lamp.push_back((lamp_direction_ + r * (std::cos(angle) * u + std::sin(angle) * v)).normalized());
  }
  std::vector<Vec3> sky;
  for (int i = 0; i < sky_sources; ++i) {
    const double height = (i + 0.5) / sky_sources;  // even in height is even on the half sphere
    const double r = std::sqrt(1 - height * height);
    const double angle = golden_angle * i;
    sky.push_back(height * up + r * (std::cos(angle) * right + std::sin(angle) * back));
  }
  lamp_ = make_sources(lamp, lamp_resolution);
  sky_ = make_sources(sky, sky_resolution);
  if (shadows_ == Shadows::all) {
    for_chunks(lamp_sources + sky_sources, 1, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        Sources& sources = i < lamp_sources ? lamp_ : sky_;
        draw_shadows(scene, sources.texel,
                     sources.list[static_cast<std::size_t>(i < lamp_sources ? i : i - lamp_sources)]);
      }
    });
  }
  for (int share = 0; share < shares; ++share) {
    const Vec3 far = centre_ + 1e9 * radius_ * up;
    open_ground_.push_back(receive(far, up, up, share).diffuse);
  }
}

PictureLight::Sources PictureLight::make_sources(const std::vector<Vec3>& directions, int resolution) const {
  Sources sources;
  sources.texel = 2 * radius_ / (resolution - 4);  // two samples free on every side, for filtering
  const int size = shadows_ == Shadows::all ? resolution : 0;
  for (const Vec3& direction : directions) {
    const Vec3 u = any_perpendicular(direction);
    NearnessImage image(size, size, -std::numeric_limits<float>::infinity());
    sources.list.push_back({direction, u, direction.cross(u), std::move(image)});
  }
  return sources;
}

void PictureLight::draw_shadows(const PictureScene& scene, double texel, Source& source) const {
  const double half = source.image.width / 2.0;
  std::vector<Vec3> flat(scene.positions.size());
  for (std::size_t i = 0; i < flat.size(); ++i) {
    const Vec3 x = (scene.positions[i] - centre_) / texel;
    flat[i] = Vec3(half + x.dot(source.u), half + x.dot(source.v), x.dot(source.direction));
  }
  for (const auto& piece : scene.pieces) {
    const Vec3& a = flat[static_cast<std::size_t>(piece.corners[0])];
    const Vec3& b = flat[static_cast<std::size_t>(piece.corners[1])];
    const Vec3& c = flat[static_cast<std::size_t>(piece.corners[2])];
    const Vec3 n = (b - a).cross(c - a);
    if (std::abs(n[2]) <= 1e-9 * n.norm()) continue;  // seen from the edge
    FlatTriangle triangle;
    triangle.x = {a[0], b[0], c[0]};
    triangle.y = {a[1], b[1], c[1]};
    triangle.slope_x = -n[0] / n[2];
    triangle.slope_y = -n[1] / n[2];
    triangle.offset = a[2] - triangle.slope_x * a[0] - triangle.slope_y * a[1];
    draw(triangle, 0, source.image.height, source.image);
  }
}

double PictureLight::visible(const Source& source, const Vec3& x) const {
  const int size = source.image.width;
  const double px = size / 2.0 + x.dot(source.u) - 0.5;
  const double py = size / 2.0 + x.dot(source.v) - 0.5;
  if (!(px >= 0 && py >= 0 && px < size - 1 && py < size - 1)) return 1;
  const int i = static_cast<int>(px);
  const int j = static_cast<int>(py);
  const auto fx = static_cast<float>(px - i);
  const auto fy = static_cast<float>(py - j);
  const auto nearness = static_cast<float>(x.dot(source.direction));
  const float* row = source.image.nearness.data() + std::ptrdiff_t{j} * size + i;
  const float* next = row + size;
  // A ramp one sample deep rather than a comparison: no jump (whether a point is lit is as good as random, and a wrong
  // guess costs more than all the rest), and softer besides.
  const auto lit = [&](float blocker) { return std::min(std::max(nearness - blocker + 1.0F, 0.0F), 1.0F); };
  const float above = lit(row[0]) + fx * (lit(row[1]) - lit(row[0]));
  const float below = lit(next[0]) + fx * (lit(next[1]) - lit(next[0]));
  return static_cast<double>(above + fy * (below - above));
}

PictureLight::Received PictureLight::receive(const Vec3& point, const Vec3& normal, const Vec3& offset_normal,
                                             int share) const {
  const auto first = static_cast<std::size_t>(share);
  const auto stride = static_cast<std::size_t>(shares_);
  // Moved off the surface by a little more than a sample, a plane does not shadow itself however it is inclined.
  constexpr double offset = 1.6;
  Received received;
  const Vec3 at_lamp = (point - centre_) / lamp_.texel + offset * offset_normal;
  double lamp = 0;
  for (std::size_t i = first; i < lamp_.list.size(); i += stride) {
    const double seen = visible(lamp_.list[i], at_lamp);
    received.lamp += seen;
    lamp += seen * std::max(0.0, normal.dot(lamp_.list[i].direction));
  }
  const Vec3 at_sky = (point - centre_) / sky_.texel + offset * offset_normal;
  double sky = 0;
  for (std::size_t i = first; i < sky_.list.size(); i += stride) {
    const double cosine = normal.dot(sky_.list[i].direction);
    if (cosine > 0) sky += 2 * cosine * visible(sky_.list[i], at_sky);
  }
  received.lamp *= static_cast<double>(shares_) / lamp_sources;
  received.diffuse = lamp_strength * lamp * shares_ / lamp_sources + sky_strength * sky * shares_ / sky_sources +
                     bounce_strength * 0.5 * (1 - normal.dot(up_));
  return received;
}

}  // namespace pliant
