#include "pliant/contact/contact_surface.hpp"

#include <algorithm>
#include <cassert>

namespace pliant {

namespace {

template <class T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

ContactSurface make_contact_surface(std::vector<Triangle> triangles, std::vector<Index> group,
                                    std::span<const Edge> loose_edges, std::span<const Index> loose_points) {
  ContactSurface surface;
  surface.edges.reserve(3 * triangles.size() + loose_edges.size());
  const auto add_edge = [&](Index a, Index b) { surface.edges.push_back({std::min(a, b), std::max(a, b)}); };
  for (const Triangle& t : triangles)
    for (int k = 0; k < 3; ++k) add_edge(t[static_cast<std::size_t>(k)], t[static_cast<std::size_t>((k + 1) % 3)]);
  for (const Edge& e : loose_edges) add_edge(e[0], e[1]);
  surface.has_loose_edges = !loose_edges.empty();
  sort_unique(surface.edges);
  surface.points.assign(loose_points.begin(), loose_points.end());
  for (const Edge& e : surface.edges) surface.points.insert(surface.points.end(), e.begin(), e.end());
  sort_unique(surface.points);
  assert(surface.points.empty() ||
         (surface.points.front() >= 0 && surface.points.back() < static_cast<Index>(group.size())));
  surface.triangles = std::move(triangles);
  surface.group = std::move(group);
  for (Index g : surface.group) surface.groups = std::max(surface.groups, g + 1);
  surface.touches.assign(static_cast<std::size_t>(surface.groups) * static_cast<std::size_t>(surface.groups), 1);
  return surface;
}

}  // namespace pliant
