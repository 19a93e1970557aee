#pragma once

#include <limits>
#include <span>
#include <variant>

#include "pliant/mesh/tet_mesh.hpp"
#include "pliant/mesh/triangle_mesh.hpp"

namespace pliant {

/// A plane, or the part of it that is nearer to `point` than `radius`.
struct CutPlane {
  Vec3 point = Vec3::Zero();    ///< m
  Vec3 normal = Vec3::UnitX();  ///< any length
  double radius = std::numeric_limits<double>::infinity();
};

/// What cuts: a plane or any surface, open or closed.
using CutSurface = std::variant<CutPlane, TriangleMesh>;

/// A mesh after a cut. The tets are those of before, in the same order, with other corners where they were cut apart;
/// vertices keep their numbers, and the new ones, which lie where others do, come after them.
struct CutMesh {
  TetMesh mesh;
  std::vector<Index> origin;  ///< for each vertex, the one of before that it was or is a copy of
  Index faces = 0;            ///< that were opened; 0: the surface does not pass between any two tets
};

/// Opens the mesh along those faces of its elements whose two tets have their centroids on different sides of the
/// surface. Where the surface ends inside, the cut ends. Sets and regions carry over; a copy is in the sets of its
/// vertex. The surface is given where the vertices are in `where`; empty: at rest. Throws InputError for surfaces that
/// are none.
CutMesh cut_mesh(const TetMesh& mesh, const CutSurface& surface, std::span<const Vec3> where = {});

/// For each tet the number of the piece it belongs to, pieces being connected through faces, numbered by their first
/// tets.
std::vector<Index> face_connected_pieces(const TetMesh& mesh, Index& count);

}  // namespace pliant
