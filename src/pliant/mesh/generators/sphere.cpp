// A ball: a cubic core of n x n x n cells whose sides bulge, and m layers of cells from each of its six sides to the
// sphere (disc.cpp says why, in the plane). A hollow ball is the layers alone, between two spheres.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "pliant/base/error.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/generators/disc.hpp"

namespace pliant {

namespace {

constexpr double ball_core_radius = 0.62;
constexpr double ball_bulge = 0.4;

/// Unit vector through a point of the boundary of the cube [-1, 1]^3, equiangular.
Vec3 cube_direction(const Vec3& u) { return (std::numbers::pi / 4 * u).array().tan().matrix().normalized(); }

Vec3 core_point(const Vec3& u) {
  const double r = u.cwiseAbs().maxCoeff();
  if (r == 0) return Vec3::Zero();
  return ball_core_radius * ((1 - ball_bulge) / std::numbers::sqrt3 * u + ball_bulge * r * cube_direction(u / r));
}

class Ball {
 public:
  explicit Ball(Index cells) : n_(core_cells(cells)), layers_((cells - n_) / 2) {}
  /// A hollow one, whose cavity has the radius `inner` < 1.
  Ball(Index cells, Index layers, double inner) : n_(core_cells(cells)), layers_(layers), inner_(inner) {}

  HexBlocks blocks() {
    core();
    shell();
    if (inner_ > 0) hollow_out();
    return std::move(blocks_);
  }
  /// Vertices on each sphere of a hollow ball: those of the cavity come first, those of the outside last.
  std::size_t surface_count() const { return surface_.size(); }

 private:
  Index grid(Index i, Index j, Index k) const { return i + (n_ + 1) * (j + (n_ + 1) * k); }

  void add_vertex(const Vec3& x, Index parity) {
    blocks_.vertices.push_back(x);
    blocks_.odd.push_back(static_cast<std::uint8_t>(parity % 2));
  }

  /// The grid of the core, and the list of its points on the surface.
  void core() {
    surface_number_.assign(static_cast<std::size_t>(grid(n_, n_, n_)) + 1, -1);
    for (Index k = 0; k <= n_; ++k) {
      for (Index j = 0; j <= n_; ++j) {
        for (Index i = 0; i <= n_; ++i) {
          const Vec3 u(2.0 * i / n_ - 1, 2.0 * j / n_ - 1, 2.0 * k / n_ - 1);
          add_vertex(core_point(u), i + j + k);
          if (u.cwiseAbs().maxCoeff() < 1) continue;
          surface_number_[static_cast<std::size_t>(grid(i, j, k))] = static_cast<Index>(surface_.size());
          surface_.push_back({u, i + j + k});
        }
      }
    }
    for (Index k = 0; k < n_; ++k) {
      for (Index j = 0; j < n_; ++j) {
        for (Index i = 0; i < n_; ++i) {
          std::array<Index, 8> cell{};
          for (unsigned c = 0; c < 8; ++c) {
            cell[c] = grid(i + static_cast<Index>(c & 1U), j + static_cast<Index>((c >> 1U) & 1U),
                           k + static_cast<Index>((c >> 2U) & 1U));
          }
          blocks_.cells.push_back(cell);
        }
      }
    }
  }

  void shell() {
    const auto core_count = static_cast<Index>(blocks_.vertices.size());
    for (Index layer = 1; layer <= layers_; ++layer) {
      const double t = static_cast<double>(layer) / layers_;
      for (const auto& [u, parity] : surface_) {
        const Vec3 inside = inner_ > 0 ? Vec3(inner_ * cube_direction(u)) : core_point(u);
        add_vertex(layer == layers_ ? cube_direction(u) : (1 - t) * inside + t * cube_direction(u), parity + layer);
      }
    }
    const auto vertex = [&](const std::array<Index, 3>& at, Index layer) {
      const Index core_vertex = grid(at[0], at[1], at[2]);
      if (layer == 0) return core_vertex;
      return core_count + (layer - 1) * static_cast<Index>(surface_.size()) +
             surface_number_[static_cast<std::size_t>(core_vertex)];
    };
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (Index side : {0, n_}) {
        // The two directions along the side, in the order that makes the third one point outwards.
        const std::size_t first = (axis + (side == 0 ? 2 : 1)) % 3;
        const std::size_t second = 3 - axis - first;
        for (Index layer = 0; layer < layers_; ++layer) {
          for (Index b = 0; b < n_; ++b) {
            for (Index a = 0; a < n_; ++a) {
              std::array<Index, 8> cell{};
              for (unsigned c = 0; c < 8; ++c) {
                std::array<Index, 3> at{};
                at[axis] = side;
                at[first] = a + static_cast<Index>(c & 1U);
                at[second] = b + static_cast<Index>((c >> 1U) & 1U);
                cell[c] = vertex(at, layer + static_cast<Index>((c >> 2U) & 1U));
              }
              blocks_.cells.push_back(cell);
            }
          }
        }
      }
    }
  }

