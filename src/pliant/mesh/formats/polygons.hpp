#pragma once

#include <fmt/format.h>

#include <span>

#include "pliant/mesh/triangle_mesh.hpp"

namespace pliant {

/// Turns the polygons of a surface file into triangles and remembers what to say about it.
class Polygons {
 public:
  void add(TriangleMesh& mesh, std::span<const Index> corners) {
    if (corners.size() > 3) ++larger_;
    for (std::size_t k = 2; k < corners.size(); ++k) {
      const Index a = corners[0];
      const Index b = corners[k - 1];
      const Index c = corners[k];
      if (a == b || b == c || c == a) {
        ++degenerate_;
      } else {
        mesh.triangles.push_back({a, b, c});
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
