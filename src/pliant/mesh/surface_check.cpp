#include "pliant/mesh/surface_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <numeric>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

/// An edge of a triangle, low vertex first.
struct HalfEdge {
  Index low;
  Index high;
  Index triangle;
  bool forward;  ///< the triangle runs from low to high
};

std::vector<HalfEdge> sorted_edges(const TriangleMesh& mesh) {
  std::vector<HalfEdge> edges;
  edges.reserve(3 * mesh.triangles.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = mesh.triangles[t][k];
      const Index b = mesh.triangles[t][(k + 1) % 3];
      edges.push_back({std::min(a, b), std::max(a, b), static_cast<Index>(t), a < b});
    }
  }
  std::sort(edges.begin(), edges.end(), [](const HalfEdge& a, const HalfEdge& b) {
    if (a.low != b.low) return a.low < b.low;
    if (a.high != b.high) return a.high < b.high;
    return a.triangle < b.triangle;
  });
  return edges;
}

Index root(std::vector<Index>& parent, Index i) {
  while (parent[static_cast<std::size_t>(i)] != i) {
    Index& up = parent[static_cast<std::size_t>(i)];
    up = parent[static_cast<std::size_t>(up)];
    i = up;
  }
  return i;
}

}  // namespace

SurfaceReport examine_surface(const TriangleMesh& mesh) {
  SurfaceReport report;
  std::vector<Index> parent(mesh.triangles.size());
  std::iota(parent.begin(), parent.end(), 0);
  const std::vector<HalfEdge> edges = sorted_edges(mesh);
  for (std::size_t i = 0; i < edges.size();) {
    std::size_t end = i + 1;
    while (end < edges.size() && edges[end].low == edges[i].low && edges[end].high == edges[i].high) ++end;
    const std::array<Index, 2> ends = {edges[i].low, edges[i].high};
    ++report.edges;
    const auto count = [&](Index& counter, std::array<Index, 2>& first) {
      if (counter++ == 0) first = ends;
    };
    if (end - i == 1) count(report.open_edges, report.first_open);
    if (end - i > 2) count(report.crowded_edges, report.first_crowded);
    if (end - i == 2 && edges[i].forward == edges[i + 1].forward) count(report.clashing_edges, report.first_clashing);
    for (std::size_t k = i + 1; k < end; ++k) {
      const Index a = root(parent, edges[i].triangle);
      const Index b = root(parent, edges[k].triangle);
      parent[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    }
    i = end;
  }
  std::vector<Index> number(mesh.triangles.size(), -1);
  report.piece.resize(mesh.triangles.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto r = static_cast<std::size_t>(root(parent, static_cast<Index>(t)));
    if (number[r] < 0) number[r] = report.pieces++;
    report.piece[t] = number[r];
  }

  if (!mesh.vertices.empty()) report.lower = report.upper = mesh.vertices.front();
  for (const Vec3& x : mesh.vertices) {
    report.lower = report.lower.cwiseMin(x);
    report.upper = report.upper.cwiseMax(x);
  }
  const Vec3 centre = (report.lower + report.upper) / 2;  // cones to it lose fewer digits than cones to the origin
  for (const auto& [a, b, c] : mesh.triangles) {
    const Vec3 x = mesh.vertices[static_cast<std::size_t>(a)] - centre;
    const Vec3 y = mesh.vertices[static_cast<std::size_t>(b)] - centre;
    const Vec3 z = mesh.vertices[static_cast<std::size_t>(c)] - centre;
    const double area = (y - x).cross(z - x).norm() / 2;
    if (area == 0) ++report.flat_triangles;
    report.area += area;
    report.volume += x.cross(y).dot(z) / 6;
  }
  return report;
}

void check_closed(const TriangleMesh& mesh, const SurfaceReport& report) {
  check_triangle_mesh(mesh);
  std::vector<std::string> faults;
  const auto fault = [&](Index count, const std::array<Index, 2>& first, const char* what) {
    if (count > 0)
      faults.push_back(
          fmt::format("{} edges {} (the first one between the vertices {} and {})", count, what, first[0], first[1]));
  };
  fault(report.open_edges, report.first_open, "belong to one triangle only: there are holes or borders");
  fault(report.crowded_edges, report.first_crowded, "belong to more than two triangles: the surface touches itself");
  fault(report.clashing_edges, report.first_clashing, "have triangles that are oriented against each other");
  if (report.flat_triangles > 0) faults.push_back(fmt::format("{} triangles have no area", report.flat_triangles));
  if (!faults.empty()) {
    throw InputError(
        fmt::format("{}: the surface cannot be filled: {}. Repair it, for example with MeshLab or Blender.",
                    mesh.source, fmt::join(faults, "; ")));
  }
  if (!(std::abs(report.volume) > 0)) throw InputError(mesh.source + ": the surface encloses no volume.");
}

Index merge_equal_vertices(TriangleMesh& mesh) {
  std::vector<Index> order(mesh.vertices.size());
  std::iota(order.begin(), order.end(), 0);
  const auto vertex = [&](Index v) -> const Vec3& { return mesh.vertices[static_cast<std::size_t>(v)]; };
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    for (int k = 0; k < 3; ++k) {
      if (vertex(a)[k] != vertex(b)[k]) return vertex(a)[k] < vertex(b)[k];
    }
    return a < b;
  });
  std::vector<Index> first(mesh.vertices.size());  // the lowest vertex at the same place
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same = i > 0 && vertex(order[i]) == vertex(order[i - 1]);
    first[static_cast<std::size_t>(order[i])] = same ? first[static_cast<std::size_t>(order[i - 1])] : order[i];
  }
  std::vector<Index> number(mesh.vertices.size());
  Index kept = 0;
  for (std::size_t v = 0; v < first.size(); ++v) {
    if (first[v] == static_cast<Index>(v)) {
      mesh.vertices[static_cast<std::size_t>(kept)] = mesh.vertices[v];
      number[v] = kept++;
    } else {
      number[v] = number[static_cast<std::size_t>(first[v])];
    }
  }
  const auto gone = static_cast<Index>(mesh.vertices.size()) - kept;
  mesh.vertices.resize(static_cast<std::size_t>(kept));
  for (Triangle& triangle : mesh.triangles) {
    for (Index& v : triangle) v = number[static_cast<std::size_t>(v)];
  }
  std::erase_if(mesh.triangles, [](const Triangle& t) { return t[0] == t[1] || t[1] == t[2] || t[2] == t[0]; });
  for (auto& [name, members] : mesh.sets) {
    for (Index& v : members) v = number[static_cast<std::size_t>(v)];
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
  }
  return gone;
}

}  // namespace pliant
