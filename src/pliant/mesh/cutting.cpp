// No element is ever divided, so none can become bad: the cut follows faces. A vertex on an open face is copied once
// for every group of its tets that still hang together through closed faces around it (its star). At the rim of a cut
// that ends inside the body the star still hangs together, and the vertex stays one.
#include "pliant/mesh/cutting.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

/// A face that two tets share.
struct Shared {
  Triangle corners;  ///< ascending
  Index a, b;        ///< tets
};

std::vector<Shared> shared_faces(const TetMesh& mesh) {
  struct Side {
    Triangle corners;
    Index tet;
    bool operator<(const Side& other) const { return std::tie(corners, tet) < std::tie(other.corners, other.tet); }
  };
  std::vector<Side> sides;
  sides.reserve(4 * mesh.tets().size());
  for (std::size_t e = 0; e < mesh.tets().size(); ++e)
    for (std::size_t skip = 0; skip < 4; ++skip) {
      Side side{{}, static_cast<Index>(e)};
      for (std::size_t k = 0, c = 0; k < 4; ++k)
        if (k != skip) side.corners[c++] = mesh.tets()[e][k];
      std::sort(side.corners.begin(), side.corners.end());
      sides.push_back(side);
    }
  std::sort(sides.begin(), sides.end());
  std::vector<Shared> shared;
  for (std::size_t s = 0; s + 1 < sides.size(); ++s)
    if (sides[s].corners == sides[s + 1].corners) shared.push_back({sides[s].corners, sides[s].tet, sides[s + 1].tet});
  return shared;
}

Vec3 centroid(const Tet& tet, std::span<const Vec3> vertices) {
  Vec3 c = Vec3::Zero();
  for (Index v : tet) c += vertices[at(v)] / 4;
  return c;
}

bool separates(const CutPlane& plane, const Vec3& a, const Vec3& b) {
  const double da = plane.normal.dot(a - plane.point), db = plane.normal.dot(b - plane.point);
  if ((da < 0) == (db < 0)) return false;
  if (!std::isfinite(plane.radius)) return true;
  const Vec3 crossing = a + (da / (da - db)) * (b - a);
  return (crossing - plane.point).norm() <= plane.radius;
}

/// Whether the segment passes through the triangle; a border belongs to one of two triangles that share it (up to
/// rounding), as signs of volumes are compared and zero counts as positive.
bool crosses(const Vec3& a, const Vec3& b, const Vec3& p, const Vec3& q, const Vec3& r) {
  const auto volume = [](const Vec3& u, const Vec3& v, const Vec3& w, const Vec3& t) {
    return (v - u).cross(w - u).dot(t - u);
  };
  if ((volume(p, q, r, a) < 0) == (volume(p, q, r, b) < 0)) return false;
  const bool s = volume(a, b, p, q) < 0;
  return (volume(a, b, q, r) < 0) == s && (volume(a, b, r, p) < 0) == s;
}

bool separates(const TriangleMesh& surface, const Vec3& a, const Vec3& b) {
  const Vec3 low = a.cwiseMin(b), high = a.cwiseMax(b);
  bool odd = false;
  for (const Triangle& t : surface.triangles) {
    const Vec3 &p = surface.vertices[at(t[0])], &q = surface.vertices[at(t[1])], &r = surface.vertices[at(t[2])];
    if ((p.cwiseMin(q).cwiseMin(r).array() > high.array()).any()) continue;
    if ((p.cwiseMax(q).cwiseMax(r).array() < low.array()).any()) continue;
    if (crosses(a, b, p, q, r)) odd = !odd;
  }
  return odd;
}

void check(const CutSurface& surface) {
  if (const auto* mesh = std::get_if<TriangleMesh>(&surface)) return check_triangle_mesh(*mesh);
  const auto& plane = std::get<CutPlane>(surface);
  if (!plane.point.allFinite() || !plane.normal.allFinite() || !(plane.normal.norm() > 0))
    throw InputError("a cutting plane needs a finite point and a normal that is not zero");
  if (!(plane.radius > 0)) throw InputError("the radius of a cut must be positive (m)");
}

Index find(std::vector<Index>& parent, Index i) {
  while (parent[at(i)] != i) i = parent[at(i)] = parent[at(parent[at(i)])];
  return i;
}

/// The smaller number becomes the name of both.
void join(std::vector<Index>& parent, Index i, Index j) {
  i = find(parent, i);
  j = find(parent, j);
  parent[at(std::max(i, j))] = std::min(i, j);
}

}  // namespace

