#include "pliant/render/picture_visible.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr Index kRowsAtOnce = 24;
constexpr double kGlassDepth = 0.1;  // optical depth of a shell seen straight, and the most at an angle
constexpr double kMostGlassDepth = 0.7;
constexpr double kFar = 1e9;  // samples

}  // namespace

VisibleImage::VisibleImage(const PictureScene& scene, const Camera& camera, const PictureOptions& options)
    : scene_(scene),
      with_edges_(options.edge_width > 0),
      per_side_(options.supersampling),
      eye_(camera.eye),
      frame_(camera_frame(camera.target - camera.eye, camera.up)),
      vertical_(camera.up.stableNormalized()),
      near_((camera.target - camera.eye).norm() * 1e-3),
      image_(options.width * per_side_, options.height * per_side_, 0.0F) {
  const double tangent = std::tan(camera.field_of_view * std::numbers::pi / 360);
  tangent_y_ = tangent;
  tangent_x_ = tangent * options.width / options.height;
  step_x_ = frame_.right * (2 * tangent_x_ / image_.width);
  step_y_ = -frame_.up * (2 * tangent_y_ / image_.height);
  origin_ = frame_.forward - tangent_x_ * frame_.right + tangent_y_ * frame_.up;
  const double height = options.ground_height.value_or(lowest()) - eye_.dot(vertical_);
  if (options.ground && !scene.pieces.empty() && height < 0)
    ground_nearness_ = linear([&](const Vec3& direction) { return direction.dot(vertical_) / height; });
  find_visible();
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
  return {(q[0] / (q[2] * tangent_x_) + 1) / 2 * image_.width, (1 - q[1] / (q[2] * tangent_y_)) / 2 * image_.height};
}

Vec3 VisibleImage::in_camera(const Vec3& x) const {
  const Vec3 q = x - eye_;
  return {q.dot(frame_.right), q.dot(frame_.up), q.dot(frame_.forward)};
}

void VisibleImage::find_visible() {
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
  find_ground();
  if (!scene_.glass.empty()) look_through_glass();
}

/// A body rests on the ground: where both are as near as can be told, the body is seen.
void VisibleImage::find_ground() {
  for_chunks(image_.height, kRowsAtOnce, [&](Index begin, Index end) {
    for (Index j = begin; j < end; ++j) {
      Index* ids = image_.ids.data() + index(0, j);
      const float* nearness = image_.nearness.data() + index(0, j);
      const auto start = static_cast<float>(ground_nearness_.at(0.5, j + 0.5)),
                 slope = static_cast<float>(ground_nearness_.x);
      if (slope == 0 && !(start > 0)) continue;
      for (Index i = 0; i < image_.width; ++i) {
        const float ground = start + slope * static_cast<float>(i);
        ids[i] = ground > 0 && ground > nearness[i] * 1.0001F ? kGround : ids[i];
      }
    }
  });
}

void VisibleImage::look_through_glass() {
  NearnessImage seen = image_;  // the ground hides too
  for_chunks(image_.height, kRowsAtOnce, [&](Index begin, Index end) {
    for (Index j = begin; j < end; ++j)
      for (Index i = 0; i < image_.width; ++i) {
        float& nearness = seen.nearness[index(i, j)];
        nearness = std::max(nearness, static_cast<float>(ground_nearness_.at(i + 0.5, j + 0.5)));
      }
  });
  std::vector<FlatTriangle> triangles;
  for (const Piece& piece : scene_.glass) {
    const double cosine = std::abs(piece.normal.dot(frame_.forward));
    add_flat(piece, -1, std::min(kGlassDepth / std::max(cosine, 1e-3), kMostGlassDepth), triangles);
  }
  depths_ = optical_depths(triangles, seen);
}

double VisibleImage::passed(Index i, Index j) const {
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
  if (!with_edges_) return view;
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

double VisibleImage::edge_distance(Index id, double x, double y) const {
  double least = kFar;
  if (!with_edges_) return least;
  for (const Linear& edge : views_[static_cast<std::size_t>(id)].edges)
    least = std::min(least, std::abs(edge.at(x, y)));
  return least;
}

}  // namespace pliant
