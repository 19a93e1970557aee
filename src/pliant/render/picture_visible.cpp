#include "pliant/render/picture_visible.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr double kGlassDepth = 0.1;  // optical depth of a shell seen straight, and the most at an angle
constexpr double kMostGlassDepth = 0.7;
constexpr double kFar = 1e9;  // samples
/// Pieces with a height below this many pixels show no edges, those above the other show them whole: where lines lie
/// closer than a few pixels, they make a body dark and tell nothing.
constexpr double kHiddenBelow = 2, kWholeAbove = 7;

}  // namespace

VisibleImage::VisibleImage(const PictureScene& scene, const Camera& camera, const PictureOptions& options)
    : scene_(scene),
      edge_width_(options.edge_width),
      per_side_(options.supersampling),
      width_(options.width * per_side_),
      height_(options.height * per_side_),
      eye_(camera.eye),
      frame_(camera_frame(camera.target - camera.eye, camera.up)),
      vertical_(camera.up.stableNormalized()),
      near_((camera.target - camera.eye).norm() * 1e-3) {
  const double tangent = std::tan(camera.field_of_view * std::numbers::pi / 360);
  tangent_y_ = tangent;
  tangent_x_ = tangent * options.width / options.height;
  step_x_ = frame_.right * (2 * tangent_x_ / width_);
  step_y_ = -frame_.up * (2 * tangent_y_ / height_);
  origin_ = frame_.forward - tangent_x_ * frame_.right + tangent_y_ * frame_.up;
  const double height = options.ground_height.value_or(lowest()) - eye_.dot(vertical_);
  if (options.ground && !scene.pieces.empty() && height < 0)
    ground_nearness_ = linear([&](const Vec3& direction) { return direction.dot(vertical_) / height; });
  triangles_.reserve(scene.pieces.size());
  for (std::size_t p = 0; p < scene.pieces.size(); ++p) add_flat(scene.pieces[p], static_cast<Index>(p), 0, triangles_);
  for (const Piece& piece : scene.glass) {
    const double cosine = std::abs(piece.normal.dot(frame_.forward));
    add_flat(piece, -1, std::min(kGlassDepth / std::max(cosine, 1e-3), kMostGlassDepth), glass_);
  }
  in_band_ = TriangleBands(triangles_, kBandRows * per_side_, height_);
  glass_in_band_ = TriangleBands(glass_, kBandRows * per_side_, height_);
  views_.resize(scene.pieces.size());
  for_chunks(static_cast<Index>(views_.size()), 1024, [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) views_[static_cast<std::size_t>(k)] = view_of(piece(k));
  });
}

double VisibleImage::lowest() const {
  double least = std::numeric_limits<double>::infinity();
  for (const Piece& piece : scene_.pieces) {
    for (std::size_t k = 0; k < 3; ++k) least = std::min(least, scene_.corner(piece, k).dot(vertical_));
  }
  return std::isfinite(least) ? least : 0;
}

/// Position on the image, in samples, of a point given in the camera's axes (right, up, forward).
std::array<double, 2> VisibleImage::project(const Vec3& q) const {
  return {(q[0] / (q[2] * tangent_x_) + 1) / 2 * width_, (1 - q[1] / (q[2] * tangent_y_)) / 2 * height_};
}

Vec3 VisibleImage::in_camera(const Vec3& x) const {
  const Vec3 q = x - eye_;
  return {q.dot(frame_.right), q.dot(frame_.up), q.dot(frame_.forward)};
}

void VisibleImage::look(Index k, VisibleBand& band) const {
  double least = width_, most = 0;
  for (const auto& [triangles, bands] : {std::pair(&triangles_, &in_band_), std::pair(&glass_, &glass_in_band_)})
    for (Index t : bands->in(k)) {
      const auto [low, high] = std::minmax_element((*triangles)[at(t)].x.begin(), (*triangles)[at(t)].x.end());
      least = std::min(least, *low);
      most = std::max(most, *high);
    }
  // One pixel more on either side, for rounding.
  const Index pixels = width_ / per_side_;
  band.columns_.begin = static_cast<Index>(std::clamp(std::floor(least / per_side_) - 1, 0.0, double(pixels)));
  band.columns_.end =
      std::max(band.columns_.begin,
               static_cast<Index>(std::clamp(std::ceil(most / per_side_) + 1, 0.0, static_cast<double>(pixels))));
  band.per_side_ = per_side_;
  NearnessImage& window = band.window_;
  window.left = band.columns_.begin * per_side_;
  window.width = (band.columns_.end - band.columns_.begin) * per_side_;
  window.top = k * kBandRows * per_side_;
  window.height = std::min(height_ - window.top, kBandRows * per_side_);
  const std::size_t count = static_cast<std::size_t>(window.width) * static_cast<std::size_t>(window.height);
  window.nearness.assign(count, 0.0F);
  window.ids.assign(count, -1);
  for (Index t : in_band_.in(k)) draw(triangles_[at(t)], window.top, window.top + window.height, window);
  find_ground(band);
  band.depths_.clear();
  if (!glass_in_band_.in(k).empty()) look_through_glass(k, band);
}

