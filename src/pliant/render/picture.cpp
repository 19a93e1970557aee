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
constexpr double gloss = 0.07;  // strength of the highlight
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
        light_(scene, vertical_, frame_.right, frame_.right.cross(vertical_).normalized(), options.width,
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
    const double height = ground_ - eye_.dot(vertical_);
    if (options.ground && !scene.pieces.empty() && height < 0)
      ground_nearness_ = linear([&](const Vec3& direction) { return direction.dot(vertical_) / height; });
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
    views_.resize(scene_.pieces.size());
    for_chunks(static_cast<Index>(views_.size()), 1024, [&](Index begin, Index end) {
      for (Index k = begin; k < end; ++k) views_[static_cast<std::size_t>(k)] = view_of(piece(k));
    });
    if (!scene_.glass.empty()) look_through_glass();
  }

  void look_through_glass() {
    NearnessImage seen = image_;  // the ground hides too
    for_chunks(image_.height, tile, [&](Index begin, Index end) {
      for (Index j = begin; j < end; ++j)
        for (Index i = 0; i < image_.width; ++i) {
          float& nearness = seen.nearness[static_cast<std::size_t>(j) * static_cast<std::size_t>(image_.width) +
                                          static_cast<std::size_t>(i)];
          nearness = std::max(nearness, static_cast<float>(ground_nearness_.at(i + 0.5, j + 0.5)));
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

  /// A linear function of the position on the image.
  struct Linear {
    double constant = 0, x = 0, y = 0;
    double at(double i, double j) const { return constant + i * x + j * y; }
  };
  /// The one that a linear function of the sight line is.
  template <class Function>
  Linear linear(Function&& of) const {
    return {of(origin_), of(step_x_), of(step_y_)};
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

  /// How a piece lies on the image: nearness w, w times two of the barycentric coordinates, and its mesh edges.
  struct View {
    Linear w, b1, b2;
    std::array<Linear, 3> edges;  ///< distance from the edge, samples; far away where it is not drawn
  };

  View view_of(const Piece& piece) const {
    constexpr double kFar = 1e9;
    const Vec3& a = scene_.corner(piece, 0);
    const Vec3 u = scene_.corner(piece, 1) - a, v = scene_.corner(piece, 2) - a, n = u.cross(v);
    const double square = n.squaredNorm(), distance = n.dot(a - eye_);
    View view;
    // The plane has n . (eye + direction / w - a) = 0; coordinates are those of the point in it.
    view.w = linear([&](const Vec3& direction) { return n.dot(direction) / distance; });
    const auto coordinate = [&](const Vec3& dual, double of_eye) {
      return linear(
          [&](const Vec3& direction) { return (dual.dot(direction) + of_eye * n.dot(direction) / distance) / square; });
    };
    const Vec3 first = v.cross(n), second = n.cross(u);
    view.b1 = coordinate(first, first.dot(eye_ - a));
    view.b2 = coordinate(second, second.dot(eye_ - a));
    for (Linear& edge : view.edges) edge.constant = kFar;
    if (!(options_.edge_width > 0)) return view;
    std::array<std::array<double, 2>, 3> corners;
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 q = in_camera(scene_.corner(piece, k));
      if (q[2] < near_) return view;
      corners[k] = project(q);
    }
    for (std::size_t k = 0; k < 3; ++k) {
      if ((piece.edge_bits >> k & 1U) == 0) continue;
      const auto& from = corners[k];
      const auto& to = corners[(k + 1) % 3];
      const double dx = to[0] - from[0], dy = to[1] - from[1], length = std::hypot(dx, dy);
      if (length > 0) view.edges[k] = {(dy * from[0] - dx * from[1]) / length, -dy / length, dx / length};
    }
    return view;
  }

  /// Averages the samples of each pixel. The lamp is asked for once a pixel, the sky once for two by two of them, each
  /// for the ground and for each surface that is inclined in a way of its own.
  void colour_tile(const Range& rows, const Range& columns, Picture& picture) const {
    constexpr std::size_t kMostSamples = 9;
    std::array<Light, kMostSamples * tile * tile> light_of;
    std::array<PixelLights, tile / 2> skies;
    LitPoints lamp, sky;
    Light* next = light_of.data();
    for (Index row = rows.begin; row < rows.end; ++row) {
      if ((row - rows.begin) % 2 == 0) skies.fill({});
      for (Index column = columns.begin; column < columns.end; ++column) {
        PixelLights lamps;
        PixelLights& above = skies[static_cast<std::size_t>((column - columns.begin) / 2)];
        for_samples(row, column, [&](Index i, Index j) {
          const Seen what = seen(i, j);
          if (what == Seen::ground)
            *next++ = {what, lamps.ground(*this, i, j, lamp), above.ground(*this, i, j, sky)};
          else if (what == Seen::surface)
            *next++ = {what, lamps.surface(*this, i, j, lamp), above.surface(*this, i, j, sky)};
          else
            *next++ = {};
        });
      }
    }
    light_.receive_lamp(lamp);
    light_.receive_sky(sky);
    const double share = 1.0 / (per_side_ * per_side_);
    const Light* light = light_of.data();
    for (Index row = rows.begin; row < rows.end; ++row) {
      std::uint8_t* rgb = picture.rgb.data() + 3 * (std::ptrdiff_t{row} * picture.width + columns.begin);
      for (Index column = columns.begin; column < columns.end; ++column, light += per_side_ * per_side_) {
        LinearColour sum{};
        if (is_plain(row, column)) {
          sum = sample(column * per_side_ + per_side_ / 2, row * per_side_ + per_side_ / 2, *light, lamp, sky);
        } else {
          const Light* of = light;
          for_samples(row, column, [&](Index i, Index j) {
            const LinearColour colour = sample(i, j, *of++, lamp, sky);
            for (std::size_t k = 0; k < 3; ++k) sum[k] += share * colour[k];
          });
        }
        for (double c : sum) *rgb++ = srgb_byte(c);
      }
    }
  }

  template <class Visit>
  void for_samples(Index row, Index column, Visit&& visit) const {
    for (Index j = row * per_side_; j < (row + 1) * per_side_; ++j)
      for (Index i = column * per_side_; i < (column + 1) * per_side_; ++i) visit(i, j);
  }

  /// Whether all samples of a pixel show the same piece, far from its edges, or no piece: one has the colour of all.
  bool is_plain(Index row, Index column) const {
    const Index i0 = column * per_side_, j0 = row * per_side_;
    const std::size_t first = index(i0, j0);
    const Seen what = seen(i0, j0);
    bool plain = true;
    for_samples(row, column, [&](Index i, Index j) {
      const std::size_t at = index(i, j);
      plain = plain && image_.ids[at] == image_.ids[first] && seen(i, j) == what &&
              (depths_.empty() || depths_[at] == depths_[first]);
    });
    if (!plain || what != Seen::surface) return plain;
    const double away = (options_.edge_width + 1.5) * per_side_ / 2;
    const auto& edges = views_[static_cast<std::size_t>(image_.ids[first])].edges;
    return std::all_of(edges.begin(), edges.end(), [&](const Linear& edge) {
      return std::abs(edge.at(i0 + per_side_ / 2.0, j0 + per_side_ / 2.0)) > away;
    });
  }

  enum class Seen { background, ground, surface };
  /// What a sample shows, and where its light is in the lists.
  struct Light {
    Seen what = Seen::background;
    int lamp = 0, sky = 0;
  };
  Seen seen(Index i, Index j) const {
    const std::size_t at = index(i, j);
    // The body rests on the ground: where both are as near as can be told, the body is seen.
    const double ground = ground_nearness_.at(i + 0.5, j + 0.5);
    if (ground > 0 && ground > static_cast<double>(image_.nearness[at]) * (1 + 1e-4)) return Seen::ground;
    return image_.ids[at] < 0 ? Seen::background : Seen::surface;
  }

  /// The lights that the samples of one pixel share.
  struct PixelLights {
    static constexpr std::size_t kMost = 4;
    static constexpr double kAlike = 0.97;
    int of_ground = -1;
    std::size_t count = 0;
    std::array<Index, kMost> pieces;
    std::array<int, kMost> of_piece;

    int ground(const Renderer& self, Index i, Index j, LitPoints& lights) {
      if (of_ground >= 0) return of_ground;
      of_ground = static_cast<int>(lights.size());
      const double nearness = self.ground_nearness_.at(i + 0.5, j + 0.5);
      self.light_.ask(self.eye_ + self.sight(i + 0.5, j + 0.5) / nearness, self.vertical_, self.vertical_, lights);
      return of_ground;
    }

    int surface(const Renderer& self, Index i, Index j, LitPoints& lights) {
      const Index id = self.image_.ids[self.index(i, j)];
      double best = -2;
      std::size_t nearest = 0;
      for (std::size_t k = 0; k < count; ++k) {
        if (pieces[k] == id) return of_piece[k];
        const double alike = self.piece(pieces[k]).normal.dot(self.piece(id).normal);
        if (alike > best) best = alike, nearest = k;
      }
      if (count > 0 && (best > kAlike || count == kMost)) return of_piece[nearest];
      pieces[count] = id;
      of_piece[count] = static_cast<int>(lights.size());
      const Point point = self.point(id, i + 0.5, j + 0.5);
      self.light_.ask(self.eye_ + self.sight(i + 0.5, j + 0.5) / point.nearness, point.normal,
                      point.side * self.piece(id).normal, lights);
      return of_piece[count++];
    }
  };

  LinearColour sample(Index i, Index j, const Light& light, const LitPoints& lamp, const LitPoints& sky) const {
    const double x = i + 0.5, y = j + 0.5;
    const std::size_t at = index(i, j);
    LinearColour colour;
    if (light.what == Seen::background) {
      colour = background(y);
    } else {
      const auto from_lamp = static_cast<std::size_t>(light.lamp), from_sky = static_cast<std::size_t>(light.sky);
      const auto diffuse = static_cast<double>(lamp.diffuse[from_lamp] + sky.diffuse[from_sky]);
      colour = light.what == Seen::ground
                   ? ground(y, diffuse)
                   : surface(image_.ids[at], x, y, diffuse, static_cast<double>(lamp.lamp[from_lamp]));
    }
    if (depths_.empty() || !(depths_[at] > 0)) return colour;
    const double passed = std::exp(-static_cast<double>(depths_[at]));
    for (std::size_t k = 0; k < 3; ++k) colour[k] = passed * colour[k] + (1 - passed) * glass_[k];
    return colour;
  }

  LinearColour background(double y) const {
    const double t = y / image_.height;
    const double s = t * t * (3 - 2 * t);
    LinearColour colour;
    for (std::size_t k = 0; k < 3; ++k) colour[k] = (1 - s) * top_[k] + s * bottom_[k];
    return colour;
  }

  LinearColour ground(double y, double diffuse) const {
    LinearColour colour = background(y);
    for (double& c : colour) c *= 1 - ground_shade * (1 - std::min(1.0, diffuse / light_.open_ground()));
    return colour;
  }

  /// A sample of a piece.
  struct Point {
    double nearness;
    std::array<double, 3> barycentric;
    Vec3 normal;  ///< unit, towards the viewer
    double side;  ///< 1, or -1 where the piece shows its back
  };

  Point point(Index id, double x, double y) const {
    const Piece& p = piece(id);
    const View& view = views_[static_cast<std::size_t>(id)];
    const double w = view.w.at(x, y);
    const double b1 = std::clamp(view.b1.at(x, y) / w, 0.0, 1.0);
    const double b2 = std::clamp(view.b2.at(x, y) / w, 0.0, 1.0 - b1);
    Vec3 normal = (1 - b1 - b2) * p.normals[0] + b1 * p.normals[1] + b2 * p.normals[2];
    const double length = normal.norm();
    normal = length > 0 ? Vec3(normal / length) : p.normal;
    const double side = p.normal.dot(sight(x, y)) > 0 ? -1 : 1;
    return {w, {1 - b1 - b2, b1, b2}, side * normal, side};
  }

  LinearColour surface(Index id, double x, double y, double diffuse, double lamp) const {
    const Point at = point(id, x, y);
    LinearColour colour = scene_.colour(piece(id), at.barycentric);
    const Vec3 half = (light_.lamp_direction() - sight(x, y).normalized()).normalized();
    const double highlight = gloss * lamp * sharpened(std::max(0.0, at.normal.dot(half)));
    const double width = options_.edge_width * per_side_ / 2;
    const auto& edges = views_[static_cast<std::size_t>(id)].edges;
    const bool on_edge =
        std::any_of(edges.begin(), edges.end(), [&](const Linear& edge) { return std::abs(edge.at(x, y)) <= width; });
    for (std::size_t k = 0; k < 3; ++k) {
      if (on_edge) colour[k] = (1 - edge_opacity) * colour[k] + edge_opacity * edge_[k];
      colour[k] = colour[k] * diffuse + highlight;
    }
    return colour;
  }

  /// Its power 48.
  static double sharpened(double cosine) {
    const double c3 = cosine * cosine * cosine, c6 = c3 * c3, c12 = c6 * c6, c24 = c12 * c12;
    return c24 * c24;
  }

  std::size_t index(Index i, Index j) const {
    return static_cast<std::size_t>(j) * static_cast<std::size_t>(image_.width) + static_cast<std::size_t>(i);
  }
  const Piece& piece(Index id) const { return scene_.pieces[static_cast<std::size_t>(id)]; }

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
  Linear ground_nearness_;   ///< inverse depth of the ground; not positive where it is not seen
  std::vector<View> views_;  ///< of all pieces
};

}  // namespace

Picture render(std::span<const PictureSurface> surfaces, const Camera& camera, const PictureOptions& options) {
  check(options);
  const PictureScene scene(surfaces, options.crease);
  return Renderer(scene, camera, options).run();
}

}  // namespace pliant
