#include "pliant/mesh/lattice_fill.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "pliant/base/error.hpp"
#include "pliant/mesh/quality.hpp"

namespace pliant {

namespace {

using Cell = std::array<int, 3>;

/// Points at origin + spacing (i, j, k).
struct Grid {
  Vec3 origin;
  double spacing = 1;
  Cell count = {0, 0, 0};

  Vec3 at(const Cell& c) const { return origin + spacing * Vec3(c[0], c[1], c[2]); }
  std::size_t number(const Cell& c) const {
    return (static_cast<std::size_t>(c[2]) * static_cast<std::size_t>(count[1]) + static_cast<std::size_t>(c[1])) *
               static_cast<std::size_t>(count[0]) +
           static_cast<std::size_t>(c[0]);
  }
  std::size_t size() const { return number({0, 0, count[2]}); }
};

struct Box3 {
  Vec3 lower, upper;
};

Box3 box_of(const TriangleMesh& surface) {
  Box3 box{surface.vertices.front(), surface.vertices.front()};
  for (const Vec3& p : surface.vertices) box = {box.lower.cwiseMin(p), box.upper.cwiseMax(p)};
  return box;
}

/// Whether each point of a grid is inside: a line of points along x enters where it crosses a triangle that faces
/// backwards, and leaves where one faces forwards. Pieces may overlap; those that face inwards are cavities.
std::vector<std::uint8_t> inside_of(const TriangleMesh& surface, const Grid& grid) {
  std::vector<std::vector<std::pair<double, int>>> crossings(static_cast<std::size_t>(grid.count[1]) *
                                                             static_cast<std::size_t>(grid.count[2]));
  for (const Triangle& t : surface.triangles) {
    Vec3 p[3];
    for (std::size_t k = 0; k < 3; ++k)
      p[k] = (surface.vertices[static_cast<std::size_t>(t[k])] - grid.origin) / grid.spacing;
    const double area = (p[1].y() - p[0].y()) * (p[2].z() - p[0].z()) - (p[1].z() - p[0].z()) * (p[2].y() - p[0].y());
    if (area == 0) continue;
    const auto least = [&](int axis) { return std::ceil(std::min({p[0][axis], p[1][axis], p[2][axis]})); };
    const auto most = [&](int axis) { return std::floor(std::max({p[0][axis], p[1][axis], p[2][axis]})); };
    for (int k = static_cast<int>(least(2)); k <= static_cast<int>(most(2)); ++k)
      for (int j = static_cast<int>(least(1)); j <= static_cast<int>(most(1)); ++j) {
        double share[3];
        for (int c = 0; c < 3; ++c) {
          const Vec3 &a = p[(c + 1) % 3], &b = p[(c + 2) % 3];
          share[c] = ((a.y() - j) * (b.z() - k) - (a.z() - k) * (b.y() - j)) / area;
        }
        if (std::min({share[0], share[1], share[2]}) < 0) continue;
        crossings[static_cast<std::size_t>(k) * static_cast<std::size_t>(grid.count[1]) + static_cast<std::size_t>(j)]
            .emplace_back(share[0] * p[0].x() + share[1] * p[1].x() + share[2] * p[2].x(), area < 0 ? 1 : -1);
      }
  }
  std::vector<std::uint8_t> inside(grid.size(), 0);
  for (std::size_t line = 0; line < crossings.size(); ++line) {
    std::sort(crossings[line].begin(), crossings[line].end());
    int depth = 0;
    auto next = crossings[line].begin();
    for (int i = 0; i < grid.count[0]; ++i) {
      for (; next != crossings[line].end() && next->first < i; ++next) depth += next->second;
      inside[line * static_cast<std::size_t>(grid.count[0]) + static_cast<std::size_t>(i)] = depth > 0;
    }
  }
  return inside;
}

/// The body-centred cubic lattice: corners and centres of cubes. A tetrahedron has the centres of two cubes that share
/// a face and an edge of that face.
struct Lattice {
  Grid corners, centres;

  Lattice(const Box3& box, double spacing) {
    // By shares of a cell that no surface is likely to have: lines do not pass through its edges.
    corners.origin = box.lower - spacing * Vec3(1.3819660113, 1.4142135624, 1.2679491924);
    corners.spacing = spacing;
    for (int k = 0; k < 3; ++k)
      corners.count[static_cast<std::size_t>(k)] =
          static_cast<int>(std::ceil((box.upper[k] - corners.origin[k]) / spacing)) + 3;
    centres = corners;
    centres.origin += Vec3::Constant(spacing / 2);
  }

