#pragma once

#include <atomic>
#include <memory>

#include "pliant/linalg/aligned_array.hpp"
#include "pliant/linalg/block_matrix.hpp"
#include "pliant/linalg/buffer_pool.hpp"
#include "pliant/linalg/front.hpp"
#include "pliant/linalg/sparse_cholesky.hpp"
#include "pliant/linalg/symbolic_factor.hpp"
#include "pliant/linalg/tree_tasks.hpp"

namespace pliant {

/// The numbers of a factorisation on a symbolic plan.
struct FactorNumbers {
  Factorisation kind = Factorisation::llt;
  AlignedArray panels;               ///< plan.panel_numbers
  std::vector<Index> pivot_order;    ///< L D L^T: per scalar position, row of its pivot block eliminated there
  std::vector<double> off_diagonal;  ///< L D L^T: D(k+1, k), per scalar position
  std::vector<double> scale;         ///< L D L^T: S of S A S, per scalar position; powers of two
};

/// The numeric factorisation, whole or of a part of the tree.
class Multifrontal {
 public:
  explicit Multifrontal(std::shared_ptr<const SymbolicFactor> plan);

  /// Keeps the updates of all fronts from the next factorisation on, which is what refactor needs.
  void keep_updates(bool keep);
  bool keeps_updates() const { return keep_; }
  /// ok, not_positive_definite, singular or out_of_memory; the matrix must be finite.
  FactorStatus factor(const BlockMatrix& A, Factorisation kind);
  /// The same when A differs from the matrix factored last only in blocks whose two nodes are both dirty.
  FactorStatus refactor(const BlockMatrix& A, std::span<const Index> dirty_nodes);

  /// Gives the memory of the factor and of kept updates back, and what the work took.
  void release();
  /// The latter alone. A little is kept for the next factorisation: who makes small factors makes them often.
  void release_workspace();

  const FactorNumbers& numbers() const { return numbers_; }
  TreeTasks& tasks() { return tasks_; }
  LdltCount count() const;
  /// Seconds each supernode took when it was last computed, without its descendants.
  std::span<const float> seconds() const { return seconds_; }
  /// Work of the supernodes the last factor or refactor computed.
  double last_flops() const { return last_flops_; }
  std::size_t update_numbers() const;
  /// Bytes that a factorisation takes beside those it has from the last one, as far as the plan tells: those of fronts
  /// that wait for their parents are those of one thread.
  std::int64_t needed_bytes() const;
  /// The last supernode's front before its elimination, where the plan keeps one for a Schur complement; lower
  /// triangle.
  const Eigen::MatrixXd& schur() const { return schur_; }
  bool has_schur() const { return has_schur_; }

 private:
  struct Prepare;
  FactorStatus run(const BlockMatrix& A);
  void factor_task(const BlockMatrix& A, const TreeTasks::Task& task);
  void factor_subtree(const BlockMatrix& A, Index s, double* update, double* stack, double* workspace);
  void factor_alone(const BlockMatrix& A, Index s, double* update, double* workspace);
  void assemble_panel(const BlockMatrix& A, Index s, const Front& front);
  void eliminate(Index s, const Front& front, double* workspace, TilePreparation* preparation);
  Front front_of(Index s, double* update) const;
  double* update_of(Index s);
  std::size_t update_size(Index s) const;
  std::size_t workspace_size(Index s) const;
  void equilibrate(const BlockMatrix& A);

  std::shared_ptr<const SymbolicFactor> plan_;
  TreeTasks tasks_;
  std::vector<std::size_t> stack_size_;  ///< of each supernode's subtree without its own update, numbers
  FactorNumbers numbers_;
  BufferPool pool_;
  std::vector<BufferPool::Buffer> updates_;  ///< of the tasks' last supernodes, when not kept
  bool keep_ = false, complete_ = false;
  AlignedArray kept_;
  std::vector<std::size_t> kept_start_;
  std::vector<std::uint8_t> marked_;  ///< supernodes to compute
  std::vector<LdltCount> counts_;
  std::vector<float> seconds_;
  std::atomic<bool> stopped_ = false;
  double last_flops_ = 0, matrix_scale_ = 1;
  Eigen::MatrixXd schur_;
  bool has_schur_ = false;
};

}  // namespace pliant
