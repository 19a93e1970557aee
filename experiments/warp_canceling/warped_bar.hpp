#pragma once

#include "pliant/solvers/warp_canceling/node_rotations.hpp"
#include "pliant/solvers/warp_canceling/warp_error.hpp"

namespace pliant::experiments {

/// The pieces of a warp-canceling step by themselves, for a model without boundaries: elements, node rotations and the
/// matrix, as the solver uses them.
class WarpedPieces {
 public:
  WarpedPieces(std::shared_ptr<const Model> model, double h);

  /// Rotations of elements and nodes where x is; the matrix stays as it was refreshed last.
  void deform(const VecX& x);
  /// Takes over the present rotations everywhere.
  void refresh();
  /// Blocks R_i A_ij R_j^T of the matrix at hand with the present rotations of the nodes, upper triangle.
  std::vector<Mat3> warped() const { return warped(rotations_.rotations()); }
  std::vector<Mat3> warped(std::span<const Mat3> rotations) const;
  /// The corotational matrix of the present, assembled anew.
  std::vector<Mat3> corotational();

  const Model& model() const { return *model_; }
  const WarpedMatrix& matrix() const { return matrix_; }
  const CorotatedElements& elements() const { return elements_; }
  const SupernodePartition& partition() const { return partition_; }
  std::span<const Mat3> node_rotations() const { return rotations_.rotations(); }
  WarpError& error() { return error_; }

 private:
  std::shared_ptr<const Model> model_;
  SparseCholesky factor_;
  SupernodePartition partition_;
  CorotatedElements elements_;
  NodeRotationField rotations_;
  WarpedMatrix matrix_, fresh_;
  WarpError error_;
  std::vector<std::uint8_t> all_, none_;
  std::vector<Mat3> identity_;
};

/// The largest entry of the difference over the largest of b.
double relative_difference(const std::vector<Mat3>& a, const std::vector<Mat3>& b);

}  // namespace pliant::experiments