CutMesh cut_mesh(const TetMesh& mesh, const CutSurface& surface, std::span<const Vec3> where) {
  check(surface);
  const std::vector<Shared> shared = shared_faces(mesh);
  std::vector<Vec3> centroids(mesh.tets().size());
  for (std::size_t e = 0; e < centroids.size(); ++e)
    centroids[e] = centroid(mesh.tets()[e], where.empty() ? mesh.vertices() : where);
  std::vector<std::uint8_t> open(shared.size(), 0), touched(mesh.vertices().size(), 0);
  CutMesh result;
  for (std::size_t s = 0; s < shared.size(); ++s) {
    const Vec3 &a = centroids[at(shared[s].a)], &b = centroids[at(shared[s].b)];
    if (!std::visit([&](const auto& which) { return separates(which, a, b); }, surface)) continue;
    open[s] = 1;
    ++result.faces;
    for (Index v : shared[s].corners) touched[at(v)] = 1;
  }

  MeshData data = mesh.data();
  result.origin.resize(data.vertices.size());
  std::iota(result.origin.begin(), result.origin.end(), 0);

  // Corners (tet, which) of touched vertices, numbered; joined through faces around the vertex, once by all faces and
  // once by the closed ones.
  std::vector<Index> corner_of(4 * data.tets.size(), -1);
  std::vector<std::pair<Index, Index>> corners;  // vertex, number of the corner
  for (std::size_t e = 0; e < data.tets.size(); ++e)
    for (std::size_t k = 0; k < 4; ++k)
      if (touched[at(data.tets[e][k])]) {
        corner_of[4 * e + k] = static_cast<Index>(corners.size());
        corners.emplace_back(data.tets[e][k], static_cast<Index>(corners.size()));
      }
  std::vector<Index> before(corners.size(), 0);
  std::iota(before.begin(), before.end(), 0);
  std::vector<Index> after = before;
  const auto corner = [&](Index tet, Index vertex) {
    for (std::size_t k = 0; k < 4; ++k)
      if (mesh.tets()[at(tet)][k] == vertex) return corner_of[4 * at(tet) + k];
    return Index{-1};
  };
  for (std::size_t s = 0; s < shared.size(); ++s)
    for (Index v : shared[s].corners) {
      if (!touched[at(v)]) continue;
      const Index i = corner(shared[s].a, v), j = corner(shared[s].b, v);
      join(before, i, j);
      if (!open[s]) join(after, i, j);
    }

  // A group that was apart before the cut, too, keeps sharing the vertex: only what the cut separates is copied.
  std::vector<Index> copy_of(corners.size(), -1);  // by the name of an `after` group
  for (Index c = 0; c < static_cast<Index>(corners.size()); ++c) {
    const Index group = find(after, c);
    if (copy_of[at(group)] < 0) {
      const Index vertex = corners[at(c)].first;
      if (group == find(before, group)) {
        copy_of[at(group)] = vertex;
      } else {
        copy_of[at(group)] = static_cast<Index>(data.vertices.size());
        const Vec3 position = data.vertices[at(vertex)];
        data.vertices.push_back(position);
        result.origin.push_back(vertex);
      }
    }
  }
  for (std::size_t e = 0; e < data.tets.size(); ++e)
    for (std::size_t k = 0; k < 4; ++k)
      if (const Index c = corner_of[4 * e + k]; c >= 0) data.tets[e][k] = copy_of[at(find(after, c))];
  std::vector<std::vector<Index>> copies(mesh.vertices().size());
  for (std::size_t v = mesh.vertices().size(); v < result.origin.size(); ++v)
    copies[at(result.origin[v])].push_back(static_cast<Index>(v));
  for (auto& [name, set] : data.sets) {
    const std::size_t count = set.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<Index>& more = copies[at(set[i])];
      set.insert(set.end(), more.begin(), more.end());
    }
    std::sort(set.begin(), set.end());
  }
  result.mesh = TetMesh(std::move(data));
  return result;
}

std::vector<Index> face_connected_pieces(const TetMesh& mesh, Index& count) {
  std::vector<Index> parent(mesh.tets().size());
  std::iota(parent.begin(), parent.end(), 0);
  for (const Shared& face : shared_faces(mesh)) join(parent, face.a, face.b);
  std::vector<Index> piece(parent.size(), -1);
  count = 0;
  for (Index e = 0; e < static_cast<Index>(parent.size()); ++e) {
    const Index root = find(parent, e);
    piece[at(e)] = root == e ? count++ : piece[at(root)];
  }
  return piece;
}

}  // namespace pliant
