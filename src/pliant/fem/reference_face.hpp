#pragma once

#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

/// The face of a Lagrange tetrahedron of order 1, 2 or 3 over the triangle with corners 0, e1, e2, with the quadrature
/// that integrates N (x_u cross x_v) exactly whatever the positions of its nodes: products of degree 3 order - 2.
///
/// Nodes run over the lattice (i, j) with i + j <= order, j fastest; node (i, j) lies at (i, j)/order.
class ReferenceFace {
 public:
  /// order 1, 2 or 3; the tables are built once.
  static const ReferenceFace& of_order(int order);
  /// The number of a node of an order.
  static int number(int order, int i, int j) { return i * (order + 1) - i * (i - 1) / 2 + j; }

  int order() const { return order_; }
  int nodes() const { return (order_ + 1) * (order_ + 2) / 2; }
  int points() const { return static_cast<int>(weights_.size()); }
  /// They sum to 1/2, the area of the triangle.
  double weight(int point) const { return weights_[at(point)]; }
  /// N, dN/du and dN/dv of all nodes at a point, one column per node.
  const Eigen::Matrix<double, 3, Eigen::Dynamic>& shape(int point) const { return shape_[at(point)]; }

 private:
  explicit ReferenceFace(int order);

  int order_;
  std::vector<double> weights_;
  std::vector<Eigen::Matrix<double, 3, Eigen::Dynamic>> shape_;
};

}  // namespace pliant
