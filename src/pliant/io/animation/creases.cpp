#include "pliant/io/animation/creases.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace pliant {

namespace {

Vec3 point_of(const std::vector<float>& positions, Index i) {
  const float* p = positions.data() + 3 * at(i);
  return {p[0], p[1], p[2]};
}

/// Twice the area times the unit normal.
Vec3 area_normal(const Triangle& t, const std::vector<float>& positions) {
  const Vec3 a = point_of(positions, t[0]);
  return (point_of(positions, t[1]) - a).cross(point_of(positions, t[2]) - a);
}

}  // namespace

CreasedSurface split_creases(const std::vector<Triangle>& triangles, const std::vector<float>& positions,
                             double degrees) {
  const std::size_t vertices = positions.size() / 3;
  std::vector<Vec3> unit;
  for (const Triangle& t : triangles) unit.push_back(area_normal(t, positions).normalized());
  std::vector<std::vector<Index>> around(vertices);
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (Index v : triangles[t]) around[at(v)].push_back(static_cast<Index>(t));

  CreasedSurface creased;
  creased.triangles = triangles;
  const double smooth = std::cos(degrees * 3.14159265358979323846 / 180);
  std::vector<std::size_t> patch;
  for (std::size_t v = 0; v < vertices; ++v) {
    // Triangles around v that share another corner as well are neighbours; smooth neighbours are one patch.
    const std::vector<Index>& ring = around[v];
    patch.resize(ring.size());
    std::iota(patch.begin(), patch.end(), std::size_t{0});
    for (std::size_t a = 0; a < ring.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        const Triangle &s = triangles[at(ring[a])], &t = triangles[at(ring[b])];
        const bool neighbours = std::any_of(
            s.begin(), s.end(), [&](Index i) { return at(i) != v && std::find(t.begin(), t.end(), i) != t.end(); });
        if (!neighbours || unit[at(ring[a])].dot(unit[at(ring[b])]) < smooth || patch[a] == patch[b]) continue;
        const std::size_t from = patch[a], to = patch[b];
        std::replace(patch.begin(), patch.end(), from, to);
      }
    std::vector<std::size_t> done;
    for (std::size_t p : patch) {
      if (std::find(done.begin(), done.end(), p) != done.end()) continue;
      done.push_back(p);
      const auto vertex = static_cast<Index>(creased.origin.size());
      creased.origin.push_back(static_cast<Index>(v));
      for (std::size_t k = 0; k < ring.size(); ++k)
        if (patch[k] == p)
          for (std::size_t c = 0; c < 3; ++c)
            if (at(triangles[at(ring[k])][c]) == v) creased.triangles[at(ring[k])][c] = vertex;
    }
  }
  return creased;
}

std::vector<float> CreasedSurface::positions(const std::vector<float>& of_surface) const {
  std::vector<float> own;
  own.reserve(3 * origin.size());
  for (Index v : origin) own.insert(own.end(), of_surface.begin() + 3 * v, of_surface.begin() + 3 * v + 3);
  return own;
}

std::vector<float> CreasedSurface::normals(const std::vector<float>& of_surface) const {
  const std::vector<float> own = positions(of_surface);
  std::vector<Vec3> sums(origin.size(), Vec3::Zero());
  for (const Triangle& t : triangles) {
    const Vec3 n = area_normal(t, own);
    for (Index v : t) sums[at(v)] += n;
  }
  std::vector<float> normals;
  normals.reserve(own.size());
  for (const Vec3& sum : sums) {
    // A fold may cancel all normals around a vertex; formats want a unit vector all the same.
    const Vec3 n = sum.norm() > 0 ? Vec3(sum.normalized()) : Vec3::UnitY();
    for (int k = 0; k < 3; ++k) normals.push_back(static_cast<float>(n[k]));
  }
  return normals;
}

}  // namespace pliant
