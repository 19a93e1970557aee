#pragma once

#include "pliant/linalg/sparse_cholesky.hpp"
#include "pliant/solvers/warp_canceling/corotated_elements.hpp"
#include "pliant/solvers/warp_canceling/implicit_colliders.hpp"

namespace pliant {

/// The supernodes of a factorisation as the mesh sees them. Their numbers are a postorder: descendants come first.
struct SupernodePartition {
  std::vector<Index> parent;      ///< -1 at a root
  std::vector<Index> of_node;     ///< the supernode that eliminates a node
  std::vector<Index> of_element;  ///< the lowest supernode among those of its nodes; the others are its ancestors
  std::vector<Index> some_node;   ///< of each supernode

  Index count() const { return static_cast<Index>(parent.size()); }
};
SupernodePartition partition_of(const SparseCholesky& factor, const Model& model);
/// One supernode for all, for solvers without a factor.
SupernodePartition whole_partition(const Model& model);

/// A = (1 + h alpha) M + sum_e (h beta + h^2) Q_e K_e Q_e^T + h^2 (penalties + colliders), with the rotations Q_e of
/// each element's nodes as they were when the element was last refreshed (warp-canceling, (5)): stale where it was not.
class WarpedMatrix {
 public:
  WarpedMatrix(const Model& model, const CorotatedElements& elements, const SupernodePartition& partition);

  /// What the diagonal gets from mass, damping and penalties, which unknowns are prescribed, and the scale of each
  /// body's stiffness. Everything must be refreshed or restored afterwards.
  void set_boundary(const StepProblem& problem);
  /// h beta + h^2 of each body.
  std::span<const double> scale() const { return scale_; }

  /// Tells which nodes press on colliders, with their blocks in the frames of the nodes (no rotations: in the world's).
  /// Marks the nodes whose block at hand is off by more than `tolerance` of it, or is to go: the supernodes that
  /// eliminate them are dirty, with their ancestors.
  void set_touching(std::span<const ColliderTouch> touching, std::span<const Mat3> node_rotations, double tolerance,
                    std::vector<std::uint8_t>& changed);

  /// Takes over the present rotations for all elements of the marked supernodes, and assembles the blocks of these and
  /// of the `dirty` ones. A supernode's ancestors must be marked with it.
  void refresh(std::span<const std::uint8_t> marked, std::span<const std::uint8_t> dirty,
               std::span<const Mat3> node_rotations);

  const BlockMatrix& matrix() const { return A_; }
  /// Q of a batch, as last refreshed.
  const NodeRotationBatch& rotations(Index batch) const { return Q_[static_cast<std::size_t>(batch)]; }
  /// Slots of the elements of a supernode.
  Range slots(Index supernode) const { return slots_[static_cast<std::size_t>(supernode)]; }

  /// All rotations Q, for checkpoints, and back: 36 numbers a slot, then ten for each node that presses on a collider.
  std::vector<double> memory() const;
  bool is_memory(std::span<const double> memory) const;
  void restore(std::span<const double> memory);
  /// Bytes of the matrix itself and of the element blocks it is assembled from.
  std::int64_t matrix_bytes() const { return static_cast<std::int64_t>(A_.values().size() * sizeof(double)); }
  std::int64_t element_bytes() const {
    return static_cast<std::int64_t>(blocks_.size() * sizeof(double) + Q_.size() * sizeof(NodeRotationBatch));
  }

 private:
  std::size_t rotation_numbers() const { return Q_.size() * sizeof(NodeRotationBatch) / sizeof(double); }
  void assemble(std::span<const std::uint8_t> marked);

  const Model& model_;
  const CorotatedElements& elements_;
  BlockMatrix A_;
  std::vector<Range> slots_;                ///< per supernode
  std::vector<std::int64_t> owned_start_;   ///< per supernode, into owned_
  std::vector<std::int64_t> owned_;         ///< blocks of the matrix by the supernode whose panel they go to
  std::vector<std::int64_t> source_start_;  ///< per block of the matrix
  std::vector<std::uint32_t> source_;       ///< twice the number of an element's block, plus one when transposed
  std::vector<Index> block_row_;            ///< per block of the matrix
  std::vector<NodeRotationBatch> Q_;
  std::vector<double> blocks_;  ///< 90 a slot
  std::vector<double> scale_, diagonal_;
  double h_ = 0;
  std::vector<Index> supernode_;  ///< per node
  /// The block of a node that presses on a collider, kg: as it is in the matrix, and as it should be.
  struct Touch {
    bool touches = false;
    Mat3 block;
  };
  std::vector<Touch> in_matrix_, present_;
  std::vector<std::uint8_t> fixed_;
  std::vector<std::int64_t> todo_;  ///< scratch
};

}  // namespace pliant
