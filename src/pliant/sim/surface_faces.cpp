#include "pliant/sim/surface_faces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

Triangle sorted(Triangle t) {
  std::sort(t.begin(), t.end());
  return t;
}

/// The nodes of the face of an element that lies opposite to a corner, in the order of ReferenceFace.
void add_face(const FeMesh& mesh, Index element, std::size_t opposite, Index first, std::vector<Index>& nodes) {
  const int order = mesh.reference().order();
  const auto n = at(mesh.reference().nodes());
  std::array<std::size_t, 3> corners{};
  for (std::size_t c = 0, k = 0; c < 4; ++c)
    if (c != opposite) corners[k++] = c;
  if (opposite % 2 == 1) std::swap(corners[1], corners[2]);
  const std::size_t begin = nodes.size();
  nodes.resize(begin + at((order + 1) * (order + 2) / 2));
  for (std::size_t a = 0; a < n; ++a) {
    const std::array<int, 4>& lattice = mesh.reference().lattice()[a];
    if (lattice[opposite] == 0)
      nodes[begin + at(ReferenceFace::number(order, lattice[corners[1]], lattice[corners[2]]))] =
          first + mesh.elements()[at(element) * n + a];
  }
}

FaceSet faces_of(const Body& body, const std::set<Triangle>& wanted) {
  const int order = body.elements->reference().order();
  std::vector<Index> nodes;
  for (std::size_t e = 0; e < body.mesh->tets().size(); ++e) {
    const Tet& tet = body.mesh->tets()[e];
    for (std::size_t opposite = 0; opposite < 4; ++opposite) {
      Triangle face{};
      for (std::size_t c = 0, k = 0; c < 4; ++c)
        if (c != opposite) face[k++] = tet[c];
      if (wanted.contains(sorted(face)))
        add_face(*body.elements, static_cast<Index>(e), opposite, body.nodes.begin, nodes);
    }
  }
  return {order, std::move(nodes)};
}

/// Flat triangles of bodies whose nodes are their vertices.
FaceSet faces_of(const Body& body, const std::vector<Triangle>& wanted) {
  std::vector<Index> nodes;
  for (const Triangle& t : wanted)
    for (Index v : {t[0], t[2], t[1]}) nodes.push_back(body.nodes.begin + v);  // (0, 0), (0, 1), (1, 0)
  return {1, std::move(nodes)};
}

FaceSet faces_of_triangles(const Body& body, const std::vector<Triangle>& wanted) {
  if (!body.is_solid() || body.elements->reference().order() == 1) return faces_of(body, wanted);
  std::set<Triangle> known;
  for (const Triangle& t : wanted) known.insert(sorted(t));
  return faces_of(body, known);
}

}  // namespace

FaceSet surface_faces(const Body& body) {
  return faces_of_triangles(body, {body.surface().begin(), body.surface().end()});
}

FaceSet surface_faces(const Body& body, std::span<const Index> vertices) {
  if (body.surface().empty())
    throw InputError(fmt::format("body '{}' has no surface that anything could press on; use force", body.name));
  std::vector<std::uint8_t> inside(body.vertices().size(), 0);
  for (Index v : vertices) inside[at(v)] = 1;
  std::vector<Triangle> wanted;
  for (const Triangle& t : body.surface())
    if (inside[at(t[0])] && inside[at(t[1])] && inside[at(t[2])]) wanted.push_back(t);
  if (wanted.empty())
    throw InputError(
        fmt::format("the selection has no face of the surface of body '{}': all three corners of a face must be in it; "
                    "enlarge the selection",
                    body.name));
  return faces_of_triangles(body, wanted);
}

}  // namespace pliant
