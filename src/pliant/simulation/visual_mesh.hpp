#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "pliant/scene/scene.hpp"

namespace pliant {

/// A fine surface that moves with a body: each of its vertices is a weighted sum of the nodes of the tet it lies in, or
/// is nearest to. It has no part in the simulation. Vertices with several places in a texture are split, so that each
/// has one.
class VisualMesh {
 public:
  /// Reads it. Throws InputError, and for bodies that are no solids.
  VisualMesh(const SceneBody& from, std::size_t body, const Body& of);

  std::size_t body() const { return body_; }
  const std::vector<Triangle>& triangles() const { return triangles_; }
  /// u, v of each vertex; empty where the file has none.
  const std::vector<std::array<double, 2>>& texture() const { return texture_; }
  /// The name of the material of each triangle's number, and these; empty where the file has none.
  const std::vector<std::string>& materials() const { return materials_; }
  const std::vector<Index>& material() const { return material_; }
  Index vertices() const { return static_cast<Index>(vertex_count_); }

  /// Writes x, y, z of each vertex; the same for velocities and whatever else nodes have.
  void positions(const VecX& x, std::span<double> out) const;
  /// The value at each vertex, from those at the nodes.
  std::vector<double> values(std::span<const double> at_nodes) const;

 private:
  std::size_t body_;
  std::size_t vertex_count_ = 0;
  std::vector<Triangle> triangles_;
  std::vector<std::array<double, 2>> texture_;
  std::vector<std::string> materials_;
  std::vector<Index> material_;
  int per_vertex_ = 4;        ///< nodes
  std::vector<Index> nodes_;  ///< of the model, per_vertex_ for each vertex
  std::vector<double> weights_;
};

/// Of all bodies that have one.
std::vector<VisualMesh> visual_meshes(const Scene& scene, const Model& model);

}  // namespace pliant
