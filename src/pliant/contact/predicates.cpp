#include "pliant/contact/predicates.hpp"

#include <Eigen/Geometry>
#include <cmath>
#include <limits>
#include <vector>

namespace pliant {

namespace {

/// A sum of doubles that do not overlap, by growing magnitude: an exact number.
using Expansion = std::vector<double>;

void add(Expansion& e, double b) {
  std::size_t kept = 0;
  for (double a : e) {
    const double sum = a + b, virtual_b = sum - a;
    const double error = (a - (sum - virtual_b)) + (b - virtual_b);
    if (error != 0) e[kept++] = error;
    b = sum;
  }
  e.resize(kept);
  if (b != 0) e.push_back(b);
}

Expansion difference(double a, double b) {
  Expansion e;
  add(e, a);
  add(e, -b);
  return e;
}

Expansion product(const Expansion& a, const Expansion& b) {
  Expansion e;
  for (double s : a)
    for (double t : b) {
      const double p = s * t;
      add(e, std::fma(s, t, -p));
      add(e, p);
    }
  return e;
}

Expansion minus(Expansion a, const Expansion& b) {
  for (double t : b) add(a, -t);
  return a;
}

int sign(const Expansion& e) { return e.empty() ? 0 : e.back() > 0 ? 1 : -1; }
int sign(double v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }

constexpr double kRounding = std::numeric_limits<double>::epsilon();

}  // namespace

int orientation(const Vec2& a, const Vec2& b, const Vec2& c) {
  const double left = (b.x() - a.x()) * (c.y() - a.y()), right = (b.y() - a.y()) * (c.x() - a.x());
  const double determinant = left - right;
  if (std::abs(determinant) > 4 * kRounding * (std::abs(left) + std::abs(right))) return sign(determinant);
  return sign(minus(product(difference(b.x(), a.x()), difference(c.y(), a.y())),
                    product(difference(b.y(), a.y()), difference(c.x(), a.x()))));
}

int orientation(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const Vec3 u = b - a, v = c - a, w = d - a;
  const double determinant = u.dot(v.cross(w));
  const auto size = [&](int i, int j) { return std::abs(v[i] * w[j]) + std::abs(v[j] * w[i]); };
  const double permanent = std::abs(u[0]) * size(1, 2) + std::abs(u[1]) * size(2, 0) + std::abs(u[2]) * size(0, 1);
  if (std::abs(determinant) > 10 * kRounding * permanent) return sign(determinant);
  Expansion sum;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const Expansion minor = minus(product(difference(c[j], a[j]), difference(d[k], a[k])),
                                  product(difference(c[k], a[k]), difference(d[j], a[j])));
    for (double t : product(difference(b[i], a[i]), minor)) add(sum, t);
  }
  return sign(sum);
}

}  // namespace pliant
