#pragma once

#include "pliant/mesh/tet_mesh.hpp"

namespace pliant {

/// Mean ratio of a tetrahedron: 12 (3 V)^(2/3) / sum of the squared edge lengths. 1 for the regular tetrahedron, 0 for
/// a flat one; does not depend on size, position or numbering.
double mean_ratio(const Vec3& v0, const Vec3& v1, const Vec3& v2, const Vec3& v3);

/// Angles between the faces at the six edges (in the order of tet_edges), radians: all 1.23 (70.5 degrees) for the
/// regular tetrahedron. Small and large angles spoil the conditioning of the stiffness matrix and the interpolation.
std::array<double, 6> dihedral_angles(const Vec3& v0, const Vec3& v1, const Vec3& v2, const Vec3& v3);

/// Radius of the circumscribed sphere over the shortest edge: 0.612 for the regular tetrahedron.
double radius_edge_ratio(const Vec3& v0, const Vec3& v1, const Vec3& v2, const Vec3& v3);

struct Extent {
  double least = 0;
  double mean = 0;
  double most = 0;
};

/// What a person wants to know about a mesh before simulating on it.
struct MeshQuality {
  Index vertices = 0;
  Index tets = 0;
  Index surface_triangles = 0;
  Index edges = 0;   ///< each counted once
  Index pieces = 0;  ///< parts connected through vertices
  Vec3 lower = Vec3::Zero();
  Vec3 upper = Vec3::Zero();  ///< bounding box, m
  double total_volume = 0;    ///< m^3
  double surface_area = 0;    ///< m^2
  Extent volume;              ///< of the elements, m^3
  Extent edge_length;         ///< m
  Extent quality;             ///< mean ratio
  Extent dihedral;            ///< angles between faces, radians
  double radius_edge = 0;     ///< the largest radius-edge ratio
  Index worst = 0;            ///< element of least quality
  Index poor = 0;             ///< elements with a mean ratio below 0.1
};

MeshQuality measure_quality(const TetMesh& mesh);

/// The mean ratio of every element.
std::vector<double> element_qualities(const TetMesh& mesh);

}  // namespace pliant
