#include "pliant/mesh/quality.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "pliant/mesh/tet_geometry.hpp"

namespace pliant {

namespace {

constexpr double poor_quality = 0.1;

class Statistics {
 public:
  void add(double value) {
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
    sum_ += value;
    ++count_;
  }
  Extent extent() const {
    if (count_ == 0) return {};
    return {least_, sum_ / static_cast<double>(count_), most_};
  }

 private:
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
  double sum_ = 0;
  std::size_t count_ = 0;
};

std::vector<std::array<Index, 2>> unique_edges(std::span<const Tet> tets) {
  std::vector<std::array<Index, 2>> edges;
  edges.reserve(6 * tets.size());
  for (const Tet& tet : tets) {
    for (const auto& [a, b] : tet_edges) edges.push_back({std::min(tet[a], tet[b]), std::max(tet[a], tet[b])});
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

/// Union-find over the edges.
Index count_pieces(std::size_t vertices, std::span<const std::array<Index, 2>> edges) {
  std::vector<Index> parent(vertices);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](Index v) {
    while (parent[static_cast<std::size_t>(v)] != v) {
      Index& up = parent[static_cast<std::size_t>(v)];
      up = parent[static_cast<std::size_t>(up)];
      v = up;
    }
    return v;
  };
  auto pieces = static_cast<Index>(vertices);
  for (const auto& [a, b] : edges) {
    const Index ra = root(a);
    const Index rb = root(b);
    if (ra == rb) continue;
    parent[static_cast<std::size_t>(std::max(ra, rb))] = std::min(ra, rb);
    --pieces;
  }
  return pieces;
}

}  // namespace

double mean_ratio(const Vec3& v0, const Vec3& v1, const Vec3& v2, const Vec3& v3) {
  const std::array<const Vec3*, 4> v = {&v0, &v1, &v2, &v3};
  double squares = 0;
  for (const auto& [a, b] : tet_edges) squares += (*v[b] - *v[a]).squaredNorm();
  return 12 * std::pow(3 * std::abs(signed_volume(v0, v1, v2, v3)), 2.0 / 3) / squares;
}

std::array<double, 6> dihedral_angles(const Vec3& v0, const Vec3& v1, const Vec3& v2, const Vec3& v3) {
  const std::array<const Vec3*, 4> v = {&v0, &v1, &v2, &v3};
  std::array<double, 6> angles{};
  for (std::size_t e = 0; e < 6; ++e) {
    const auto [a, b] = tet_edges[e];
    std::array<Vec3, 2> normals;  // of the faces through the edge, from the edge towards the opposite corners
    std::size_t n = 0;
    const Vec3 edge = *v[b] - *v[a];
    for (std::size_t c = 0; c < 4; ++c) {
      if (c != a && c != b) normals[n++] = edge.cross(*v[c] - *v[a]);
    }
    angles[e] = std::atan2(normals[0].cross(normals[1]).norm(), normals[0].dot(normals[1]));
  }
  return angles;
}

double radius_edge_ratio(const Vec3& v0, const Vec3& v1, const Vec3& v2, const Vec3& v3) {
  // Seen from v0 the centre c satisfies 2 e_i . c = |e_i|^2; Cramer's rule.
  const Vec3 e1 = v1 - v0;
  const Vec3 e2 = v2 - v0;
  const Vec3 e3 = v3 - v0;
  const Vec3 sum = e1.squaredNorm() * e2.cross(e3) + e2.squaredNorm() * e3.cross(e1) + e3.squaredNorm() * e1.cross(e2);
  const double radius = sum.norm() / (2 * std::abs(e1.cross(e2).dot(e3)));
  const std::array<const Vec3*, 4> v = {&v0, &v1, &v2, &v3};
  double shortest = std::numeric_limits<double>::infinity();
  for (const auto& [a, b] : tet_edges) shortest = std::min(shortest, (*v[b] - *v[a]).squaredNorm());
  return radius / std::sqrt(shortest);
}

MeshQuality measure_quality(const TetMesh& mesh) {
  MeshQuality result;
  const auto vertices = mesh.vertices();
  if (vertices.empty()) return result;
  const auto vertex = [&](Index v) -> const Vec3& { return vertices[static_cast<std::size_t>(v)]; };
  result.vertices = static_cast<Index>(vertices.size());
  result.tets = static_cast<Index>(mesh.tets().size());
  result.surface_triangles = static_cast<Index>(mesh.surface().size());
  result.total_volume = mesh.total_volume();
  result.lower = result.upper = vertices.front();
  for (const Vec3& x : vertices) {
    result.lower = result.lower.cwiseMin(x);
    result.upper = result.upper.cwiseMax(x);
  }
  for (const auto& [a, b, c] : mesh.surface()) {
    result.surface_area += (vertex(b) - vertex(a)).cross(vertex(c) - vertex(a)).norm() / 2;
  }

  Statistics volume;
  Statistics quality;
  Statistics dihedral;
  double least = std::numeric_limits<double>::infinity();
  for (Index t = 0; t < result.tets; ++t) {
    const Tet& tet = mesh.tets()[static_cast<std::size_t>(t)];
    const double ratio = mean_ratio(vertex(tet[0]), vertex(tet[1]), vertex(tet[2]), vertex(tet[3]));
    for (double angle : dihedral_angles(vertex(tet[0]), vertex(tet[1]), vertex(tet[2]), vertex(tet[3]))) {
      dihedral.add(angle);
    }
    result.radius_edge =
        std::max(result.radius_edge, radius_edge_ratio(vertex(tet[0]), vertex(tet[1]), vertex(tet[2]), vertex(tet[3])));
    volume.add(mesh.volume(t));
    quality.add(ratio);
    if (ratio < least) least = ratio, result.worst = t;
    if (ratio < poor_quality) ++result.poor;
  }
  Statistics length;
  const auto edges = unique_edges(mesh.tets());
  for (const auto& [a, b] : edges) length.add((vertex(b) - vertex(a)).norm());
  result.edges = static_cast<Index>(edges.size());
  result.pieces = count_pieces(vertices.size(), edges);
  result.volume = volume.extent();
  result.quality = quality.extent();
  result.dihedral = dihedral.extent();
  result.edge_length = length.extent();
  return result;
}

std::vector<double> element_qualities(const TetMesh& mesh) {
  std::vector<double> qualities;
  qualities.reserve(mesh.tets().size());
  const auto vertex = [&](Index v) -> const Vec3& { return mesh.vertices()[static_cast<std::size_t>(v)]; };
  for (const auto& [a, b, c, d] : mesh.tets()) {
    qualities.push_back(mean_ratio(vertex(a), vertex(b), vertex(c), vertex(d)));
  }
  return qualities;
}

}  // namespace pliant
