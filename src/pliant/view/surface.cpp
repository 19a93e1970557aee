#include "pliant/view/surface.hpp"

#include <algorithm>
#include <cmath>

#include "pliant/sim/model.hpp"

namespace pliant::view {

namespace {}  // namespace

std::size_t Surface::body_of_triangle(Index triangle) const {
  return at(std::upper_bound(first_triangle.begin(), first_triangle.end(), triangle) - first_triangle.begin()) - 1;
}

void Surface::gather(const VecX& x, std::vector<Vec3>& positions) const {
  positions.resize(nodes.size());
  for (std::size_t v = 0; v < nodes.size(); ++v) positions[v] = node(x, nodes[v]);
}

void Surface::average(std::span<const double> of_elements, std::vector<double>& of_vertices) const {
  of_vertices.assign(nodes.size(), 0.0);
  for (std::size_t v = 0; v < nodes.size(); ++v) {
    double sum = 0;
    int count = 0;
    for (Index k = element_start[v]; k < element_start[v + 1]; ++k) {
      const auto e = at(elements[at(k)]);
      if (e >= of_elements.size() || !std::isfinite(of_elements[e])) continue;
      sum += of_elements[e];
      ++count;
    }
    if (count > 0) of_vertices[v] = sum / count;
  }
}

void Surface::largest(std::span<const double> of_elements, std::vector<double>& of_vertices) const {
  of_vertices.assign(nodes.size(), 0.0);
  for (std::size_t v = 0; v < nodes.size(); ++v)
    for (Index k = element_start[v]; k < element_start[v + 1]; ++k)
      if (const auto e = at(elements[at(k)]); e < of_elements.size())
        of_vertices[v] = std::max(of_vertices[v], of_elements[e]);
}

void Skin::add(Index body, const std::vector<Triangle>& mesh, const std::vector<Vec3>& vertices) {
  const Index first = first_vertex.back();
  bodies.push_back(body);
  for (const Triangle& t : mesh) triangles.push_back({first + t[0], first + t[1], first + t[2]});
  rest.insert(rest.end(), vertices.begin(), vertices.end());
  first_vertex.push_back(static_cast<Index>(rest.size()));
  first_triangle.push_back(static_cast<Index>(triangles.size()));
}

namespace {

void append(Surface& surface, const SurfacePart& part, std::span<const Vec3> rest_of_nodes) {
  // Vertices in the order of their nodes, so that neighbours in memory are neighbours in space.
  std::vector<Index> used;
  for (const Triangle& t : part.triangles) used.insert(used.end(), t.begin(), t.end());
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  const Index first = surface.vertices();
  const auto vertex = [&](Index i) {
    const auto found = std::lower_bound(used.begin(), used.end(), i);
    return found != used.end() && *found == i ? static_cast<Index>(found - used.begin()) : -1;
  };
  for (const Triangle& t : part.triangles)
    surface.triangles.push_back({first + vertex(t[0]), first + vertex(t[1]), first + vertex(t[2])});
  for (Index i : used) {
    surface.nodes.push_back(i);
    surface.rest.push_back(rest_of_nodes[at(i)]);
    surface.held.push_back(Held::free);
  }
  surface.first_vertex.push_back(surface.vertices());
  surface.first_triangle.push_back(static_cast<Index>(surface.triangles.size()));
}

/// Lists for each vertex of the surface the cells that have it for a corner.
void connect(const std::vector<SurfacePart>& parts, const std::vector<Index>& vertex_of, Surface& surface) {
  std::vector<Index> count(surface.nodes.size() + 1, 0);
  const auto for_corners = [&](auto&& visit) {
    Index element = 0;
    for (const SurfacePart& part : parts)
      for (std::size_t k = 0; k < part.cells.size(); k += at(part.corners), ++element)
        for (std::size_t c = 0; c < at(part.corners); ++c)
          if (const Index v = vertex_of[at(part.cells[k + c])]; v >= 0) visit(at(v), element);
  };
  for_corners([&](std::size_t v, Index) { ++count[v + 1]; });
  for (std::size_t v = 1; v < count.size(); ++v) count[v] += count[v - 1];
  surface.element_start = count;
  surface.elements.resize(at(count.back()));
  for_corners([&](std::size_t v, Index element) { surface.elements[at(count[v]++)] = element; });
}

}  // namespace

Surface make_surface(const std::vector<SurfacePart>& parts, std::span<const Vec3> rest_of_nodes) {
  Surface surface;
  for (const SurfacePart& part : parts) append(surface, part, rest_of_nodes);
  std::vector<Index> vertex_of(rest_of_nodes.size(), -1);
  for (std::size_t v = 0; v < surface.nodes.size(); ++v) vertex_of[at(surface.nodes[v])] = static_cast<Index>(v);
  connect(parts, vertex_of, surface);
  return surface;
}

Surface surface_of(const Model& model) {
  std::vector<SurfacePart> parts;
  std::vector<Vec3> rest;
  const VecX all = model.drawn(model.rest());
  for (Index i = 0; i < static_cast<Index>(all.size() / 3); ++i) rest.emplace_back(node(all, i));
  for (const Body& body : model.bodies()) {
    SurfacePart& part = parts.emplace_back();
    if (body.rigid) {  // one element, whose corners are all vertices
      const Index first = model.nodes() + body.first_carried;
      for (const Triangle& t : body.rigid->triangles)
        part.triangles.push_back({first + t[0], first + t[1], first + t[2]});
      part.corners = static_cast<int>(body.rigid->vertices.size());
      for (int k = 0; k < part.corners; ++k) part.cells.push_back(first + k);
      continue;
    }
    if (body.rod) {  // a value for each segment, whose corners are those about both of its ends
      const Index first = model.nodes() + static_cast<Index>(model.carried().size()) + body.first_tube;
      for (const Triangle& t : rod_tube(body.nodes.size(), body.rod->is_closed()).triangles)
        part.triangles.push_back({first + t[0], first + t[1], first + t[2]});
      part.corners = 2 * RodTube::sides;
      for (Index s = 0; s < body.rod->stencils().count(); ++s)
        for (Index vertex : {s, (s + 1) % body.nodes.size()})
          for (Index side = 0; side < RodTube::sides; ++side)
            part.cells.push_back(first + vertex * RodTube::sides + side);
      continue;
    }
    for (const Triangle& t : body.surface())
      part.triangles.push_back({body.nodes.begin + t[0], body.nodes.begin + t[1], body.nodes.begin + t[2]});
    if (body.is_solid()) {
      for (const Tet& tet : body.mesh->tets())
        for (Index i : tet) part.cells.push_back(body.nodes.begin + i);
    } else {
      part.corners = 3;
      for (const Triangle& t : part.triangles) part.cells.insert(part.cells.end(), t.begin(), t.end());
    }
  }
  Surface surface = make_surface(parts, rest);
  std::vector<Held> held(rest.size(), Held::free);
  const auto mark = [&](const std::vector<Index>& nodes, Held how) {
    for (Index i : nodes) held[at(i)] = how;
  };
  for (const Script& script : model.scripts()) mark(script.nodes, script.driven ? Held::by_hand : Held::scripted);
  for (const Pin& pin : model.pins()) mark(pin.nodes, Held::pinned);
  for (std::size_t v = 0; v < surface.nodes.size(); ++v)
    surface.held[v] = held[at(model.node_of_drawn(surface.nodes[v]))];
  return surface;
}

}  // namespace pliant::view
