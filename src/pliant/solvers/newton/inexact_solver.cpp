#include "pliant/solvers/newton/inexact_solver.hpp"

#include <algorithm>
#include <cmath>

#include "pliant/base/stopwatch.hpp"

namespace pliant {

template <class T>
bool InexactSolver::take_matrix(Gradients<T>& gradients, const BlockMatrix& A) {
  if (gradients.taken == matrix_) return false;
  gradients.taken = matrix_;
  if (gradients.product.shared_pattern() != A.shared_pattern()) {
    gradients.product = BlockProduct<T>(A.shared_pattern(), A.block_size());
    gradients.preconditioner.reset();
  }
  gradients.product.set(A);
  return true;
}

template <class T>
PcgReport InexactSolver::run(Gradients<T>& gradients, Preconditioner<T>& preconditioner, const VecX& g, VecX& dx,
                             const PcgOptions& options, StepReport& report) {
  const Stopwatch watch(report.seconds.solve);
  const double norm = g.norm(), scale = norm > 0 ? norm : 1;  // any size of forces is of order one for a linear system
  gradients.b = (-g / scale).template cast<T>();
  gradients.x.setZero(g.size());
  const PcgReport result = gradients.pcg.solve(gradients.product, gradients.b, gradients.x, preconditioner, options);
  report.linear_iterations += result.iterations;
  dx = gradients.x.template cast<double>() * scale;
  return result;
}

/// In float, which halves the bytes that bound a product, and is accurate enough for what is asked. Whether a matrix is
/// indefinite, rounding must not decide: that is asked again in double.
PcgReport InexactSolver::solve(PreconditionerKind kind, const BlockMatrix& A, const VecX& x, const VecX& g, VecX& dx,
                               const PcgOptions& options, StepReport& report) {
  if (kind == PreconditionerKind::multigrid) return solve_with_multigrid(A, x, g, dx, options, report);
  if (kind == PreconditionerKind::rest_factor) return solve_with_rest_factor(A, x, g, dx, options, report);
  const auto attempt = [&]<class T>(Gradients<T>& gradients) {
    {
      const Stopwatch watch(report.seconds.factorisation);
      const bool is_new = take_matrix(gradients, A), is_other = !gradients.preconditioner || gradients.kind != kind;
      if (is_other) gradients.preconditioner = make_preconditioner<T>(kind);
      gradients.kind = kind;
      if (is_new || is_other) gradients.preconditioner->set(gradients.product);
    }
    return run(gradients, *gradients.preconditioner, g, dx, options, report);
  };
  const PcgReport result = attempt(in_float_);
  const bool is_in_doubt = result.outcome == PcgOutcome::negative_curvature || result.outcome == PcgOutcome::not_finite;
  return is_in_doubt ? attempt(in_double_) : result;
}

PcgReport InexactSolver::solve_with_factor(SparseCholesky& factor, const BlockMatrix& A, const VecX& g, VecX& dx,
                                           const PcgOptions& options, StepReport& report) {
  {
    const Stopwatch watch(report.seconds.solve);
    take_matrix(in_double_, A);
  }
  StaleFactor stale(factor);
  return run(in_double_, stale, g, dx, options, report);
}

PcgReport InexactSolver::solve_with_rest_factor(const BlockMatrix& A, const VecX& x, const VecX& g, VecX& dx,
                                                const PcgOptions& options, StepReport& report) {
  {
    const Stopwatch watch(report.seconds.factorisation);
    if (!rest_factor_) rest_factor_ = std::make_unique<RestFactor>(function_, order_);
    if (turned_for_ != matrix_ && !rest_factor_->prepare(x))
      return solve(PreconditionerKind::block_jacobi, A, x, g, dx, options, report);
    turned_for_ = matrix_;
    take_matrix(in_double_, A);
  }
  return run(in_double_, rest_factor_->preconditioner(), g, dx, options, report);
}

/// In double: a matrix rounded to float has other rigid motions, which are what conjugate gradients are left with here.
/// Groups of nodes are made from the stiffness at rest, and numbers at the first system of a step at the latest, so
/// that a step's bits do not depend on the steps before it. Within a step numbers are kept as long as the iterations
/// that their age adds cost less than new ones. Its levels own their matrices, so that contact may change the pattern.
PcgReport InexactSolver::solve_with_multigrid(const BlockMatrix& A, const VecX& x, const VecX& g, VecX& dx,
                                              const PcgOptions& options, StepReport& report) {
  constexpr double kIterationsOfSetUp = 8;
  {
    const Stopwatch watch(report.seconds.factorisation);
    if (!multigrid_) {
      BlockMatrix rest(function_.model().pattern(), 3);
      function_.rest_stiffness(rest);
      multigrid_ = std::make_unique<Multigrid>(rest, function_.model().rest());
    }
    take_matrix(in_double_, A);
    if (multigrid_age_ < 0 || is_worn_out_) {
      multigrid_->set_positions(x);
      multigrid_->set(in_double_.product);
      multigrid_age_ = 0;
      is_worn_out_ = false;
    } else {
      ++multigrid_age_;
    }
  }
  const PcgReport result = run(in_double_, *multigrid_, g, dx, options, report);
  const double digits = std::max(0.5, -std::log10(std::max(result.residual, 1e-16)));
  if (multigrid_age_ == 0) fresh_effort_ = result.iterations / digits;
  is_worn_out_ =
      result.outcome != PcgOutcome::converged || result.iterations > fresh_effort_ * digits + kIterationsOfSetUp;
  return result;
}

MultigridWork InexactSolver::multigrid_work() const {
  if (!multigrid_) return {};
  const Multigrid::Statistics statistics = multigrid_->statistics();
  return {multigrid_age_ == 0, statistics.complexity, statistics.set_up_products};
}

}  // namespace pliant
