#include "pliant/io/animation/draw.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <map>

#include "pliant/render/picture_text.hpp"

namespace pliant {

namespace {

constexpr Colour kWallColour = {0.86, 0.87, 0.89};
constexpr std::array<std::uint8_t, 2> kNoEdges = {0, 0};

std::vector<Vec3> vectors_of(const std::vector<float>& numbers) {
  std::vector<Vec3> vectors;
  vectors.reserve(numbers.size() / 3);
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3)
    vectors.emplace_back(numbers[i], numbers[i + 1], numbers[i + 2]);
  return vectors;
}

bool is_square(const AnimatedSurface& surface) { return surface.is_collider && surface.triangles.size() == 2; }

Vec3 normal_of_square(const AnimatedSurface& surface, std::size_t frame) {
  const std::vector<Vec3> p = vectors_of(surface.positions_at(frame));
  const Triangle& t = surface.triangles.front();
  return (p[at(t[1])] - p[at(t[0])]).cross(p[at(t[2])] - p[at(t[0])]).normalized();
}

/// Whether every edge has a triangle on both sides: what is solid hides what is behind it, what is open is looked into.
bool is_closed(const AnimatedSurface& surface) {
  std::map<std::pair<Index, Index>, int> balance;
  for (const Triangle& t : surface.triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = t[k], b = t[(k + 1) % 3];
      balance[{std::min(a, b), std::max(a, b)}] += a < b ? 1 : -1;
    }
  return std::all_of(balance.begin(), balance.end(), [](const auto& edge) { return edge.second == 0; });
}

/// The part of a wall behind the bodies: the square of a plane goes on far beyond the picture.
std::vector<Vec3> wall_behind(const Aabb& box, const Vec3& point, const Vec3& normal, const Vec3& up) {
  const Vec3 v = (up - up.dot(normal) * normal).normalized(), u = v.cross(normal);
  Eigen::Vector2d low = Eigen::Vector2d::Constant(std::numeric_limits<double>::infinity()), high = -low;
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3 x(corner & 1 ? box.max.x() : box.min.x(), corner & 2 ? box.max.y() : box.min.y(),
                 corner & 4 ? box.max.z() : box.min.z());
    const Eigen::Vector2d at((x - point).dot(u), (x - point).dot(v));
    low = low.cwiseMin(at);
    high = high.cwiseMax(at);
  }
  const auto place = [&](double a, double b) -> Vec3 { return point + a * u + b * v; };
  return {place(low.x(), low.y()), place(high.x(), low.y()), place(high.x(), high.y()), place(low.x(), high.y())};
}

/// A view from slightly above, whatever direction is up.
CameraFit view_along(const Vec3& up, const ScenePicture& options) {
  CameraFit fit;
  fit.up = up;
  Vec3 right = std::abs(up.x()) < 0.9 ? Vec3(1, 0, 0) : Vec3(0, 1, 0);
  right = (right - right.dot(up) * up).normalized();
  const Vec3 forward = up.cross(right);
  fit.view = -0.45 * right + 0.8 * forward - 0.3 * up;
  fit.field_of_view = options.field_of_view;
  fit.aspect = static_cast<double>(options.width) / options.height;
  return fit;
}

Vec3 vector_at(const std::vector<float>& numbers, std::size_t i) {
  return Vec3(numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]);
}

/// Calls visit(surface, point) for every point of every frame.
template <class Visit>
void for_all_points(const Animation& animation, Visit&& visit) {
  for (const AnimatedSurface& surface : animation.surfaces)
    for (const auto& positions : surface.positions)
      for (std::size_t i = 0; 3 * i + 2 < positions.size(); ++i) visit(surface, vector_at(positions, i));
}

/// How high the ground is: the floor, or else just below everything.
double ground_of(const Animation& animation, std::size_t frame, double lowest) {
  double ground = std::numeric_limits<double>::infinity();
  for (const AnimatedSurface& surface : animation.surfaces)
    if (is_square(surface) && normal_of_square(surface, frame).dot(animation.up) > 0.999)
      ground = std::min(ground, vector_at(surface.positions_at(frame), 0).dot(animation.up));
  return std::isfinite(ground) ? ground : lowest;
}

