#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

/// A surface: the content of an OBJ, PLY or STL file, or of a generator of sheets. It may be closed or open.
struct TriangleMesh {
  std::vector<Vec3> vertices;                      ///< metres
  std::vector<Triangle> triangles;                 ///< counter-clockwise seen from outside, where there is an outside
  std::map<std::string, std::vector<Index>> sets;  ///< named vertex sets
  std::string source = "surface";                  ///< file or generator, for messages
  std::vector<std::string> notes;                  ///< what a person should know about how it was read

  /// How it looks, where an OBJ file says so: places in a texture, those of the corners of each triangle (all -1 where
  /// it has none), names of materials, the one of each triangle (-1: none), and the file that describes them.
  struct Look {
    std::vector<std::array<double, 2>> places;
    std::vector<Triangle> corners;
    std::vector<std::string> materials;
    std::vector<Index> material;
    std::string library;
    bool none() const { return places.empty() && materials.empty(); }
  };
  Look look = {};
};

/// Throws InputError, its message beginning with the source of the mesh, when there are no triangles, when a triangle
/// names a vertex that is not there or one twice, or when a coordinate is not finite.
void check_triangle_mesh(const TriangleMesh& mesh);

}  // namespace pliant
