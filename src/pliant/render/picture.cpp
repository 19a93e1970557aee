#include "pliant/render/picture.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "pliant/base/error.hpp"
#include "pliant/math/parallel.hpp"
#include "pliant/render/picture_light.hpp"
#include "pliant/render/picture_raster.hpp"
#include "pliant/render/picture_scene.hpp"
#include "pliant/render/picture_view.hpp"

// Two passes: the first finds the triangle visible at each sample (several a pixel), the second colours the samples and
// averages those of a pixel. Sight lines are eye + t (origin + i step_x + j step_y), i and j in samples, t the depth.

namespace pliant {

namespace {

constexpr int most_pixels_along = 16384;
constexpr Index tile = 24;      // pixels along each side of what is coloured at a time
constexpr double gloss = 0.07;  // strength and sharpness of the highlight
constexpr double gloss_exponent = 48;
constexpr double edge_opacity = 0.8;
constexpr double ground_shade = 0.82;  // how dark the deepest shadow on the ground is
constexpr double glass_depth = 0.1;    // optical depth of a shell seen straight, and the most at an angle
constexpr double most_glass_depth = 0.7;
constexpr Colour glass_colour = {0.38, 0.43, 0.52};

void check(const PictureOptions& options) {
  if (options.width < 1 || options.height < 1 || options.width > most_pixels_along ||
      options.height > most_pixels_along) {
    throw InputError(fmt::format("picture: the size is {} x {} pixels; give 1 to {} for each.", options.width,
                                 options.height, most_pixels_along));
  }
  if (options.supersampling < 1 || options.supersampling > 3) {
    throw InputError(fmt::format("picture: supersampling is {}; give 1, 2 or 3.", options.supersampling));
  }
}

class Renderer {
 public:
  Renderer(const PictureScene& scene, const Camera& camera, const PictureOptions& options)
      : scene_(scene),
        options_(options),
        per_side_(options.supersampling),
        eye_(camera.eye),
        frame_(camera_frame(camera.target - camera.eye, camera.up)),
        vertical_(camera.up.stableNormalized()),
        near_((camera.target - camera.eye).norm() * 1e-3),
        image_(options.width * per_side_, options.height * per_side_, 0.0F),
        light_(scene, vertical_, frame_.right, frame_.right.cross(vertical_).normalized(), per_side_ * per_side_,
               options.shadows ? PictureLight::Shadows::all : PictureLight::Shadows::none),
        top_(to_linear(options.background_top)),
        bottom_(to_linear(options.background_bottom)),
        edge_(to_linear(options.edge_colour)),
        glass_(to_linear(glass_colour)) {
    const double tangent = std::tan(camera.field_of_view * 3.14159265358979323846 / 360);
    tangent_y_ = tangent;
    tangent_x_ = tangent * options.width / options.height;
    step_x_ = frame_.right * (2 * tangent_x_ / image_.width);
    step_y_ = -frame_.up * (2 * tangent_y_ / image_.height);
    origin_ = frame_.forward - tangent_x_ * frame_.right + tangent_y_ * frame_.up;
    ground_ = options.ground_height.value_or(lowest());
  }

  Picture run() {
    find_visible();
    Picture picture{options_.width, options_.height, {}};
    picture.rgb.resize(3 * static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height));
    for_chunks(picture.height, tile, [&](Index begin, Index end) {
      for (Index left = 0; left < picture.width; left += tile) {
        colour_tile({begin, end}, {left, std::min(left + tile, picture.width)}, picture);
      }
    });
    return picture;
  }

 private:
  using Piece = PictureScene::Piece;

  double lowest() const {
    double least = std::numeric_limits<double>::infinity();
    for (const Piece& piece : scene_.pieces) {
      for (std::size_t k = 0; k < 3; ++k) least = std::min(least, scene_.corner(piece, k).dot(vertical_));
    }
    return std::isfinite(least) ? least : 0;
  }

  /// Position on the image, in samples, of a point given in the camera's axes (right, up, forward).
  std::array<double, 2> project(const Vec3& q) const {
    return {(q[0] / (q[2] * tangent_x_) + 1) / 2 * image_.width, (1 - q[1] / (q[2] * tangent_y_)) / 2 * image_.height};
  }

  Vec3 in_camera(const Vec3& x) const {
    const Vec3 q = x - eye_;
    return {q.dot(frame_.right), q.dot(frame_.up), q.dot(frame_.forward)};
  }

  void find_visible() {
    image_.ids.assign(image_.nearness.size(), -1);
    std::vector<FlatTriangle> triangles;
    triangles.reserve(scene_.pieces.size());
    for (std::size_t p = 0; p < scene_.pieces.size(); ++p)
      add_flat(scene_.pieces[p], static_cast<Index>(p), 0, triangles);
    draw_all(triangles, image_);
    if (!scene_.glass.empty()) look_through_glass();
  }

