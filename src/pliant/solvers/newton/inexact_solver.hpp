#pragma once

#include "pliant/linalg/multigrid/multigrid.hpp"
#include "pliant/linalg/pcg.hpp"
#include "pliant/sim/step_function.hpp"
#include "pliant/sim/step_report.hpp"
#include "pliant/solvers/newton/linear_choice.hpp"
#include "pliant/solvers/newton/rest_factor.hpp"

namespace pliant {

/// Conjugate gradients for the systems of a Newton-type iteration, with seconds and iterations counted in the step's
/// report.
class InexactSolver {
 public:
  explicit InexactSolver(StepFunction& function) : function_(function) {}

  void begin_step() { multigrid_age_ = -1; }
  /// The next systems are those of another matrix; until the next call the matrix and its positions stay as they are.
  void begin_matrix() { ++matrix_; }
  /// Of elimination, for the model's pattern: what the factor at rest need not find out.
  void set_order(std::span<const Index> order) { order_.assign(order.begin(), order.end()); }
  /// A dx = -g for the matrix at positions x, from zero.
  PcgReport solve(PreconditionerKind kind, const BlockMatrix& A, const VecX& x, const VecX& g, VecX& dx,
                  const PcgOptions& options, StepReport& report);

  /// The same with a factor of a similar matrix as preconditioner.
  PcgReport solve_with_factor(SparseCholesky& factor, const BlockMatrix& A, const VecX& g, VecX& dx,
                              const PcgOptions& options, StepReport& report);

  /// Of the last solution with multigrid.
  MultigridWork multigrid_work() const;

 private:
  /// With one type of numbers.
  template <class T>
  struct Gradients {
    BlockProduct<T> product;
    PreconditionerKind kind = PreconditionerKind::none;
    std::unique_ptr<Preconditioner<T>> preconditioner;
    Pcg<T> pcg;
    VectorOf<T> b, x;
    std::int64_t taken = 0;  ///< the number of the matrix in `product`
  };
  /// False where it is there already.
  template <class T>
  bool take_matrix(Gradients<T>& gradients, const BlockMatrix& A);
  template <class T>
  PcgReport run(Gradients<T>& gradients, Preconditioner<T>& preconditioner, const VecX& g, VecX& dx,
                const PcgOptions& options, StepReport& report);
  PcgReport solve_with_rest_factor(const BlockMatrix& A, const VecX& x, const VecX& g, VecX& dx,
                                   const PcgOptions& options, StepReport& report);
  PcgReport solve_with_multigrid(const BlockMatrix& A, const VecX& x, const VecX& g, VecX& dx,
                                 const PcgOptions& options, StepReport& report);

  StepFunction& function_;
  std::int64_t matrix_ = 0;  ///< its number
  Gradients<float> in_float_;
  Gradients<double> in_double_;  ///< built when first needed
  std::vector<Index> order_;
  std::unique_ptr<RestFactor> rest_factor_;
  std::int64_t turned_for_ = 0;  ///< the number of the matrix that it was turned for
  std::unique_ptr<Multigrid> multigrid_;
  int multigrid_age_ = -1;    ///< systems since its numbers were computed; -1: none in this step
  double fresh_effort_ = 0;   ///< iterations for a digit when they were
  bool is_worn_out_ = false;  ///< more iterations by now than new numbers cost
};

}  // namespace pliant
