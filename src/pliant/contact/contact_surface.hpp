#pragma once

#include <array>
#include <span>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

using Edge = std::array<Index, 2>;

/// What can touch, over one array of positions: triangles, their edges and points, and loose edges and points (ropes).
/// Positions belong to groups (bodies, obstacles), and pairs of groups that never touch are told apart here.
struct ContactSurface {
  std::vector<Index> points;  ///< positions on the surface, ascending
  std::vector<Edge> edges;    ///< each once, smaller end first, ascending
  std::vector<Triangle> triangles;
  bool has_loose_edges = false;  ///< some belong to no triangle
  std::vector<Index> group;      ///< of each position
  Index groups = 0;
  std::vector<std::uint8_t> touches;  ///< groups x groups, symmetric: 1 where two may touch, itself included

  bool may_touch(Index position_a, Index position_b) const {
    return touches[static_cast<std::size_t>(group[static_cast<std::size_t>(position_a)]) *
                       static_cast<std::size_t>(groups) +
                   static_cast<std::size_t>(group[static_cast<std::size_t>(position_b)])] != 0;
  }
};

/// The surface with the edges and points of its triangles; all pairs of groups touch. `group` has an entry for each
/// position, which triangles, edges and points index.
ContactSurface make_contact_surface(std::vector<Triangle> triangles, std::vector<Index> group,
                                    std::span<const Edge> loose_edges = {}, std::span<const Index> loose_points = {});

/// Whether two primitives of one surface have a vertex in common.
template <std::size_t N, std::size_t M>
bool share_vertex(const std::array<Index, N>& a, const std::array<Index, M>& b) {
  for (Index i : a)
    for (Index j : b)
      if (i == j) return true;
  return false;
}

}  // namespace pliant
