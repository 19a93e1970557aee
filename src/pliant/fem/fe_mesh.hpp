#pragma once

#include <span>
#include <vector>

#include "pliant/fem/reference_element.hpp"
#include "pliant/mesh/tet_mesh.hpp"

namespace pliant {

/// A tet mesh with Lagrange nodes of order 1, 2 or 3. Elements keep straight edges at rest, so that one 3x3 matrix and
/// one volume per element describe their geometry. The first nodes are the mesh's vertices, in the mesh's order.
class FeMesh {
 public:
  FeMesh(const TetMesh& mesh, int order);

  const ReferenceElement& reference() const { return *reference_; }
  Index node_count() const { return static_cast<Index>(positions_.size()); }
  Index element_count() const { return static_cast<Index>(volumes_.size()); }
  std::span<const Vec3> positions() const { return positions_; }
  /// Flat: reference().nodes() node indices per element.
  std::span<const Index> elements() const { return elements_; }
  std::span<const double> volumes() const { return volumes_; }
  /// Inverse of the matrix whose columns are the rest edges x1-x0, x2-x0, x3-x0.
  std::span<const Mat3> inverse_edges() const { return inverse_edges_; }

  /// Extends a set of mesh vertices to nodes: an edge or face node belongs when all the vertices it lies between do.
  std::vector<Index> nodes_of(std::span<const Index> vertices) const;

 private:
  const ReferenceElement* reference_;
  std::vector<Vec3> positions_;
  std::vector<std::vector<Index>> corners_;  ///< for each node, the mesh vertices it lies between
  std::vector<Index> elements_;
  std::vector<double> volumes_;
  std::vector<Mat3> inverse_edges_;
};

}  // namespace pliant