  /// Calls use(vertices) for the four tetrahedra between a cube and the next along an axis; vertices are numbers of
  /// corners, or, behind these, of centres, and turn the right way.
  template <class Use>
  void for_tets(const Cell& cell, int axis, Use&& use) const {
    Cell next = cell;
    ++next[static_cast<std::size_t>(axis)];
    const auto u = static_cast<std::size_t>((axis + 1) % 3), v = static_cast<std::size_t>((axis + 2) % 3);
    std::array<Cell, 4> face = {next, next, next, next};
    ++face[1][u], ++face[2][u], ++face[2][v], ++face[3][v];
    const auto behind = static_cast<Index>(corners.size());
    for (std::size_t e = 0; e < 4; ++e)
      use(Tet{behind + static_cast<Index>(centres.number(cell)), behind + static_cast<Index>(centres.number(next)),
              static_cast<Index>(corners.number(face[e])), static_cast<Index>(corners.number(face[(e + 1) % 4]))});
  }
  Vec3 position(Index vertex) const {
    const auto behind = static_cast<Index>(corners.size());
    const Grid& grid = vertex < behind ? corners : centres;
    const Index number = vertex < behind ? vertex : vertex - behind;
    const Index nx = grid.count[0], ny = grid.count[1];
    return grid.at({number % nx, number / nx % ny, number / nx / ny});
  }
};

bool holds(const std::array<Vec3, 4>& x, const Vec3& p) {
  const auto volume = [](const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
    return (b - a).dot((c - a).cross(d - a));
  };
  return volume(p, x[1], x[2], x[3]) >= 0 && volume(x[0], p, x[2], x[3]) >= 0 && volume(x[0], x[1], p, x[3]) >= 0 &&
         volume(x[0], x[1], x[2], p) >= 0;
}

std::vector<Tet> kept_tets(const TriangleMesh& surface, const Lattice& lattice) {
  std::vector<std::uint8_t> inside = inside_of(surface, lattice.corners);
  const std::vector<std::uint8_t> centres = inside_of(surface, lattice.centres);
  inside.insert(inside.end(), centres.begin(), centres.end());
  std::vector<Tet> kept;
  const Cell& count = lattice.corners.count;
  const auto is_inside = [&](Index v) { return inside[static_cast<std::size_t>(v)] != 0; };
  for (int k = 0; k + 2 < count[2]; ++k)
    for (int j = 0; j + 2 < count[1]; ++j)
      for (int i = 0; i + 2 < count[0]; ++i)
        for (int axis = 0; axis < 3; ++axis)
          lattice.for_tets({i, j, k}, axis, [&](const Tet& t) {
            if (std::any_of(t.begin(), t.end(), is_inside)) kept.push_back(t);
          });
  // What is too thin for a corner to be inside.
  for (const Vec3& p : surface.vertices) {
    const Vec3 local = (p - lattice.corners.origin) / lattice.corners.spacing;
    const Cell cell = {static_cast<int>(local.x()), static_cast<int>(local.y()), static_cast<int>(local.z())};
    for (int axis = 0; axis < 3; ++axis)
      for (int back = 0; back < 2; ++back) {
        Cell from = cell;
        from[static_cast<std::size_t>(axis)] -= back;
        lattice.for_tets(from, axis, [&](const Tet& t) {
          if (std::any_of(t.begin(), t.end(), is_inside)) return;
          std::array<Vec3, 4> x;
          for (std::size_t c = 0; c < 4; ++c) x[c] = lattice.position(t[c]);
          if (holds(x, p)) kept.push_back(t);
        });
      }
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return kept;
}

/// Places all over a surface, found by where they are.
class Samples {
 public:
  Samples(const TriangleMesh& surface, double reach) : reach_(reach) {
    constexpr int kAcross = 4;  // samples on the way a vertex may have to go
    for (const Triangle& t : surface.triangles) {
      Vec3 p[3];
      for (std::size_t k = 0; k < 3; ++k) p[k] = surface.vertices[static_cast<std::size_t>(t[k])];
      const double longest = std::max({(p[1] - p[0]).norm(), (p[2] - p[1]).norm(), (p[0] - p[2]).norm()});
      const int n = std::max(1, static_cast<int>(std::ceil(kAcross * longest / reach)));
      for (int a = 0; a <= n; ++a)
        for (int b = 0; a + b <= n; ++b) add(p[0] + a * (p[1] - p[0]) / n + b * (p[2] - p[0]) / n);
    }
  }

  /// The nearest within reach, or the place itself.
  Vec3 nearest(const Vec3& p) const {
    Vec3 best = p;
    double least = reach_ * reach_;
    const Cell cell = cell_of(p);
    for (int k = -1; k <= 1; ++k)
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i) {
          const auto found = cells_.find(key({cell[0] + i, cell[1] + j, cell[2] + k}));
          if (found == cells_.end()) continue;
          for (const Vec3& sample : found->second)
            if (const double d2 = (sample - p).squaredNorm(); d2 < least) least = d2, best = sample;
        }
    return best;
  }

 private:
  Cell cell_of(const Vec3& p) const {
    return {static_cast<int>(std::floor(p.x() / reach_)), static_cast<int>(std::floor(p.y() / reach_)),
            static_cast<int>(std::floor(p.z() / reach_))};
  }
  static std::uint64_t key(const Cell& c) {
    const auto part = [](int i) { return static_cast<std::uint64_t>(i + (1 << 20)) & 0x1fffff; };
    return part(c[0]) | part(c[1]) << 21 | part(c[2]) << 42;
  }
  void add(const Vec3& p) { cells_[key(cell_of(p))].push_back(p); }

  double reach_;
  std::unordered_map<std::uint64_t, std::vector<Vec3>> cells_;
};

/// Draws the vertices of the outside to the surface, none so far that an element around it becomes bad.
void draw_to_surface(const TriangleMesh& surface, double spacing, MeshData& mesh) {
  constexpr double kGood = 0.3;
  constexpr int kPasses = 3;
  const Samples samples(surface, spacing);
  std::vector<std::vector<std::size_t>> around(mesh.vertices.size());
  std::map<std::array<Index, 3>, int> faces;
  for (std::size_t t = 0; t < mesh.tets.size(); ++t)
    for (std::size_t k = 0; k < 4; ++k) {
      around[static_cast<std::size_t>(mesh.tets[t][k])].push_back(t);
      std::array<Index, 3> face = {mesh.tets[t][(k + 1) % 4], mesh.tets[t][(k + 2) % 4], mesh.tets[t][(k + 3) % 4]};
      std::sort(face.begin(), face.end());
      ++faces[face];
    }
  std::vector<Index> outside;
  for (const auto& [face, count] : faces)
    if (count == 1) outside.insert(outside.end(), face.begin(), face.end());
  std::sort(outside.begin(), outside.end());
  outside.erase(std::unique(outside.begin(), outside.end()), outside.end());
  const auto is_good = [&](std::size_t t) {
    Vec3 x[4];
    for (std::size_t k = 0; k < 4; ++k) x[k] = mesh.vertices[static_cast<std::size_t>(mesh.tets[t][k])];
    return (x[1] - x[0]).dot((x[2] - x[0]).cross(x[3] - x[0])) > 0 && mean_ratio(x[0], x[1], x[2], x[3]) > kGood;
  };
  for (int pass = 0; pass < kPasses; ++pass)
    for (Index v : outside) {
      Vec3& x = mesh.vertices[static_cast<std::size_t>(v)];
      const Vec3 from = x, way = samples.nearest(from) - from;
      const auto& tets = around[static_cast<std::size_t>(v)];
      for (double share : {1.0, 0.5, 0.25, 0.0}) {
        x = from + share * way;
        if (share == 0 || std::all_of(tets.begin(), tets.end(), is_good)) break;
      }
    }
}

}  // namespace

MeshData lattice_fill(const TriangleMesh& surface, Index tets) {
  constexpr Index kFewest = 50, kMost = 10'000'000;
  if (tets < kFewest || tets > kMost)
    throw InputError(
        fmt::format("{}: {} tetrahedra cannot be made of it; ask for {} to {}", surface.source, tets, kFewest, kMost));
  const Box3 box = box_of(surface);
  // Fewer tetrahedra the wider the lattice, if not quite steadily: by halves, and the nearest of those that came up.
  double fine = (box.upper - box.lower).norm() / 400, coarse = (box.upper - box.lower).norm() / 1.5;
  double best_spacing = coarse;
  std::vector<Tet> best;
  for (int round = 0; round < 12; ++round) {
    const double spacing = std::sqrt(fine * coarse);
    std::vector<Tet> kept = kept_tets(surface, Lattice(box, spacing));
    const auto off = [&](const std::vector<Tet>& list) {
      return std::abs(std::log((static_cast<double>(list.size()) + 1) / tets));
    };
    (kept.size() > static_cast<std::size_t>(tets) ? fine : coarse) = spacing;
    if (best.empty() || off(kept) < off(best)) best = std::move(kept), best_spacing = spacing;
  }
  const Lattice lattice(box, best_spacing);
  MeshData mesh;
  mesh.source = surface.source;
  std::map<Index, Index> number;
  for (Tet& t : best) {
    for (Index& v : t) {
      const auto [found, is_new] = number.try_emplace(v, static_cast<Index>(mesh.vertices.size()));
      if (is_new) mesh.vertices.push_back(lattice.position(v));
      v = found->second;
    }
  }
  mesh.tets = std::move(best);
  draw_to_surface(surface, best_spacing, mesh);
  return mesh;
}

}  // namespace pliant
