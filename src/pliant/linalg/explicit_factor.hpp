#pragma once

#include <memory>

#include "pliant/linalg/aligned_array.hpp"
#include "pliant/linalg/symbolic_factor.hpp"
#include "pliant/linalg/tree_tasks.hpp"

namespace pliant {

/// An L L^T made for being solved with for ever, in float: a preconditioner that is applied thousands of times per
/// factorisation. The panel [L11; L21] of every supernode is replaced by
///
///   W = [L11^{-1}; -L21 L11^{-1}],
///
/// so that substitution through it is one product, W b on the way up and W^T x on the way down: no triangular solves,
/// whose chains of dependent operations cost small fronts more than their arithmetic. The result is that of a symmetric
/// positive definite matrix, whatever the rounding.
class ExplicitFactor {
 public:
  /// `panels`: the numbers of an L L^T on this plan.
  ExplicitFactor(std::shared_ptr<const SymbolicFactor> plan, const double* panels);

  /// x = A^{-1} b for one, two or three right-hand sides: number q of unknown i is at i * unknown_step + q * side_step.
  /// x may be b. Allocates nothing. Same bits for any number of threads.
  void solve(const double* b, double* x, int sides, std::ptrdiff_t unknown_step, std::ptrdiff_t side_step);

  std::int64_t bytes() const { return static_cast<std::int64_t>(numbers_ * sizeof(float)); }

 private:
  /// A supernode within its task, sizes in scalars. The task's values are those of its own unknowns, in the order of
  /// elimination, followed by those of the rows below its last supernode.
  struct Front {
    Index first = 0;  ///< pivot, among the task's values
    Index pivots = 0;
    Index rows = 0;              ///< below the pivots
    std::int64_t panel = 0;      ///< first number
    std::int64_t row_start = 0;  ///< into rows_
  };
  struct Part {
    Index begin = 0, end = 0;       ///< positions of its nodes
    Index rows = 0;                 ///< below its last supernode, scalars
    std::int64_t values = 0;        ///< first row of its values
    std::int64_t scratch = 0;       ///< first row of room for three fronts
    std::int64_t scratch_rows = 0;  ///< of one
  };
  struct Sides {
    const double* b;
    double* x;
    int count;
    std::ptrdiff_t unknown_step, side_step;
  };

  void make_fronts();
  void make_panel(const double* panels, std::size_t s);
  template <int Q>
  void run(const Sides& sides);
  template <int Q>
  void forward(const TreeTasks::Task& task, const Sides& sides);
  template <int Q>
  void backward(const TreeTasks::Task& task, const Sides& sides);
  const Part& part_of(const TreeTasks::Task& task) const {
    return parts_[static_cast<std::size_t>(&task - tasks_.tasks().data())];
  }
  float* front_panel(const Front& front) { return reinterpret_cast<float*>(panels_.get()) + front.panel; }

  std::shared_ptr<const SymbolicFactor> plan_;
  TreeTasks tasks_;
  std::vector<Front> fronts_;
  std::vector<Part> parts_;
  std::vector<Index> part_of_last_;  ///< of supernodes that end a task
  std::vector<Index> rows_;          ///< where a front's rows are among its task's values
  AlignedArray panels_, work_;       ///< floats
  std::int64_t numbers_ = 0, work_rows_ = 0;
};

}  // namespace pliant
