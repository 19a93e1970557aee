#pragma once

#include <Eigen/Geometry>
#include <cmath>
#include <random>

#include "pliant/contact/closest.hpp"

// Random pairs of primitives, ordinary and degenerate.
namespace pliant::testing {

class PairSampler {
 public:
  explicit PairSampler(unsigned seed) : engine_(seed) {}

  double uniform(double low = -1, double high = 1) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  Vec3 vector(double size = 1) { return size * Vec3(uniform(), uniform(), uniform()); }
  Corners corners(double size = 1) { return {vector(size), vector(size), vector(size), vector(size)}; }
  int integer(int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine_); }

  /// Corners of one of several awkward sorts: slivers, repeated corners, parallel or collinear edges, coordinates from
  /// a small grid, tiny and far away from the origin.
  Corners awkward() {
    Corners x = corners();
    switch (integer(0, 7)) {
      case 0:
        x[3] = x[2] + 1e-9 * vector();
        break;
      case 1:
        x[static_cast<std::size_t>(integer(1, 3))] = x[static_cast<std::size_t>(integer(1, 3))];
        break;
      case 2:
        x[3] = x[2] + uniform() * (x[1] - x[0]);
        break;
      case 3:
        x[3] = x[2] + (x[1] - x[0]) + std::pow(10, uniform(-12, -2)) * vector();
        break;
      case 4:
        for (Vec3& p : x) p = Vec3(integer(-1, 1), integer(-1, 1), integer(-1, 1));
        break;
      case 5:
        for (Vec3& p : x) p *= 1e-6;
        break;
      case 6:
        for (Vec3& p : x) p.z() = 0;
        break;
      default:
        for (Vec3& p : x) p += Vec3(100, -200, 300);
        break;
    }
    return x;
  }

 private:
  std::mt19937 engine_;
};

inline Corners moved(const Corners& x, const Corners& dx, double t) {
  Corners y = x;
  for (std::size_t i = 0; i < 4; ++i) y[i] += t * dx[i];
  return y;
}

inline Corners from_vector(const Vec12& v) {
  return {v.segment<3>(0), v.segment<3>(3), v.segment<3>(6), v.segment<3>(9)};
}
inline Vec12 to_vector(const Corners& x) {
  Vec12 v;
  v << x[0], x[1], x[2], x[3];
  return v;
}

}  // namespace pliant::testing
