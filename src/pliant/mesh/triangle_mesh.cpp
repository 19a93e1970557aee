#include "pliant/mesh/triangle_mesh.hpp"

#include <fmt/format.h>

#include "pliant/base/error.hpp"

namespace pliant {

void check_triangle_mesh(const TriangleMesh& mesh) {
  if (mesh.triangles.empty()) throw InputError(mesh.source + ": the surface has no triangles.");
  const auto count = static_cast<std::int64_t>(mesh.vertices.size());
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    const Vec3& x = mesh.vertices[v];
    if (x.allFinite()) continue;
    throw InputError(fmt::format("{}: vertex {} has a coordinate that is not a finite number ({} {} {}).", mesh.source,
                                 v, x[0], x[1], x[2]));
  }
  const auto check = [&](Index v, const std::string& what) {
    if (v >= 0 && v < count) return;
    throw InputError(
        fmt::format("{}: {} names vertex {}, but the vertices are numbered 0 to {}.", mesh.source, what, v, count - 1));
  };
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [a, b, c] = mesh.triangles[t];
    for (Index v : {a, b, c}) {
      if (v < 0 || v >= count) check(v, fmt::format("triangle {}", t));
    }
    if (a == b || b == c || c == a) {
      throw InputError(
          fmt::format("{}: triangle {} (vertices {} {} {}) uses a vertex twice; remove it.", mesh.source, t, a, b, c));
    }
  }
  for (const auto& [name, members] : mesh.sets) {
    for (Index v : members) check(v, fmt::format("the vertex set \"{}\"", name));
  }
}

}  // namespace pliant