double lowest_of(const Animation& animation, const Aabb& box) {
  const double radius = 0.5 * (box.max - box.min).norm();
  double lowest = std::numeric_limits<double>::infinity();
  for_all_points(animation, [&](const AnimatedSurface& surface, const Vec3& p) {
    if (!is_square(surface) && (!surface.is_collider || (p - box.centre()).norm() < 3 * radius))
      lowest = std::min(lowest, p.dot(animation.up));
  });
  return lowest;
}

struct LegendPlace {
  int x, y;
};
/// Of the text and the legend, pixels for each dot of a letter, and the margin around them.
int letter_scale(const ScenePicture& options) { return std::max(1, options.height / 360); }
int margin_of(const ScenePicture& options) { return 8 * letter_scale(options); }
int legend_width(const Animation& animation, const ScenePicture& options) {
  return static_cast<int>(field_label(animation.field).size()) * kLetterWidth * letter_scale(options);
}
/// A quarter of the picture's, but room for a title and three numbers.
int legend_height(const ScenePicture& options) {
  return std::max(options.height / 4, 6 * kLetterHeight * letter_scale(options));
}
LegendPlace place_of(Staging::Corner corner, const Animation& animation, const ScenePicture& options) {
  const int margin = margin_of(options);
  const bool is_left = corner == Staging::Corner::upper_left, is_low = corner == Staging::Corner::lower_right;
  return {is_left ? margin : options.width - margin - legend_width(animation, options),
          is_low ? options.height - margin - legend_height(options) : margin};
}

/// The corner whose legend hides the fewest points of bodies and near colliders.
Staging::Corner freest_corner(const Animation& animation, const Staging& staging, const ScenePicture& options) {
  const Camera& camera = staging.camera;
  const Vec3 forward = (camera.target - camera.eye).normalized(), right = forward.cross(camera.up).normalized(),
             up = right.cross(forward);
  const double pixels = 0.5 * options.height / std::tan(camera.field_of_view * M_PI / 360);
  constexpr std::array<Staging::Corner, 3> corners = {Staging::Corner::upper_left, Staging::Corner::upper_right,
                                                      Staging::Corner::lower_right};
  std::array<LegendPlace, 3> places;
  for (std::size_t c = 0; c < 3; ++c) places[c] = place_of(corners[c], animation, options);
  const int width = legend_width(animation, options), height = legend_height(options);
  std::array<std::size_t, 3> hidden = {0, 0, 0};
  for_all_points(animation, [&](const AnimatedSurface& surface, const Vec3& p) {
    if (is_square(surface)) return;
    const Vec3 q = p - camera.eye;
    const double depth = q.dot(forward);
    if (!(depth > 0)) return;
    const double x = 0.5 * options.width + pixels * q.dot(right) / depth,
                 y = 0.5 * options.height - pixels * q.dot(up) / depth;
    for (std::size_t c = 0; c < 3; ++c)
      if (x >= places[c].x && x <= places[c].x + width && y >= places[c].y && y <= places[c].y + height) ++hidden[c];
  });
  return corners[static_cast<std::size_t>(std::min_element(hidden.begin(), hidden.end()) - hidden.begin())];
}

}  // namespace

