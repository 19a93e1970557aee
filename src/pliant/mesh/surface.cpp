#include "pliant/mesh/surface.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pliant/base/error.hpp"
#include "pliant/mesh/tet_geometry.hpp"

// Faces that coincide are brought together by a counting sort over their lowest vertex, then by sorting each bucket (a
// few tens of faces, the valence of a vertex) over the other two. A hash table would do the same, but the sort needs no
// hash function, touches memory in order and gives one order of errors for one mesh.

namespace pliant {

namespace {

struct Face {
  Index middle;  // the vertices besides the lowest, in ascending order
  Index high;
  Index id;   // 4 tet + face of the tet
  bool even;  // parity of the outward orientation with respect to (low, middle, high)
};

struct Sorted {
  Index low, middle, high;
  bool even;
};

Sorted sort_face(Index a, Index b, Index c) {
  bool even = true;
  if (a > b) std::swap(a, b), even = !even;
  if (b > c) std::swap(b, c), even = !even;
  if (a > b) std::swap(a, b), even = !even;
  return {a, b, c, even};
}

Sorted sorted_face(const Tet& tet, std::size_t face) {
  const auto& corners = tet_faces[face];
  return sort_face(tet[corners[0]], tet[corners[1]], tet[corners[2]]);
}

/// Counts defects of one kind and remembers the one with the lowest tet.
struct Defect {
  Index count = 0;
  Index first_tet = 0;
  Index second_tet = 0;
  Triangle face{};

  void add(Index a, Index b, const Triangle& where) {
    if (count++ == 0 || a < first_tet) first_tet = a, second_tet = b, face = where;
  }
};

struct Defects {
  Defect duplicate, crowded, overlapping;

  /// `group` holds two or more faces with the same three vertices, in the order of their tets.
  void examine(std::span<const Face> group, Index low, std::span<const Tet> tets) {
    const Triangle where = {low, group[0].middle, group[0].high};
    const auto opposite = [&](const Face& f) {
      return tets[static_cast<std::size_t>(f.id / 4)][tet_face_opposite[static_cast<std::size_t>(f.id % 4)]];
    };
    bool same = false;
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (std::size_t j = i + 1; j < group.size(); ++j) {
        if (opposite(group[i]) != opposite(group[j])) continue;
        duplicate.add(group[i].id / 4, group[j].id / 4, where);
        same = true;
        break;
      }
    }
    if (same) return;
    if (group.size() > 2) {
      crowded.add(group[0].id / 4, group[1].id / 4, where);
    } else if (group[0].even == group[1].even) {
      overlapping.add(group[0].id / 4, group[1].id / 4, where);
    }
  }

  void raise(std::span<const Tet> tets, const std::string& source) const {
    if (duplicate.count > 0) {
      const Tet& t = tets[static_cast<std::size_t>(duplicate.first_tet)];
      // A pair of equal tets meets in four faces.
      throw InputError(fmt::format(
          "{}: elements {} and {} are the same tetrahedron (vertices {}); {} such pair(s). Remove the copies (Gmsh 2.2 "
          "writes an element once for each physical group it is in: save as 4.1 instead).",
          source, duplicate.first_tet, duplicate.second_tet, fmt::join(t, " "), (duplicate.count + 3) / 4));
    }
    if (crowded.count > 0) {
      throw InputError(fmt::format(
          "{}: the face of vertices {} is shared by three or more elements, among them {} and {}; {} such face(s). "
          "Elements overlap there: repair the mesh.",
          source, fmt::join(crowded.face, " "), crowded.first_tet, crowded.second_tet, crowded.count));
    }
    if (overlapping.count > 0) {
      throw InputError(fmt::format(
          "{}: elements {} and {} lie on the same side of their common face (vertices {}); {} such face(s). "
          "They overlap: repair the mesh.",
          source, overlapping.first_tet, overlapping.second_tet, fmt::join(overlapping.face, " "), overlapping.count));
    }
  }
};

}  // namespace

BoundaryFaces extract_boundary(std::span<const Tet> tets, Index vertex_count, const std::string& source) {
  std::vector<std::size_t> begin(static_cast<std::size_t>(vertex_count) + 1, 0);
  for (const Tet& tet : tets) {
    for (std::size_t f = 0; f < 4; ++f) ++begin[static_cast<std::size_t>(sorted_face(tet, f).low) + 1];
  }
  for (std::size_t v = 1; v < begin.size(); ++v) begin[v] += begin[v - 1];

  std::vector<Face> faces(4 * tets.size());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t t = 0; t < tets.size(); ++t) {
    for (std::size_t f = 0; f < 4; ++f) {
      const Sorted s = sorted_face(tets[t], f);
      faces[next[static_cast<std::size_t>(s.low)]++] = {s.middle, s.high, static_cast<Index>(4 * t + f), s.even};
    }
  }

  Defects defects;
  std::vector<char> boundary(4 * tets.size(), 0);
  std::size_t boundary_count = 0;
  for (std::size_t v = 0; v + 1 < begin.size(); ++v) {
    const std::span<Face> bucket(faces.data() + begin[v], begin[v + 1] - begin[v]);
    std::sort(bucket.begin(), bucket.end(), [](const Face& a, const Face& b) {
      if (a.middle != b.middle) return a.middle < b.middle;
      if (a.high != b.high) return a.high < b.high;
      return a.id < b.id;
    });
    for (std::size_t i = 0; i < bucket.size();) {
      std::size_t end = i + 1;
      while (end < bucket.size() && bucket[end].middle == bucket[i].middle && bucket[end].high == bucket[i].high) ++end;
      if (end == i + 1) {
        boundary[static_cast<std::size_t>(bucket[i].id)] = 1;
        ++boundary_count;
      } else {
        defects.examine(bucket.subspan(i, end - i), static_cast<Index>(v), tets);
      }
      i = end;
    }
  }
  defects.raise(tets, source);

  BoundaryFaces surface;
  surface.triangles.reserve(boundary_count);
  surface.tets.reserve(boundary_count);
  for (std::size_t t = 0; t < tets.size(); ++t) {
    for (std::size_t f = 0; f < 4; ++f) {
      if (!boundary[4 * t + f]) continue;
      const auto& corners = tet_faces[f];
      surface.triangles.push_back({tets[t][corners[0]], tets[t][corners[1]], tets[t][corners[2]]});
      surface.tets.push_back(static_cast<Index>(t));
    }
  }
  return surface;
}

}  // namespace pliant