  /// Leaves only the layers: the core's cells go, and of its vertices stay those of its surface, on the inner sphere.
  void hollow_out() {
    const std::size_t core_count = surface_number_.size(), inside = at(n_) * at(n_) * at(n_);
    HexBlocks wall;
    for (const auto& [u, parity] : surface_) {
      wall.vertices.push_back(inner_ * cube_direction(u));
      wall.odd.push_back(static_cast<std::uint8_t>(parity % 2));
    }
    for (std::size_t v = core_count; v < blocks_.vertices.size(); ++v) {
      wall.vertices.push_back(blocks_.vertices[v]);
      wall.odd.push_back(blocks_.odd[v]);
    }
    const auto shift = static_cast<Index>(core_count - surface_.size());
    for (std::size_t c = inside; c < blocks_.cells.size(); ++c) {
      std::array<Index, 8> cell = blocks_.cells[c];
      for (Index& v : cell) v = at(v) < core_count ? surface_number_[at(v)] : v - shift;
      wall.cells.push_back(cell);
    }
    blocks_ = std::move(wall);
  }

  struct SurfacePoint {
    Vec3 u;
    Index parity;
  };

  Index n_;
  Index layers_;
  double inner_ = 0;
  HexBlocks blocks_;
  std::vector<SurfacePoint> surface_;
  std::vector<Index> surface_number_;  ///< of each grid point of the core; -1 inside
};

/// The numbers [begin, end).
std::vector<Index> range(std::size_t begin, std::size_t end) {
  std::vector<Index> numbers;
  for (std::size_t i = begin; i < end; ++i) numbers.push_back(static_cast<Index>(i));
  return numbers;
}

MeshData hollow_sphere(const SphereOptions& options) {
  constexpr const char* kind = "sphere";
  check_length(kind, "inner_radius", options.inner_radius);
  check_count(kind, "layers", options.layers, 1);
  if (!(options.inner_radius < options.radius))
    throw InputError(fmt::format("sphere: inner_radius is {} and radius {}; the inner one must be the smaller.",
                                 options.inner_radius, options.radius));
  const double n = core_cells(options.cells), cells = 6 * n * n * options.layers;
  check_total(kind, (6 * n * n + 2) * (options.layers + 1.0), 5 * cells);
  Ball ball(options.cells, options.layers, options.inner_radius / options.radius);
  MeshData data = cut_into_tets(ball.blocks());
  for (Vec3& x : data.vertices) x = options.centre + options.radius * x;
  data.source = fmt::format("hollow sphere of {} cells across, {} through its wall", options.cells, options.layers);
  data.sets["inner"] = range(0, ball.surface_count());
  data.sets["outer"] = range(data.vertices.size() - ball.surface_count(), data.vertices.size());
  add_usual_sets(data);
  return data;
}

}  // namespace

MeshData sphere(const SphereOptions& options) {
  constexpr const char* kind = "sphere";
  check_finite(kind, "centre", options.centre);
  check_length(kind, "radius", options.radius);
  check_count(kind, "cells", options.cells, 4);
  if (options.inner_radius != 0) return hollow_sphere(options);
  const double n = core_cells(options.cells);
  const double cells = n * n * n + 3 * n * n * (options.cells - n);
  check_total(kind, cells + 3 * n * n + 6 * n + 4, 5 * cells);

  MeshData data = cut_into_tets(Ball(options.cells).blocks());
  for (Vec3& x : data.vertices) x = options.centre + options.radius * x;
  data.source = fmt::format("sphere of {} cells across", options.cells);
  add_usual_sets(data);
  return data;
}

}  // namespace pliant
