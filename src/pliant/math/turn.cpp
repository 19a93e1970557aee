#include "pliant/math/turn.hpp"

#include <cmath>

namespace pliant {

Eigen::Quaterniond turn_between(const Vec3& from, const Vec3& to) {
  const Vec3 a = from.normalized(), b = to.normalized();
  const double cosine = b.dot(a);
  if (cosine < -1 + 1e-12) {  // the cross product is nought, or rounding alone: any axis across will do
    const Vec3 across = a.cross(std::abs(a.y()) < 0.9 ? Vec3(0, 1, 0) : Vec3(1, 0, 0)).normalized();
    return {0, across.x(), across.y(), across.z()};
  }
  const double s = std::sqrt((1 + cosine) * 2);
  const Vec3 v = a.cross(b) * (1 / s);
  return {s * 0.5, v.x(), v.y(), v.z()};
}

}  // namespace pliant
