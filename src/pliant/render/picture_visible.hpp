#pragma once

#include <vector>

#include "pliant/render/picture.hpp"
#include "pliant/render/picture_raster.hpp"
#include "pliant/render/picture_scene.hpp"
#include "pliant/render/picture_view.hpp"

namespace pliant {

enum class Seen : std::uint8_t { background, ground, surface };

/// What each sample of a picture shows, `per_side` squared of them a pixel. Sight lines are
/// eye + t (origin + x step_x + y step_y), x and y in samples, t the depth, 1 / t the nearness.
class VisibleImage {
 public:
  VisibleImage(const PictureScene& scene, const Camera& camera, const PictureOptions& options);

  int per_side() const { return per_side_; }
  /// Samples.
  int width() const { return image_.width; }
  int height() const { return image_.height; }
  const CameraFrame& frame() const { return frame_; }
  /// Unit, the camera's up.
  const Vec3& vertical() const { return vertical_; }

  Seen seen(Index i, Index j) const {
    const Index id = image_.ids[index(i, j)];
    return id >= 0 ? Seen::surface : id == kGround ? Seen::ground : Seen::background;
  }
  /// The piece of a sample that shows one.
  Index id(Index i, Index j) const { return image_.ids[index(i, j)]; }
  const PictureScene::Piece& piece(Index id) const { return scene_.pieces[static_cast<std::size_t>(id)]; }

  /// Whether all samples of a pixel, of which this is the first, show the same piece, or none, through as much glass.
  bool is_uniform(Index i0, Index j0) const {
    const std::size_t first = index(i0, j0), width = static_cast<std::size_t>(image_.width),
                      n = static_cast<std::size_t>(per_side_);
    for (std::size_t row = first; row < first + n * width; row += width)
      for (std::size_t at = row; at < row + n; ++at)
        if (image_.ids[at] != image_.ids[first] || (!depths_.empty() && depths_[at] != depths_[first])) return false;
    return true;
  }

  /// The share of light that passes the glass before a sample.
  double passed(Index i, Index j) const;
  bool has_glass() const { return !depths_.empty(); }

  struct Point {
    Vec3 position;
    std::array<double, 3> barycentric;
    Vec3 normal;       ///< unit, towards the viewer, smooth
    Vec3 true_normal;  ///< unit, towards the viewer, of the triangle
  };
  /// A point of a piece, and of the ground, seen at x, y.
  Point surface_point(Index id, double x, double y) const;
  Vec3 ground_point(double x, double y) const { return eye_ + sight(x, y) / ground_nearness_.at(x, y); }
  Vec3 sight(double x, double y) const { return origin_ + x * step_x_ + y * step_y_; }

  /// The least distance of x, y from a drawn edge of the piece, in samples.
  double edge_distance(Index id, double x, double y) const;

 private:
  using Piece = PictureScene::Piece;
  static constexpr Index kGround = -2;  ///< in place of a piece; -1: the background

  /// A linear function of the position on the image.
  struct Linear {
    double constant = 0, x = 0, y = 0;
    double at(double i, double j) const { return constant + i * x + j * y; }
  };
  /// How a piece lies on the image: nearness w, w times two of the barycentric coordinates, and its mesh edges.
  struct View {
    Linear w, b1, b2;
    std::array<Linear, 3> edges;  ///< distance from the edge, samples; far away where it is not drawn
  };

  /// The one that a linear function of the sight line is.
  template <class Function>
  Linear linear(Function&& of) const {
    return {of(origin_), of(step_x_), of(step_y_)};
  }
  double lowest() const;
  std::array<double, 2> project(const Vec3& q) const;
  Vec3 in_camera(const Vec3& x) const;
  void find_visible();
  void find_ground();
  void look_through_glass();
  void add_flat(const Piece& piece, Index id, double depth, std::vector<FlatTriangle>& triangles) const;
  View view_of(const Piece& piece) const;
  std::size_t index(Index i, Index j) const {
    return static_cast<std::size_t>(j) * static_cast<std::size_t>(image_.width) + static_cast<std::size_t>(i);
  }

  const PictureScene& scene_;
  bool with_edges_;
  int per_side_;
  Vec3 eye_;
  CameraFrame frame_;
  Vec3 vertical_;
  double near_;
  NearnessImage image_;
  double tangent_x_ = 1, tangent_y_ = 1;
  Vec3 origin_, step_x_, step_y_;
  Linear ground_nearness_;     ///< inverse depth of the ground; not positive where it is not seen
  std::vector<View> views_;    ///< of all pieces
  std::vector<float> depths_;  ///< optical, of glass before each sample; empty: none
};

}  // namespace pliant
