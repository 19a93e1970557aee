#pragma once

#include <map>
#include <string>
#include <vector>

#include "pliant/mesh/tet_mesh.hpp"

namespace pliant {

enum class SpringKind : std::uint8_t { structural, shear, bending };

struct Spring {
  Index a, b;
  SpringKind kind = SpringKind::structural;
};

/// Points connected by springs: cloth, ropes, or the edges of a mesh. Checked when built into a model.
struct SpringNetwork {
  std::vector<Vec3> vertices;  ///< m, at rest; a spring is as long as the distance of its ends
  std::vector<Spring> springs;
  std::vector<Triangle> triangles;  ///< what is drawn
  std::vector<double> measure;      ///< per vertex: its share of the area (m^2) or, of a solid, the volume (m^3)
  std::map<std::string, std::vector<Index>> sets;
  std::string source = "springs";
  std::vector<std::string> notes = {};  ///< what a person should know about it
};

/// A rectangular sheet in the xz-plane, normal along y.
struct ClothOptions {
  Vec3 origin = Vec3::Zero();             ///< lowest corner, m
  std::array<double, 2> size = {1, 1};    ///< along x and z, m
  std::array<Index, 2> cells = {10, 10};  ///< along x and z
};

/// Structural springs along the grid's edges, shear springs along both diagonals of each cell, bending springs between
/// vertices two apart (Provot 1995). Sets: x-min, x-max, z-min, z-max, corners, boundary. Throws InputError for sizes
/// that are not positive.
SpringNetwork cloth(const ClothOptions& options);

/// Every edge of the mesh as a structural spring, in increasing order of its vertices.
SpringNetwork edge_springs(const TetMesh& mesh);

}  // namespace pliant
