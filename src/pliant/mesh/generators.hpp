#pragma once

#include <variant>

#include "pliant/mesh/tet_mesh.hpp"
#include "pliant/mesh/triangle_mesh.hpp"

namespace pliant {

// Every generator names the sets x-min, x-max, ..., z-max (the vertices on the sides of the bounding box: for a ball
// its poles) and boundary, besides those said below. Wrong options are an InputError that names the key.
//
// Round bodies are built of blocks of hexahedral cells around a core (never by squashing poles), and each cell is cut
// into five tetrahedra. With cells about as long as wide, every dihedral angle of a cylinder, ball or tube lies between
// 25 and 130 degrees (from 30 up for most sizes), the mean ratio is above 0.45 and the radius-edge ratio below 2.2; a
// torus comes near as its hole grows. Their vertices lie on the exact surface, so that the volume converges to the
// exact one with the square of the cell size.

enum class Axis { x, y, z };

/// How a box cell is cut into tetrahedra. `five` alternates two mirrored patterns so that neighbours conform; `six`
/// (Kuhn) uses the same pattern everywhere; `twelve` puts a vertex at the centre of each cell and joins it with the two
/// halves of every face, cut as `five` cuts them.
enum class BoxSplit { five, six, twelve };

struct BoxOptions {
  Vec3 origin = Vec3::Zero();              ///< lowest corner, m
  Vec3 size = Vec3::Ones();                ///< m
  std::array<Index, 3> cells = {1, 1, 1};  ///< along x, y, z
  BoxSplit split = BoxSplit::five;
};

/// A box of regular cells. Vertices run x fastest; those at the centres of cells come after all others.
MeshData box(const BoxOptions& options);

struct CylinderOptions {
  Vec3 origin = Vec3::Zero();  ///< centre of the face at the start, m
  double radius = 0.5;         ///< m
  double length = 2;           ///< m
  Axis axis = Axis::z;
  Index cells = 8;  ///< across the diameter, at least 4
  Index along = 0;  ///< along the axis; 0: so many that cells are as long as wide
};

/// Sets: start and end (the flat faces), side (the curved one).
MeshData cylinder(const CylinderOptions& options);

struct TubeOptions {
  Vec3 origin = Vec3::Zero();  ///< centre of the face at the start, m
  double inner_radius = 0.3;   ///< m
  double outer_radius = 0.5;   ///< m
  double length = 2;           ///< m
  Axis axis = Axis::z;
  Index layers = 2;  ///< of cells through the wall
  Index around = 0;  ///< cells around, an even number of at least 6; 0: as wide as the wall's cells are thick
  Index along = 0;   ///< along the axis; 0: so many that cells are as long as thick
};

/// A hollow cylinder. Sets: start, end, inner and outer.
MeshData tube(const TubeOptions& options);

struct SphereOptions {
  Vec3 centre = Vec3::Zero();  ///< m
  double radius = 0.5;         ///< m
  Index cells = 8;             ///< across the diameter, at least 4
  double inner_radius = 0;     ///< of a hollow ball, m; 0: solid
  Index layers = 1;            ///< of cells through the wall of a hollow one
};

/// A ball. A hollow one has the sets inner and outer.
MeshData sphere(const SphereOptions& options);

struct TorusOptions {
  Vec3 centre = Vec3::Zero();  ///< m
  double radius = 0.5;         ///< of the circle in the middle of the ring, m
  double ring_radius = 0.15;   ///< half the thickness of the ring, m
  Axis axis = Axis::z;         ///< the ring lies around it
  Index cells = 6;             ///< across the ring, at least 4
  Index around = 0;            ///< an even number of at least 6; 0: so many that cells are as long as wide
};

/// A solid ring.
MeshData torus(const TorusOptions& options);

struct SheetOptions {
  Vec3 origin = Vec3::Zero();             ///< lowest corner, m
  std::array<double, 2> size = {1, 1};    ///< along the two axes of its plane, in the order x, y, z, m
  double thickness = 0.01;                ///< m
  Axis normal = Axis::z;                  ///< direction of its thickness
  std::array<Index, 2> cells = {20, 20};  ///< along the two axes of its plane
  Index layers = 1;                       ///< of cells through the thickness
};

/// A thin slab. Its elements are as flat as the cells asked for: a cell ten times as wide as thick has dihedral angles
/// down to 8 degrees. Sets: bottom and top, edge (the narrow sides), corners.
MeshData sheet(const SheetOptions& options);

struct LatticeOptions {
  Vec3 origin = Vec3::Zero();              ///< lowest corner, m
  Vec3 size = Vec3::Ones();                ///< of the whole, m
  std::array<Index, 3> cells = {3, 3, 3};  ///< openings along x, y, z; none along one of them: a net
  double strut = 0.1;                      ///< width of the square struts, m
  Index across = 2;                        ///< elements' cells across a strut
};

/// Square struts along the edges of a grid of cuboids. Set: joints (the vertices where struts cross).
MeshData lattice(const LatticeOptions& options);

/// What a mesh can be generated from.
using MeshGenerator =
    std::variant<BoxOptions, CylinderOptions, TubeOptions, SphereOptions, TorusOptions, SheetOptions, LatticeOptions>;
MeshData generate(const MeshGenerator& options);

struct TriangleGridOptions {
  Vec3 origin = Vec3::Zero();             ///< lowest corner, m
  std::array<double, 2> size = {1, 1};    ///< along the two axes of its plane, in the order x, y, z, m
  Axis normal = Axis::z;                  ///< where the triangles face
  std::array<Index, 2> cells = {20, 20};  ///< along the two axes of its plane
};

/// A rectangle of triangles, two for each cell, their diagonals alternating; for cloth. Vertices run the first axis
/// fastest. Sets: the four sides (such as x-min), corners and boundary.
TriangleMesh triangle_grid(const TriangleGridOptions& options);

}  // namespace pliant
