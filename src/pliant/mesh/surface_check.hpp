#pragma once

#include <array>
#include <string>
#include <vector>

#include "pliant/mesh/triangle_mesh.hpp"

namespace pliant {

/// What a person wants to know about a surface before filling it with tetrahedra.
struct SurfaceReport {
  Index edges = 0;
  Index open_edges = 0;      ///< of one triangle: a hole or a border
  Index crowded_edges = 0;   ///< of more than two triangles: the surface touches itself
  Index clashing_edges = 0;  ///< whose two triangles are oriented against each other
  Index flat_triangles = 0;  ///< of no area
  std::array<Index, 2> first_open = {-1, -1};
  std::array<Index, 2> first_crowded = {-1, -1};
  std::array<Index, 2> first_clashing = {-1, -1};
  std::vector<Index> piece;  ///< of each triangle: the part it belongs to, connected through edges, from 0
  Index pieces = 0;
  Vec3 lower = Vec3::Zero();
  Vec3 upper = Vec3::Zero();
  double area = 0;    ///< m^2
  double volume = 0;  ///< enclosed, m^3; negative when the triangles face inwards

  bool closed() const { return open_edges == 0 && crowded_edges == 0 && clashing_edges == 0; }
};

SurfaceReport examine_surface(const TriangleMesh& mesh);

/// Throws InputError that says why the surface encloses no volume, or what else is wrong with it.
void check_closed(const TriangleMesh& mesh, const SurfaceReport& report);

/// Gives vertices with equal coordinates one number, the lowest, and drops the others; triangles that collapse are
/// dropped too. Returns how many vertices went.
Index merge_equal_vertices(TriangleMesh& mesh);

}  // namespace pliant
