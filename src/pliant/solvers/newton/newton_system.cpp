#include "pliant/solvers/newton/newton_system.hpp"

#include <algorithm>

#include "pliant/base/stopwatch.hpp"

namespace pliant {

NewtonSystem::NewtonSystem(StepFunction& function, const LinearOptions& options)
    : function_(function), options_(options), A_(function.model().pattern(), 3) {}

void NewtonSystem::begin_step(StepReport& report) {
  report_ = &report;
  step_begins_ = true;
  last_norm_ = 0;
  last_forcing_ = 0;
}

void NewtonSystem::assemble(const VecX& x, Projection projection, double inertia_scale) {
  const Stopwatch watch(report_->seconds.assembly);
  function_.hessian(x, projection, inertia_scale, A_, drive_);
  is_truncated_ = false;
}

FactorStatus NewtonSystem::solve(Factorisation kind, const VecX& g, VecX& dx) {
  if (drive_) driven_gradient_ = g + drive_->coupling;
  const VecX& rhs = drive_ ? driven_gradient_ : g;
  const FactorStatus status =
      options_.solver == LinearSolver::direct ? solve_direct(kind, rhs, dx) : solve_iteratively(kind, rhs, dx);
  if (drive_ && status == FactorStatus::ok) dx += drive_->remaining;
  return status;
}

/// Contact changes the pattern from iteration to iteration. Within a step the order of elimination is kept. A step
/// begins with the order made for the model alone, or, where contact makes that one expensive, with one of its own: in
/// either case a function of its first pattern, so that a step's bits do not depend on the steps before it.
void NewtonSystem::analyze() {
  constexpr double kMostExtraWork = 1.5;
  const std::shared_ptr<const BlockPattern> pattern = A_.shared_pattern();
  const bool begins = step_begins_;
  step_begins_ = false;
  if (model_order_.empty()) {
    analysed_ = function_.model().pattern();
    is_first_analysis_ = true;
    cholesky_.analyze(analysed_, A_.block_size());
    model_order_.assign(cholesky_.order().begin(), cholesky_.order().end());
    model_flops_ = cholesky_.statistics().flops;
  }
  if (pattern == analysed_ && (!begins || is_first_analysis_)) return;
  if (begins) {
    cholesky_.analyze_in_order(pattern, A_.block_size(), model_order_);
    if (cholesky_.statistics().flops > kMostExtraWork * model_flops_) cholesky_.analyze(pattern, A_.block_size());
  } else {
    cholesky_.change_pattern(pattern);
  }
  analysed_ = pattern;
  is_first_analysis_ = begins;
}

FactorStatus NewtonSystem::solve_direct(Factorisation kind, const VecX& g, VecX& dx) {
  {
    const Stopwatch watch(report_->seconds.factorisation);
    analyze();
    const FactorStatus status = cholesky_.factor(A_, kind);
    ++report_->factorisations;
    if (status != FactorStatus::ok) {
      ++report_->failed_factorisations;
      return status;
    }
  }
  const Stopwatch watch(report_->seconds.solve);
  dx = -g;
  cholesky_.solve(dx);
  return FactorStatus::ok;
}

template <class T>
PcgReport NewtonSystem::run(Gradients<T>& gradients, const VecX& g, VecX& dx, double tolerance) {
  {
    const Stopwatch watch(report_->seconds.factorisation);
    if (!gradients.preconditioner || &gradients.product.pattern() != &A_.pattern()) {
      gradients.product = BlockProduct<T>(A_.shared_pattern(), A_.block_size());
      gradients.preconditioner = make_preconditioner<T>(options_.preconditioner);
    }
    gradients.product.set(A_);
    gradients.preconditioner->set(gradients.product);
  }
  const Stopwatch watch(report_->seconds.solve);
  const double norm = g.norm(), scale = norm > 0 ? norm : 1;  // any size of forces is of order one for a linear system
  gradients.b = (-g / scale).template cast<T>();
  gradients.x = VectorOf<T>::Zero(g.size());
  const PcgReport result = gradients.pcg.solve(
      gradients.product, gradients.b, gradients.x, *gradients.preconditioner,
      {tolerance, options_.fixed_iterations > 0 ? options_.fixed_iterations : options_.max_iterations});
  dx = gradients.x.template cast<double>() * scale;
  return result;
}

FactorStatus NewtonSystem::solve_iteratively(Factorisation kind, const VecX& g, VecX& dx) {
  if (kind == Factorisation::ldlt && is_truncated_) {
    dx = truncated_;
    return FactorStatus::ok;
  }
  // In float, which halves the bytes that bound a product, and is accurate enough for what is asked. Whether a matrix
  // is indefinite, rounding must not decide: that is asked again in double.
  const double tolerance = options_.fixed_iterations > 0 ? 0 : forcing_term(g.norm());
  PcgReport result = run(in_float_, g, dx, tolerance);
  if (result.outcome == PcgOutcome::negative_curvature || result.outcome == PcgOutcome::not_finite) {
    report_->linear_iterations += result.iterations;
    result = run(in_double_, g, dx, tolerance);
  }
  report_->linear_iterations += result.iterations;
  if (result.outcome == PcgOutcome::not_finite) return FactorStatus::not_finite;
  if (result.outcome != PcgOutcome::negative_curvature) return FactorStatus::ok;  // any iterate is a descent direction
  if (kind == Factorisation::ldlt) return FactorStatus::ok;
  ++report_->failed_factorisations;
  truncated_ = dx;
  is_truncated_ = true;
  return FactorStatus::not_positive_definite;
}

/// Eisenstat and Walker, "Choosing the forcing terms in an inexact Newton method", 1996, choice 2 with their safeguard:
/// as accurate as the last iteration's progress says the linear model is. A second solve with the same gradient, after
/// negative curvature, uses the same term.
double NewtonSystem::forcing_term(double norm) {
  constexpr double gamma = 0.9, loosest = 0.1, tightest = 1e-3;
  if (norm == last_norm_) return last_forcing_;
  double term = loosest;
  if (last_norm_ > 0) {
    const double ratio = norm / last_norm_;
    term = gamma * ratio * ratio;
    const double kept = gamma * last_forcing_ * last_forcing_;
    if (kept > 0.1) term = std::max(term, kept);
  }
  last_norm_ = norm;
  last_forcing_ = std::clamp(term, tightest, loosest);
  return last_forcing_;
}

}  // namespace pliant