Staging stage(const Animation& animation, const ScenePicture& options) {
  Staging staging;
  for_all_points(animation, [&](const AnimatedSurface& surface, const Vec3& p) {
    if (!surface.is_collider) staging.bodies.include(p);
  });
  const Aabb& box = staging.bodies;
  const double radius = 0.5 * (box.max - box.min).norm();
  staging.lowest = lowest_of(animation, box);
  std::vector<Vec3> points;
  for (const AnimatedSurface& surface : animation.surfaces)
    if (is_square(surface)) {
      const Vec3 normal = normal_of_square(surface, 0);
      if (std::abs(normal.dot(animation.up)) < 0.999)
        for (const Vec3& p : wall_behind(box, vector_at(surface.positions_at(0), 0), normal, animation.up))
          if ((p - box.centre()).norm() < 1.5 * radius) points.push_back(p);
    }
  for_all_points(animation, [&](const AnimatedSurface& surface, const Vec3& p) {
    if (!is_square(surface) && (!surface.is_collider || (p - box.centre()).norm() < 1.5 * radius)) points.push_back(p);
  });
  Camera& camera = staging.camera;
  camera = fit_camera(points, view_along(animation.up, options));
  if (options.at) {
    camera.eye += *options.at - camera.target;
    camera.target = *options.at;
  }
  if (options.from) camera.eye = *options.from;
  if (options.legend && !animation.field.empty()) staging.legend = freest_corner(animation, staging, options);
  return staging;
}

Picture draw_frame(const Animation& animation, std::size_t frame, const Staging& staging, const ScenePicture& options) {
  struct Shown {
    std::vector<Vec3> positions;
    std::vector<double> values;
    std::vector<std::uint8_t> edges;
  };
  std::vector<Shown> shown(animation.surfaces.size());
  std::vector<PictureSurface> surfaces;
  const std::vector<Triangle> wall = {{0, 1, 2}, {0, 2, 3}};
  for (std::size_t s = 0; s < shown.size(); ++s) {
    const AnimatedSurface& surface = animation.surfaces[s];
    if (is_square(surface) && std::abs(normal_of_square(surface, frame).dot(animation.up)) > 0.999) continue;
    shown[s].positions = vectors_of(surface.positions_at(frame));
    if (is_square(surface)) {  // a wall is seen from its front only, as if one looked into a room from outside
      const Vec3 normal = normal_of_square(surface, frame), point = shown[s].positions.front();
      if (normal.dot(staging.camera.eye - point) <= 0) continue;
      shown[s].positions = wall_behind(staging.bodies, point, normal, animation.up);
      surfaces.push_back({.positions = shown[s].positions,
                          .triangles = wall,
                          .colour = kWallColour,
                          .edge_bits = kNoEdges,
                          .throws_shadow = false});
      continue;
    }
    if (!surface.values.empty())
      for (const double value : surface.values[frame])
        shown[s].values.push_back(
            animation.high > animation.low ? (value - animation.low) / (animation.high - animation.low) : 0.0);
    PictureSurface& drawn = surfaces.emplace_back();
    drawn.positions = shown[s].positions;
    drawn.triangles = surface.triangles;
    drawn.colour_values = shown[s].values;
    drawn.map = animation.map;
    drawn.colour = surface.colour;
    drawn.glass = surface.is_collider && !is_closed(surface);
    // Triangles of colliders and rigid bodies are how they are drawn, not what they are.
    if (surface.is_collider || surface.is_rigid) {
      shown[s].edges.assign(surface.triangles.size(), 0);
      drawn.edge_bits = shown[s].edges;
    }
  }
  PictureOptions how;
  how.width = options.width;
  how.height = options.height;
  how.supersampling = 2;
  how.shadows = options.shadows;
  how.edge_width = options.wireframe ? 0.8 * options.height / 720.0 : 0.0;
  how.ground_height = ground_of(animation, frame, staging.lowest);
  if (options.background)
    how.background_top =
        how.background_bottom = {options.background->x(), options.background->y(), options.background->z()};
  Picture picture = render(surfaces, staging.camera, how);
  const int scale = letter_scale(options), margin = margin_of(options);
  const Colour ink = {0.2, 0.22, 0.26};
  if (options.stamp)
    draw_text(picture, margin, options.height - margin - kLetterHeight * scale,
              fmt::format("t = {:.3f} s", animation.times[frame]), scale, ink);
  if (options.legend && !animation.field.empty()) {
    const LegendPlace place = place_of(staging.legend, animation, options);
    draw_legend(picture,
                {field_label(animation.field), animation.low, animation.high, animation.map, animation.is_clipped},
                place.x, place.y, legend_height(options), scale, ink);
  }
  return picture;
}

}  // namespace pliant
