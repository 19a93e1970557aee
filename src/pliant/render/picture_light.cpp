#include "pliant/render/picture_light.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr double golden_angle = 2.39996322972865332;

/// Point lights of lamp and sky; small pictures do not show how many they are.
struct Counts {
  int lamp, sky;
};
Counts lights_of(int width) {
  return width > 640 ? Counts{16, 48} : width > 320 ? Counts{12, 32} : width > 256 ? Counts{5, 12} : Counts{4, 9};
}
/// Samples along a side of their images for each pixel of the picture's width, and how few and many at most.
constexpr double lamp_samples = 0.32, sky_samples = 0.1;
constexpr int lamp_resolution[] = {80, 448};
constexpr int sky_resolution[] = {40, 144};

constexpr double lamp_strength = 0.86;
constexpr double sky_strength = 0.56;
constexpr double bounce_strength = 0.36;
constexpr double lamp_radius = 0.1;  // tangent of the half angle under which the lamp appears

Vec3 any_perpendicular(const Vec3& direction) {
  Eigen::Index least = 0;
  direction.cwiseAbs().minCoeff(&least);
  return direction.cross(Vec3::Unit(least)).normalized();
}

Vec3 vector(const float* v) {
  return {static_cast<double>(v[0]), static_cast<double>(v[1]), static_cast<double>(v[2])};
}

int resolution(double samples, const int (&limits)[2], int width) {
  return std::clamp(static_cast<int>(samples * width), limits[0], limits[1]);
}

}  // namespace

PictureLight::PictureLight(const PictureScene& scene, const Vec3& up, const Vec3& right, const Vec3& back, int width,
                           Shadows shadows)
    : up_(up),
      centre_(scene.centre),
      radius_(std::max(scene.radius, 1e-30)),
      shadows_(shadows),
      lamp_direction_((1.0 * up - 0.6 * right + 0.55 * back).normalized()) {
  const auto [lamp_sources, sky_sources] = lights_of(width);
  // Both sets lie on spirals that turn by the golden angle, which cover evenly.
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
  lamp_ = make_sources(lamp, resolution(lamp_samples, lamp_resolution, width), lamp_strength);
  sky_ = make_sources(sky, resolution(sky_samples, sky_resolution, width), 2 * sky_strength);
  if (shadows_ == Shadows::all) {
    const Index lamps = lamp_sources;
    for_chunks(lamps + sky_sources, 1, [&, lamps](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        Sources& sources = i < lamps ? lamp_ : sky_;
        const auto k = static_cast<std::size_t>(i < lamps ? i : i - lamps);
        draw_shadows(scene, sources, sources.views[k], sources.images[k]);
      }
    });
  }
  for (const Sources* sources : {&lamp_, &sky_})
    for (const LightView& view : sources->views)
      open_ground_ += static_cast<double>(sources->weight) * std::max(0.0, up.dot(vector(view.direction)));
}

PictureLight::Sources PictureLight::make_sources(const std::vector<Vec3>& directions, int size, double strength) const {
  Sources sources;
  sources.texel = 2 * radius_ / (size - 4);  // two samples free on every side, for filtering
  sources.weight = static_cast<float>(strength / static_cast<double>(directions.size()));
  for (const Vec3& direction : directions) {
    const Vec3 u = any_perpendicular(direction), v = direction.cross(u);
    LightView view{};
    for (int k = 0; k < 3; ++k) {
      view.direction[k] = static_cast<float>(direction[k]);
      view.u[k] = static_cast<float>(u[k]);
      view.v[k] = static_cast<float>(v[k]);
    }
    sources.views.push_back(view);
    if (shadows_ == Shadows::all) sources.images.emplace_back(size, size, -std::numeric_limits<float>::infinity());
  }
  return sources;
}

void PictureLight::draw_shadows(const PictureScene& scene, const Sources& sources, const LightView& view,
                                NearnessImage& image) const {
  const double half = image.width / 2.0;
  const Vec3 u = vector(view.u) / sources.texel, v = vector(view.v) / sources.texel,
             direction = vector(view.direction) / sources.texel;
  std::vector<Vec3> flat(scene.positions.size());
  for (std::size_t i = 0; i < flat.size(); ++i) {
    const Vec3 x = scene.positions[i] - centre_;
    flat[i] = Vec3(half + x.dot(u), half + x.dot(v), x.dot(direction));
  }
  for (const auto& piece : scene.pieces) {
    if (!piece.throws_shadow) continue;
    const Vec3& a = flat[static_cast<std::size_t>(piece.corners[0])];
    const Vec3& b = flat[static_cast<std::size_t>(piece.corners[1])];
    const Vec3& c = flat[static_cast<std::size_t>(piece.corners[2])];
    const Vec3 n = (b - a).cross(c - a);
    // Seen from the edge, or the far side of something that the near side hides.
    if (piece.closed ? n[2] <= 1e-9 * n.norm() : std::abs(n[2]) <= 1e-9 * n.norm()) continue;
    FlatTriangle triangle;
    triangle.x = {a[0], b[0], c[0]};
    triangle.y = {a[1], b[1], c[1]};
    triangle.slope_x = -n[0] / n[2];
    triangle.slope_y = -n[1] / n[2];
    triangle.offset = a[2] - triangle.slope_x * a[0] - triangle.slope_y * a[1];
    draw(triangle, 0, image.height, image);
  }
}

void PictureLight::ask(const Vec3& point, const Vec3& normal, const Vec3& offset_normal, LitPoints& points) const {
  for (int k = 0; k < 3; ++k) {
    points.position[k].push_back(static_cast<float>(point[k] - centre_[k]));
    points.normal[k].push_back(static_cast<float>(normal[k]));
    points.offset[k].push_back(static_cast<float>(offset_normal[k]));
  }
  points.diffuse.push_back(0.0F);
  points.lamp.push_back(0.0F);
}

void PictureLight::receive(const Sources& sources, float lamp_share, LitPoints& points) {
  const std::size_t count = points.size();
  points.resize((count + kLitTogether - 1) / kLitTogether * kLitTogether);
  for (std::size_t i = 0; i < sources.views.size(); ++i) {
    const NearnessImage* image = sources.images.empty() ? nullptr : &sources.images[i];
    add_light(sources.views[i], image ? image->nearness.data() : nullptr, image ? image->width : 0,
              static_cast<float>(1 / sources.texel), sources.weight,
              lamp_share / static_cast<float>(sources.views.size()), points);
  }
  points.resize(count);
}

void PictureLight::receive_sky(LitPoints& points) const {
  receive(sky_, 0.0F, points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3 normal(static_cast<double>(points.normal[0][i]), static_cast<double>(points.normal[1][i]),
                      static_cast<double>(points.normal[2][i]));
    points.diffuse[i] += static_cast<float>(bounce_strength * 0.5 * (1 - normal.dot(up_)));
  }
}

}  // namespace pliant
