// A ball: a cubic core of n x n x n cells whose sides bulge, and m layers of cells from each of its six sides to the
// sphere (disc.cpp says why, in the plane).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

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

  HexBlocks blocks() {
    core();
    shell();
    return std::move(blocks_);
  }

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
        add_vertex(layer == layers_ ? cube_direction(u) : (1 - t) * core_point(u) + t * cube_direction(u),
                   parity + layer);
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

  struct SurfacePoint {
    Vec3 u;
    Index parity;
  };

  Index n_;
  Index layers_;
  HexBlocks blocks_;
  std::vector<SurfacePoint> surface_;
  std::vector<Index> surface_number_;  ///< of each grid point of the core; -1 inside
};

}  // namespace

MeshData sphere(const SphereOptions& options) {
  constexpr const char* kind = "sphere";
  check_finite(kind, "centre", options.centre);
  check_length(kind, "radius", options.radius);
  check_count(kind, "cells", options.cells, 4);
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
