#include "pliant/mesh/surface_crossings.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <numeric>

namespace pliant {

namespace {

struct Box {
  Vec3 lower;
  Vec3 upper;

  bool overlaps(const Box& other) const {
    return (lower.array() <= other.upper.array()).all() && (other.lower.array() <= upper.array()).all();
  }
};

/// Six times the signed volume of a tetrahedron.
double orientation(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  return (b - a).cross(c - a).dot(d - a);
}

bool edge_passes(const Vec3& p, const Vec3& q, const std::array<Vec3, 3>& t) {
  const double above = orientation(t[0], t[1], t[2], p);
  const double below = orientation(t[0], t[1], t[2], q);
  if (!((above > 0 && below < 0) || (above < 0 && below > 0))) return false;
  const double u = orientation(p, q, t[0], t[1]);
  const double v = orientation(p, q, t[1], t[2]);
  const double w = orientation(p, q, t[2], t[0]);
  return (u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0);
}

class Crossings {
 public:
  explicit Crossings(const TriangleMesh& mesh) : mesh_(mesh) {}

  Box box(std::size_t t) const {
    const auto [a, b, c] = corners(mesh_.triangles[t]);
    return {a.cwiseMin(b).cwiseMin(c), a.cwiseMax(b).cwiseMax(c)};
  }
  bool cross(std::size_t s, std::size_t t) const { return pierces(s, t) || pierces(t, s); }

 private:
  std::array<Vec3, 3> corners(const Triangle& t) const { return {vertex(t[0]), vertex(t[1]), vertex(t[2])}; }
  const Vec3& vertex(Index v) const { return mesh_.vertices[static_cast<std::size_t>(v)]; }
  /// Whether an edge of s passes through t. Edges that end in a corner of t cannot, but for rounding.
  bool pierces(std::size_t s, std::size_t t) const {
    const Triangle& target = mesh_.triangles[t];
    const auto is_corner = [&](Index v) { return std::find(target.begin(), target.end(), v) != target.end(); };
    for (std::size_t k = 0; k < 3; ++k) {
      const Index p = mesh_.triangles[s][k];
      const Index q = mesh_.triangles[s][(k + 1) % 3];
      if (is_corner(p) || is_corner(q)) continue;
      if (edge_passes(vertex(p), vertex(q), corners(target))) return true;
    }
    return false;
  }

  const TriangleMesh& mesh_;
};

}  // namespace

std::vector<std::array<Index, 2>> surface_crossings(const TriangleMesh& mesh, std::size_t limit) {
  const Crossings crossings(mesh);
  std::vector<Box> boxes(mesh.triangles.size());
  Vec3 lower = Vec3::Constant(std::numeric_limits<double>::infinity());
  Vec3 upper = -lower;
  for (std::size_t t = 0; t < boxes.size(); ++t) {
    boxes[t] = crossings.box(t);
    lower = lower.cwiseMin(boxes[t].lower);
    upper = upper.cwiseMax(boxes[t].upper);
  }
  // Sweep along the longest side: a triangle meets only those whose intervals there are open when its own begins.
  Eigen::Index axis = 0;
  (upper - lower).maxCoeff(&axis);
  std::vector<std::size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double left = boxes[a].lower[axis];
    const double right = boxes[b].lower[axis];
    return left != right ? left < right : a < b;
  });
  std::vector<std::array<Index, 2>> found;
  std::vector<std::size_t> open;
  for (const std::size_t t : order) {
    std::erase_if(open, [&](std::size_t s) { return boxes[s].upper[axis] < boxes[t].lower[axis]; });
    for (const std::size_t s : open) {
      if (boxes[s].overlaps(boxes[t]) && crossings.cross(s, t)) {
        found.push_back({static_cast<Index>(std::min(s, t)), static_cast<Index>(std::max(s, t))});
        if (found.size() == limit) break;
      }
    }
    if (found.size() == limit) break;
    open.push_back(t);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace pliant