NearnessImage VisibleImage::look_sparsely(Index n) const {
  const Index step = n * per_side_;
  const auto count = [&](int samples) { return (samples / per_side_ + n - 1) / n + 1; };
  NearnessImage image(count(width_), count(height_), 0.0F);
  image.ids.assign(image.nearness.size(), -1);
  std::vector<FlatTriangle> triangles = triangles_;
  const double first = sparse_place(0, n);
  for (FlatTriangle& t : triangles) {
    // Place x of the picture is (x - first) / step + 0.5 here.
    for (std::size_t c = 0; c < 3; ++c) {
      t.x[c] = (t.x[c] - first) / step + 0.5;
      t.y[c] = (t.y[c] - first) / step + 0.5;
    }
    t.offset += (t.slope_x + t.slope_y) * (first - 0.5 * step);
    t.slope_x *= step;
    t.slope_y *= step;
  }
  draw_all(triangles, image);
  return image;
}

void VisibleImage::find_ground(VisibleBand& band) const {
  NearnessImage& window = band.window_;
  for (Index j = 0; j < window.height; ++j) {
    Index* ids = window.ids.data() + std::ptrdiff_t{j} * window.width;
    const float* nearness = window.nearness.data() + std::ptrdiff_t{j} * window.width;
    const auto start = static_cast<float>(ground_nearness_.at(window.left + 0.5, window.top + j + 0.5)),
               slope = static_cast<float>(ground_nearness_.x);
    if (slope == 0 && !(start > 0)) continue;
    for (Index i = 0; i < window.width; ++i) {
      const float ground = start + slope * static_cast<float>(i);
      ids[i] = ground > 0 && ground > nearness[i] * 1.0001F ? VisibleBand::kGround : ids[i];
    }
  }
}

void VisibleImage::look_through_glass(Index k, VisibleBand& band) const {
  NearnessImage& window = band.window_;  // the ground hides too
  for (Index j = 0; j < window.height; ++j)
    for (Index i = 0; i < window.width; ++i) {
      float& nearness = window.nearness[static_cast<std::size_t>(j) * static_cast<std::size_t>(window.width) +
                                        static_cast<std::size_t>(i)];
      nearness =
          std::max(nearness, static_cast<float>(ground_nearness_.at(window.left + i + 0.5, window.top + j + 0.5)));
    }
  band.depths_.assign(window.nearness.size(), 0.0F);
  for (Index t : glass_in_band_.in(k)) add_depth(glass_[at(t)], window, band.depths_);
}

double VisibleBand::passed(Index i, Index j) const {
  const float depth = depths_.empty() ? 0.0F : depths_[index(i, j)];
  return depth > 0 ? std::exp(-static_cast<double>(depth)) : 1.0;
}

/// Projects a piece, cut at the plane just before the eye (a triangle or two).
void VisibleImage::add_flat(const Piece& piece, Index id, double depth, std::vector<FlatTriangle>& triangles) const {
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

VisibleImage::View VisibleImage::view_of(const Piece& piece) const {
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
  if (edge_width_ > 0) find_edges(piece, view);
  return view;
}

void VisibleImage::find_edges(const Piece& piece, View& view) const {
  std::array<std::array<double, 2>, 3> corners;
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3 q = in_camera(scene_.corner(piece, k));
    if (q[2] < near_) return;
    corners[k] = project(q);
  }
  double least_height = kFar;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto &from = corners[k], &to = corners[(k + 1) % 3], &opposite = corners[(k + 2) % 3];
    const double dx = to[0] - from[0], dy = to[1] - from[1], length = std::hypot(dx, dy);
    if (!(length > 0)) return;
    const Linear distance = {(dy * from[0] - dx * from[1]) / length, -dy / length, dx / length};
    least_height = std::min(least_height, std::abs(distance.at(opposite[0], opposite[1])));
    if ((piece.edge_bits >> k & 1U) != 0) view.edges[k] = distance;
  }
  view.edge_strength = std::clamp((least_height / per_side_ - kHiddenBelow) / (kWholeAbove - kHiddenBelow), 0.0, 1.0);
}

VisibleImage::Point VisibleImage::surface_point(Index id, double x, double y) const {
  const Piece& p = piece(id);
  const View& view = views_[static_cast<std::size_t>(id)];
  const double w = view.w.at(x, y);
  const double b1 = std::clamp(view.b1.at(x, y) / w, 0.0, 1.0);
  const double b2 = std::clamp(view.b2.at(x, y) / w, 0.0, 1.0 - b1);
  Vec3 normal = (1 - b1 - b2) * p.normals[0] + b1 * p.normals[1] + b2 * p.normals[2];
  const double length = normal.norm();
  normal = length > 0 ? Vec3(normal / length) : p.normal;
  const Vec3 direction = sight(x, y);
  const double side = p.normal.dot(direction) > 0 ? -1 : 1;
  return {eye_ + direction / w, {1 - b1 - b2, b1, b2}, side * normal, side * p.normal};
}

double VisibleImage::edge_cover(Index id, double x, double y) const {
  if (!(edge_width_ > 0)) return 0;
  const View& view = views_[static_cast<std::size_t>(id)];
  if (!(view.edge_strength > 0)) return 0;
  double least = kFar;
  for (const Linear& edge : view.edges) least = std::min(least, std::abs(edge.at(x, y)));
  // A line of this width, seen through a pixel whose middle is `least` away from its own.
  return view.edge_strength * std::clamp(edge_width_ / 2 + 0.5 - least / per_side_, 0.0, std::min(edge_width_, 1.0));
}

}  // namespace pliant