  void look_through_glass() {
    NearnessImage seen = image_;  // the ground hides too
    for_chunks(image_.height, tile, [&](Index begin, Index end) {
      for (Index j = begin; j < end; ++j)
        for (Index i = 0; i < image_.width; ++i) {
          float& nearness = seen.nearness[static_cast<std::size_t>(j) * static_cast<std::size_t>(image_.width) +
                                          static_cast<std::size_t>(i)];
          nearness = std::max(nearness, static_cast<float>(ground_nearness(sight(i + 0.5, j + 0.5))));
        }
    });
    std::vector<FlatTriangle> triangles;
    for (const Piece& piece : scene_.glass) {
      const double cosine = std::abs(piece.normal.dot(frame_.forward));
      add_flat(piece, -1, std::min(glass_depth / std::max(cosine, 1e-3), most_glass_depth), triangles);
    }
    depths_ = optical_depths(triangles, seen);
  }

  Vec3 sight(double x, double y) const { return origin_ + x * step_x_ + y * step_y_; }

  /// Inverse depth of the ground in this direction; 0 where it is not seen.
  double ground_nearness(const Vec3& direction) const {
    const double fall = direction.dot(vertical_);
    if (!options_.ground || scene_.pieces.empty() || !(fall < 0)) return 0;
    const double depth = (ground_ - eye_.dot(vertical_)) / fall;
    return depth > 0 ? 1 / depth : 0;
  }

  /// Projects a piece, cut at the plane just before the eye (a triangle or two).
  void add_flat(const Piece& piece, Index id, double depth, std::vector<FlatTriangle>& triangles) const {
    std::array<Vec3, 4> polygon;
    std::size_t count = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 from = in_camera(scene_.corner(piece, k));
      const Vec3 to = in_camera(scene_.corner(piece, (k + 1) % 3));
      if (from[2] >= near_) polygon[count++] = from;
      if ((from[2] >= near_) != (to[2] >= near_))
        polygon[count++] = from + (near_ - from[2]) / (to[2] - from[2]) * (to - from);
    }
    if (count < 3) return;
    // The plane normal . (eye + t direction) = normal . corner gives 1/t, linear in the position on the image.
    const double distance = piece.normal.dot(scene_.corner(piece, 0) - eye_);
    if (distance == 0) return;  // seen from the edge
    FlatTriangle flat;
    flat.id = id;
    flat.depth = static_cast<float>(depth);
    flat.slope_x = piece.normal.dot(step_x_) / distance;
    flat.slope_y = piece.normal.dot(step_y_) / distance;
    flat.offset = piece.normal.dot(origin_) / distance;
    for (std::size_t k = 1; k + 1 < count; ++k) {
      const std::array<std::size_t, 3> corners = {0, k, k + 1};
      for (std::size_t c = 0; c < 3; ++c) {
        const auto xy = project(polygon[corners[c]]);
        flat.x[c] = xy[0];
        flat.y[c] = xy[1];
      }
      triangles.push_back(flat);
    }
  }

  /// Averages the samples of each pixel. One share of the light after the other over a small tile, so that the parts of
  /// the lights' depth images in use stay in the cache.
  void colour_tile(const Range& rows, const Range& columns, Picture& picture) const {
    const int shares = per_side_ * per_side_;
    std::array<LinearColour, tile * tile> sums{};
    for (int share = 0; share < shares; ++share) {
      LinearColour* sum = sums.data();
      for (Index row = rows.begin; row < rows.end; ++row) {
        for (Index column = columns.begin; column < columns.end; ++column, ++sum) {
          const LinearColour colour =
              sample(column * per_side_ + share % per_side_, row * per_side_ + share / per_side_, share);
          for (std::size_t k = 0; k < 3; ++k) (*sum)[k] += colour[k] / shares;
        }
      }
    }
    const LinearColour* sum = sums.data();
    for (Index row = rows.begin; row < rows.end; ++row) {
      std::uint8_t* rgb = picture.rgb.data() + 3 * (std::ptrdiff_t{row} * picture.width + columns.begin);
      for (Index column = columns.begin; column < columns.end; ++column) {
        const Colour colour = from_linear(*sum++);
        *rgb++ = static_cast<std::uint8_t>(std::lround(255 * colour.red));
        *rgb++ = static_cast<std::uint8_t>(std::lround(255 * colour.green));
        *rgb++ = static_cast<std::uint8_t>(std::lround(255 * colour.blue));
      }
    }
  }

  LinearColour sample(Index i, Index j, int share) const {
    const double x = i + 0.5;
    const double y = j + 0.5;
    const std::size_t at =
        static_cast<std::size_t>(j) * static_cast<std::size_t>(image_.width) + static_cast<std::size_t>(i);
    LinearColour colour = behind_glass(at, x, y, share);
    if (depths_.empty() || !(depths_[at] > 0)) return colour;
    const double passed = std::exp(-static_cast<double>(depths_[at]));
    for (std::size_t k = 0; k < 3; ++k) colour[k] = passed * colour[k] + (1 - passed) * glass_[k];
    return colour;
  }

