#pragma once

#include <fmt/format.h>

#include <span>

#include "pliant/mesh/triangle_mesh.hpp"

namespace pliant {

/// Turns the polygons of a surface file into triangles and remembers what to say about it.
class Polygons {
 public:
  /// `places`: of the corners in a texture, or none.
  void add(TriangleMesh& mesh, std::span<const Index> corners, std::span<const Index> places = {},
           Index material = -1) {
    if (corners.size() > 3) ++larger_;
    for (std::size_t k = 2; k < corners.size(); ++k) {
      const Index a = corners[0];
      const Index b = corners[k - 1];
      const Index c = corners[k];
      if (a == b || b == c || c == a) {
        ++degenerate_;
      } else {
        mesh.triangles.push_back({a, b, c});
        if (places.empty()) continue;
        mesh.look.corners.push_back({places[0], places[k - 1], places[k]});
        mesh.look.material.push_back(material);
      }
    }
  }

  void add_notes(TriangleMesh& mesh) const {
    if (larger_ > 0) mesh.notes.push_back(fmt::format("{} larger polygons were cut into triangles", larger_));
    if (degenerate_ > 0)
      mesh.notes.push_back(fmt::format("{} triangles that use a vertex twice were left out", degenerate_));
  }

 private:
  std::int64_t larger_ = 0;
  std::int64_t degenerate_ = 0;
};

}  // namespace pliant
