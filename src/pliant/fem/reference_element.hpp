#pragma once

#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

/// A Lagrange tetrahedron of order 1, 2 or 3 on the reference tet with corners 0, e1, e2, e3: nodes, quadrature, shape
/// functions and mass. Nodes are numbered as VTK numbers them (corners, edges, faces), so that frames need no
/// renumbering.
class ReferenceElement {
 public:
  /// order 1, 2 or 3; the tables are built once.
  static const ReferenceElement& of_order(int order);

  int order() const { return order_; }
  int nodes() const { return static_cast<int>(positions_.size()); }
  /// Reference coordinates of the nodes.
  const std::vector<Vec3>& positions() const { return positions_; }
  /// For each node, its lattice coordinates: barycentric coordinates times order, four integers that sum to order.
  const std::vector<std::array<int, 4>>& lattice() const { return lattice_; }

  int points() const { return static_cast<int>(weights_.size()); }
  /// Quadrature weights; they sum to 1, so that the integral over an element is volume * sum weight * value.
  const std::vector<double>& weights() const { return weights_; }
  const std::vector<Vec3>& points_positions() const { return points_positions_; }
  /// d N_node / d reference coordinate at a quadrature point.
  const Vec3& gradient(int point, int node) const {
    return gradients_[static_cast<std::size_t>(point) * positions_.size() + static_cast<std::size_t>(node)];
  }

  /// Integrals of N_a N_b divided by the volume: the consistent mass matrix of an element is density * volume * this.
  const Eigen::MatrixXd& mass() const { return mass_; }
  /// Diagonal mass, positive for every order: the diagonal of mass() scaled so that it sums to 1 (Hinton, Rock,
  /// Zienkiewicz 1976); for order 1 the usual quarter per corner.
  const VecX& lumped_mass() const { return lumped_; }

  /// Shape functions and their reference gradients anywhere.
  VecX shape(const Vec3& reference) const;
  Eigen::Matrix<double, 3, Eigen::Dynamic> shape_gradients(const Vec3& reference) const;

 private:
  explicit ReferenceElement(int order);

  int order_;
  std::vector<Vec3> positions_;
  std::vector<std::array<int, 4>> lattice_;
  std::vector<double> weights_;
  std::vector<Vec3> points_positions_;
  std::vector<Vec3> gradients_;
  Eigen::MatrixXd mass_;
  VecX lumped_;
};

}  // namespace pliant
