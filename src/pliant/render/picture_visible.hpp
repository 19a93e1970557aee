#pragma once

#include <vector>

#include "pliant/render/picture.hpp"
#include "pliant/render/picture_raster.hpp"
#include "pliant/render/picture_scene.hpp"
#include "pliant/render/picture_view.hpp"

namespace pliant {

enum class Seen : std::uint8_t { background, ground, surface };

/// What the samples of a band of rows show. Sample (i, j) is counted from the upper left corner of the whole picture.
class VisibleBand {
 public:
  Seen seen(Index i, Index j) const {
    const Index id = window_.ids[index(i, j)];
    return id >= 0 ? Seen::surface : id == kGround ? Seen::ground : Seen::background;
  }
  /// The piece of a sample that shows one.
  Index id(Index i, Index j) const { return window_.ids[index(i, j)]; }
  /// The columns, in pixels, in which there may be more to see than ground and background; ask about no others.
  const Range& columns() const { return columns_; }

  /// Whether all samples of a pixel, of which this is the first, show the same piece, or none, through as much glass.
  bool is_uniform(Index i0, Index j0) const {
    const std::size_t first = index(i0, j0), width = static_cast<std::size_t>(window_.width),
                      n = static_cast<std::size_t>(per_side_);
    for (std::size_t row = first; row < first + n * width; row += width)
      for (std::size_t at = row; at < row + n; ++at)
        if (window_.ids[at] != window_.ids[first] || (!depths_.empty() && depths_[at] != depths_[first])) return false;
    return true;
  }

  /// The share of light that passes the glass before a sample.
  double passed(Index i, Index j) const;
  bool has_glass() const { return !depths_.empty(); }

 private:
  friend class VisibleImage;
  static constexpr Index kGround = -2;  ///< in place of a piece; -1: the background

  std::size_t index(Index i, Index j) const {
    return static_cast<std::size_t>(j - window_.top) * static_cast<std::size_t>(window_.width) +
           static_cast<std::size_t>(i - window_.left);
  }

  int per_side_ = 1;
  Range columns_{0, 0};
  NearnessImage window_;
  std::vector<float> depths_;  ///< optical, of glass before each sample; empty: none
};

/// What a picture shows at each sample, `per_side` squared of them a pixel. Sight lines are
/// eye + t (origin + x step_x + y step_y), x and y in samples, t the depth, 1 / t the nearness.
///
/// Samples are found band by band, as they are needed: those of a whole picture would not fit into the caches.
class VisibleImage {
 public:
  VisibleImage(const PictureScene& scene, const Camera& camera, const PictureOptions& options);

  int per_side() const { return per_side_; }
  /// Samples.
  int width() const { return width_; }
  int height() const { return height_; }
  const CameraFrame& frame() const { return frame_; }
  /// Unit, the camera's up.
  const Vec3& vertical() const { return vertical_; }
  const PictureScene::Piece& piece(Index id) const { return scene_.pieces[static_cast<std::size_t>(id)]; }

  static constexpr Index kBandRows = 16;  ///< pixels
  /// The k-th band of kBandRows rows of pixels.
  void look(Index k, VisibleBand& band) const;
  /// What the middles of every n-th pixel show, one more in each direction than fit: the piece, or -1.
  NearnessImage look_sparsely(Index n) const;
  /// The place of such a middle, in samples.
  double sparse_place(Index k, Index n) const { return static_cast<double>(k * n * per_side_ + per_side_ / 2) + 0.5; }

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
  /// Whether the ground is seen at x, y behind something of this nearness (0: nothing). A body rests on the ground:
  /// where both are as near as can be told, the body is seen.
  bool shows_ground(double x, double y, float nearness) const {
    const auto ground = static_cast<float>(ground_nearness_.at(x, y));
    return ground > 0 && ground > nearness * 1.0001F;
  }

  /// How much of the pixel around x, y is covered by drawn edges of the piece, 0 to 1.
  double edge_cover(Index id, double x, double y) const;

 private:
  using Piece = PictureScene::Piece;

  /// A linear function of the position on the image.
  struct Linear {
    double constant = 0, x = 0, y = 0;
    double at(double i, double j) const { return constant + i * x + j * y; }
  };
  /// How a piece lies on the image: nearness w, w times two of the barycentric coordinates, and its mesh edges.
  struct View {
    Linear w, b1, b2;
    std::array<Linear, 3> edges;  ///< distance from the edge, samples; far away where it is not drawn
    double edge_strength = 0;     ///< 0 where a piece is too small for its edges to be told apart, else up to 1
  };

  /// The one that a linear function of the sight line is.
  template <class Function>
  Linear linear(Function&& of) const {
    return {of(origin_), of(step_x_), of(step_y_)};
  }
  double lowest() const;
  std::array<double, 2> project(const Vec3& q) const;
  Vec3 in_camera(const Vec3& x) const;
  void find_ground(VisibleBand& band) const;
  void look_through_glass(Index k, VisibleBand& band) const;
  void add_flat(const Piece& piece, Index id, double depth, std::vector<FlatTriangle>& triangles) const;
  View view_of(const Piece& piece) const;
  void find_edges(const Piece& piece, View& view) const;

  const PictureScene& scene_;
  double edge_width_;  ///< pixels
  int per_side_;
  int width_, height_;
  Vec3 eye_;
  CameraFrame frame_;
  Vec3 vertical_;
  double near_;
  double tangent_x_ = 1, tangent_y_ = 1;
  Vec3 origin_, step_x_, step_y_;
  Linear ground_nearness_;  ///< inverse depth of the ground; not positive where it is not seen
  std::vector<FlatTriangle> triangles_, glass_;
  TriangleBands in_band_, glass_in_band_;
  std::vector<View> views_;  ///< of all pieces
};

}  // namespace pliant