  LinearColour behind_glass(std::size_t at, double x, double y, int share) const {
    const Vec3 direction = sight(x, y);
    // The body rests on the ground: where both are as near as can be told, the body is seen.
    const double ground_near = ground_nearness(direction);
    if (ground_near > static_cast<double>(image_.nearness[at]) * (1 + 1e-4))
      return ground(eye_ + direction / ground_near, y, share);
    if (image_.ids[at] < 0) return background(y);
    return surface(scene_.pieces[static_cast<std::size_t>(image_.ids[at])], x, y, direction, share);
  }

  LinearColour background(double y) const {
    const double t = y / image_.height;
    const double s = t * t * (3 - 2 * t);
    LinearColour colour;
    for (std::size_t k = 0; k < 3; ++k) colour[k] = (1 - s) * top_[k] + s * bottom_[k];
    return colour;
  }

  LinearColour ground(const Vec3& point, double y, int share) const {
    const double received = light_.receive(point, vertical_, vertical_, share).diffuse / light_.open_ground(share);
    LinearColour colour = background(y);
    for (double& c : colour) c *= 1 - ground_shade * (1 - std::min(1.0, received));
    return colour;
  }

  LinearColour surface(const Piece& piece, double x, double y, const Vec3& direction, int share) const {
    const Vec3& a = scene_.corner(piece, 0);
    const Vec3 u = scene_.corner(piece, 1) - a;
    const Vec3 v = scene_.corner(piece, 2) - a;
    const Vec3 n = u.cross(v);
    const Vec3 point = eye_ + n.dot(a - eye_) / n.dot(direction) * direction;
    const Vec3 w = point - a;
    const double square = n.squaredNorm();
    const double b1 = std::clamp(w.cross(v).dot(n) / square, 0.0, 1.0);
    const double b2 = std::clamp(u.cross(w).dot(n) / square, 0.0, 1.0 - b1);
    const std::array<double, 3> barycentric = {1 - b1 - b2, b1, b2};

    Vec3 normal = barycentric[0] * piece.normals[0] + b1 * piece.normals[1] + b2 * piece.normals[2];
    const double length = normal.norm();
    normal = length > 0 ? Vec3(normal / length) : piece.normal;
    const double side = piece.normal.dot(direction) > 0 ? -1 : 1;  // towards the viewer
    normal *= side;

    LinearColour colour = scene_.colour(piece, barycentric);
    const PictureLight::Received light = light_.receive(point, normal, side * piece.normal, share);
    const Vec3 half = (light_.lamp_direction() - direction.normalized()).normalized();
    const double highlight = gloss * light.lamp * std::pow(std::max(0.0, normal.dot(half)), gloss_exponent);
    const bool on_edge = is_on_edge(piece, x, y);
    for (std::size_t k = 0; k < 3; ++k) {
      if (on_edge) colour[k] = (1 - edge_opacity) * colour[k] + edge_opacity * edge_[k];
      colour[k] = colour[k] * light.diffuse + highlight;
    }
    return colour;
  }

  bool is_on_edge(const Piece& piece, double x, double y) const {
    if (!(options_.edge_width > 0)) return false;
    const double half = options_.edge_width * per_side_ / 2;
    std::array<std::array<double, 2>, 3> corners;
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 q = in_camera(scene_.corner(piece, k));
      if (q[2] < near_) return false;
      corners[k] = project(q);
    }
    for (std::size_t k = 0; k < 3; ++k) {
      if ((piece.edge_bits >> k & 1U) == 0) continue;
      const auto& from = corners[k];
      const auto& to = corners[(k + 1) % 3];
      const double dx = to[0] - from[0];
      const double dy = to[1] - from[1];
      const double cross = dx * (y - from[1]) - dy * (x - from[0]);
      if (cross * cross <= half * half * (dx * dx + dy * dy)) return true;
    }
    return false;
  }

  const PictureScene& scene_;
  const PictureOptions& options_;
  int per_side_;
  Vec3 eye_;
  CameraFrame frame_;
  Vec3 vertical_;
  double near_;
  NearnessImage image_;
  PictureLight light_;
  std::vector<float> depths_;  ///< optical, of glass before each sample; empty: none
  LinearColour top_, bottom_, edge_, glass_;
  double tangent_x_ = 1, tangent_y_ = 1;
  Vec3 origin_, step_x_, step_y_;
  double ground_ = 0;
};

}  // namespace

Picture render(std::span<const PictureSurface> surfaces, const Camera& camera, const PictureOptions& options) {
  check(options);
  const PictureScene scene(surfaces, options.crease);
  return Renderer(scene, camera, options).run();
}

}  // namespace pliant
