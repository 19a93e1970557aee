#pragma once

#include "pliant/linalg/multifrontal.hpp"
#include "pliant/linalg/solve_kernels.hpp"

namespace pliant {

/// Forward and backward substitution over the assembly tree with the numbers of a factorisation, in double or from a
/// copy of the factor in float. Allocates only when more right-hand sides come than ever before.
class TreeSolve {
 public:
  TreeSolve(std::shared_ptr<const SymbolicFactor> plan, TreeTasks& tasks);

  /// In place, any number of right-hand sides.
  void solve(const FactorNumbers& numbers, Eigen::Ref<Eigen::MatrixXd> b);
  /// The same in float throughout, L L^T only.
  void solve(const float* panels, Eigen::Ref<Eigen::MatrixXd> b);
  /// -A_qq^{-1} A_qd for the columns of X, whose rows of the Schur nodes d hold the vectors A_qd is applied to; the
  /// rows q are overwritten.
  void condense(const FactorNumbers& numbers, Eigen::Ref<Eigen::MatrixXd> X);

 private:
  enum class Pass { both, backward_from_schur };
  template <class T>
  void run(const T* panels, const FactorNumbers* ldlt, Eigen::Ref<Eigen::MatrixXd> b, Pass pass);
  template <class T, int b>
  void forward(const T* panels, const FactorNumbers* ldlt, Index s);
  template <class T, int b>
  void backward(const T* panels, const FactorNumbers* ldlt, Index s);
  /// The rows of a supernode's front, and all unknowns by position.
  template <class T>
  dense::Values<T> values_of(Index s);
  template <class T>
  dense::Values<T> unknowns();

  std::shared_ptr<const SymbolicFactor> plan_;
  TreeTasks& tasks_;
  std::vector<std::int64_t> work_start_;  ///< of each supernode's front rows in `work_`, for one right-hand side
  std::int64_t work_rows_ = 0;
  AlignedArray memory_;
  std::int64_t memory_size_ = 0;
  void* work_ = nullptr;  ///< the memory as numbers of the type at work: fronts by supernode, then the unknowns
  Index count_ = 0;       ///< right-hand sides at work, padded
};

}  // namespace pliant
