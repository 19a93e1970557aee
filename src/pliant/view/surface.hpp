#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {
class Model;
}

namespace pliant::view {

/// Why a vertex does not move freely, as the page shows it.
enum class Held : std::uint8_t { free = 0, pinned = 1, scripted = 2, by_hand = 3 };

/// What is drawn: the surface triangles of all bodies over vertices of their own, body by body, and the elements around
/// each vertex, whose values it is coloured by.
struct Surface {
  std::vector<Index> first_vertex = {0};    ///< of each body, and the end
  std::vector<Index> first_triangle = {0};  ///< of each body, and the end
  std::vector<Triangle> triangles;          ///< over the surface's vertices
  std::vector<Index> nodes;                 ///< as Model::drawn counts them, for each vertex
  std::vector<Vec3> rest;                   ///< m
  std::vector<Held> held;
  std::vector<Index> element_start = {0};  ///< where each vertex's elements begin in `elements`, and the end
  std::vector<Index> elements;             ///< over the elements of all bodies; of springs, their triangles

  Index vertices() const { return static_cast<Index>(nodes.size()); }
  std::size_t body_of_triangle(Index triangle) const;
  /// Positions over the vertices from positions of all that is drawn (Model::drawn).
  void gather(const VecX& x, std::vector<Vec3>& positions) const;
  /// The mean over the elements of each vertex; nothing changes where there are none. Values that are not finite count
  /// as zero.
  void average(std::span<const double> of_elements, std::vector<double>& of_vertices) const;
  /// The same with the greatest in place of the mean.
  void largest(std::span<const double> of_elements, std::vector<double>& of_vertices) const;
};

/// Visual meshes, which are drawn in place of the surfaces of the bodies that carry them. Hands still hold those.
struct Skin {
  std::vector<Index> bodies;                ///< of each mesh
  std::vector<Index> first_vertex = {0};    ///< of each mesh, and the end
  std::vector<Index> first_triangle = {0};  ///< of each mesh, and the end
  std::vector<Triangle> triangles;          ///< over the skin's vertices
  std::vector<Vec3> rest;                   ///< m

  bool empty() const { return bodies.empty(); }
  /// Another mesh, over vertices of its own.
  void add(Index body, const std::vector<Triangle>& mesh, const std::vector<Vec3>& vertices);
};

/// A body over the nodes of all: its triangles, and its cells, which are what has a value each.
struct SurfacePart {
  std::vector<Triangle> triangles;
  std::vector<Index> cells;  ///< flat, `corners` nodes each
  int corners = 4;
};
Surface make_surface(const std::vector<SurfacePart>& parts, std::span<const Vec3> rest_of_nodes);

/// Vertices of driven scripts count as held by hand.
Surface surface_of(const Model& model);

}  // namespace pliant::view
