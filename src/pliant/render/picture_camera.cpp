#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>

#include "pliant/render/picture.hpp"
#include "pliant/render/picture_view.hpp"

namespace pliant {

CameraFrame camera_frame(const Vec3& view, const Vec3& up) {
  CameraFrame frame;
  frame.forward = view.stableNormalized();
  if (!(frame.forward.squaredNorm() > 0.5)) frame.forward = Vec3(0, 1, 0);
  Vec3 right = frame.forward.cross(up.stableNormalized());
  // Looking straight up or down: any direction may be to the right.
  if (!(right.norm() > 1e-9))
    right = frame.forward.cross(std::abs(frame.forward[0]) < 0.5 ? Vec3(1, 0, 0) : Vec3(0, 1, 0));
  frame.right = right.normalized();
  frame.up = frame.right.cross(frame.forward);
  return frame;
}

Camera fit_camera(std::span<const Vec3> points, const CameraFit& fit) {
  const CameraFrame frame = camera_frame(fit.view, fit.up);
  const double room = 1 - 2 * std::clamp(fit.margin, 0.0, 0.45);
  const double tangent_y = std::tan(fit.field_of_view * 3.14159265358979323846 / 360) * room;
  const double tangent_x = tangent_y * fit.aspect;
  // An eye at (a, b, -d) in the frame sees a point (x, y, z) when |x - a| <= tangent_x (z + d), and likewise for y. For
  // one side this reads d + a / tangent_x >= x / tangent_x - z; the greatest right-hand sides of the two sides give a
  // and the least d.
  constexpr double none = -std::numeric_limits<double>::infinity();
  double right = none, left = none, top = none, bottom = none;
  for (const Vec3& p : points) {
    if (!p.allFinite()) continue;
    const double x = p.dot(frame.right) / tangent_x;
    const double y = p.dot(frame.up) / tangent_y;
    const double z = p.dot(frame.forward);
    right = std::max(right, x - z);
    left = std::max(left, -x - z);
    top = std::max(top, y - z);
    bottom = std::max(bottom, -y - z);
  }
  Camera camera;
  camera.up = fit.up;
  camera.field_of_view = fit.field_of_view;
  if (right == none) {  // nothing to see
    camera.target = Vec3::Zero();
    camera.eye = -3 * frame.forward;
    return camera;
  }
  const double a = tangent_x * (right - left) / 2;
  const double b = tangent_y * (top - bottom) / 2;
  double d = std::max(right + left, top + bottom) / 2;
  double nearest = std::numeric_limits<double>::infinity();
  double farthest = none;
  for (const Vec3& p : points) {
    if (!p.allFinite()) continue;
    nearest = std::min(nearest, p.dot(frame.forward));
    farthest = std::max(farthest, p.dot(frame.forward));
  }
  // All points in one place, or in one line of sight: stand back a little.
  const double scale = std::max({1e-6, std::abs(a) * 1e-6, std::abs(b) * 1e-6, farthest - nearest});
  d = std::max(d, -nearest + 0.5 * scale);
  camera.eye = a * frame.right + b * frame.up - d * frame.forward;
  camera.target = camera.eye + frame.forward * (d + (nearest + farthest) / 2);
  return camera;
}

}  // namespace pliant
