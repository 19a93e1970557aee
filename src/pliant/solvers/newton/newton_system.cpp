#include "pliant/solvers/newton/newton_system.hpp"

#include <algorithm>

#include "pliant/base/memory.hpp"
#include "pliant/base/stopwatch.hpp"
#include "pliant/linalg/level_widths.hpp"
#include "pliant/sim/rank_one.hpp"
#include "pliant/solvers/factor_failure.hpp"

namespace pliant {

NewtonSystem::NewtonSystem(StepFunction& function, const LinearOptions& options)
    : LinearSystem(function, options),
      A_(function.model().pattern(), 3),
      inexact_(function),
      choice_(function.model().nodes(), function.model().pattern()->blocks()) {}

void NewtonSystem::begin_step(StepReport& report) {
  LinearSystem::begin_step(report);
  inexact_.begin_step();
  multigrid_systems_ = rest_factor_systems_ = 0;
  has_kept_factor_ = false;
  step_begins_ = chooses_ = true;
}

void NewtonSystem::assemble(const VecX& x, Projection projection, double inertia_scale) {
  const Stopwatch watch(report_->seconds.assembly);
  function_.hessian(x, projection, inertia_scale, A_, drive_);
  if (options_.solver != LinearSolver::direct) positions_ = x;
  is_truncated_ = false;
  ++matrix_;
  inexact_.begin_matrix();
}

FactorStatus NewtonSystem::solve_for(Factorisation kind, const VecX& g, VecX& dx) {
  switch (function_.rank_ones().empty() ? options_.solver : LinearSolver::direct) {
    case LinearSolver::automatic:
      return solve_automatically(kind, g, dx);
    case LinearSolver::direct:
      return solve_direct(kind, g, dx);
    case LinearSolver::pcg:
      return solve_iteratively(kind, options_.preconditioner, g, dx, options_.max_iterations);
  }
  return FactorStatus::ok;
}

void NewtonSystem::end_without_factor(StepReport& report, FactorStatus status, std::string_view remedy) const {
  pliant::end_without_factor(report, status, cholesky_, "the matrix", remedy);
}

/// Small systems are factorised. For large ones there is a choice, which is looked after: where iterations do not get
/// there by the time another method would have taken, the system is solved by that one, and so are the next.
FactorStatus NewtonSystem::solve_automatically(Factorisation kind, const VecX& g, VecX& dx) {
  if (function_.model().nodes() < LinearChoice::kFewNodes) return solve_direct(kind, g, dx);
  if (!choice_.has_guess()) choice_.set_guess(guess_factor(*function_.model().pattern(), A_.block_size()));
  if (chooses_) {
    const StepProblem& problem = function_.problem();
    choice_.begin_step(
        {problem.has_inertia(), function_.contact() != nullptr, MatrixKey(problem).digest_without_grabs()});
  }
  choice_.set_kept_matrix(is_kept_);
  for (;;) {
    if (choice_.asks_for_factor_costs()) analyze_model();
    if (chooses_) choice_.choose();
    chooses_ = false;
    const LinearMethod method = choice_.method();
    if (method == LinearMethod::factor) {
      FactorStatus status = FactorStatus::ok;
      const bool is_factored = is_kept_ && factored_matrix_ == matrix_;
      if (!is_factored && solve_with_kept_factor(kind, g, dx, status)) return status;
      status = solve_direct(kind, g, dx);
      const SparseCholesky::Statistics made = cholesky_.statistics();
      choice_.count_factor({static_cast<double>(made.factor_entries), made.flops});
      has_kept_factor_ = status == FactorStatus::ok && kind == Factorisation::llt;
      return status;
    }
    const bool is_multigrid = method == LinearMethod::multigrid, is_rest_factor = method == LinearMethod::rest_factor;
    const auto preconditioner = is_multigrid     ? PreconditionerKind::multigrid
                                : is_rest_factor ? PreconditionerKind::rest_factor
                                                 : options_.preconditioner;
    const int before = report_->linear_iterations, most = choice_.most_iterations();
    const FactorStatus status =
        solve_iteratively(kind, preconditioner, g, dx, most > 0 ? most : options_.max_iterations);
    const int iterations = report_->linear_iterations - before;
    const bool is_solved = !was_cut_short_ || most == 0;  // any iterate is a descent direction
    if (is_multigrid) {
      choice_.count_multigrid(iterations, inexact_.multigrid_work(), is_solved);
      ++multigrid_systems_;
    } else if (is_rest_factor) {
      choice_.count_rest_factor(iterations, is_solved);
      ++rest_factor_systems_;
    } else {
      choice_.count_gradients(iterations, is_solved);
    }
    if (is_solved) return status;
  }
}

/// Of the model's own pattern, which is also what a factorisation would cost.
void NewtonSystem::analyze_model() {
  constexpr double kShareOfMemory = 0.5;
  const Stopwatch watch(report_->seconds.factorisation);
  analysed_ = function_.model().pattern();
  is_first_analysis_ = true;
  cholesky_.analyze(analysed_, A_.block_size());
  model_order_.assign(cholesky_.order().begin(), cholesky_.order().end());
  inexact_.set_order(model_order_);
  const SparseCholesky::Statistics statistics = cholesky_.statistics();
  model_flops_ = statistics.flops;
  choice_.set_factor_costs(statistics.factor_entries, statistics.flops);
  if (static_cast<double>(statistics.factor_bytes) > kShareOfMemory * physical_memory()) choice_.rule_out_factors();
}

void NewtonSystem::end_step() {
  choice_.end_step();
  if (multigrid_systems_ > 0)
    report_->figures.push_back({"multigrid_systems", static_cast<double>(multigrid_systems_)});
  if (kept_matrices_ > 0) report_->figures.push_back({"kept_matrices", static_cast<double>(kept_matrices_)});
  if (rest_factor_systems_ > 0)
    report_->figures.push_back({"rest_factor_systems", static_cast<double>(rest_factor_systems_)});
}

std::vector<double> NewtonSystem::memory() const {
  return options_.solver == LinearSolver::automatic ? choice_.memory() : std::vector<double>();
}

/// Contact changes the pattern from iteration to iteration. Within a step the order of elimination is kept. A step
/// begins with the order made for the model alone, or, where contact makes that one expensive, with one of its own: in
/// either case a function of its first pattern, so that a step's bits do not depend on the steps before it.
void NewtonSystem::analyze() {
  constexpr double kMostExtraWork = 1.5;
  const std::shared_ptr<const BlockPattern> pattern = A_.shared_pattern();
  const bool begins = step_begins_;
  step_begins_ = false;
  if (model_order_.empty()) analyze_model();
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

FactorStatus NewtonSystem::factorise(Factorisation kind) {
  const std::shared_ptr<const BlockPattern> before = analysed_;
  const bool begins = step_begins_;
  analyze();
  if (!options_.in_parts || kind != Factorisation::llt) {
    factored_.clear();
    return cholesky_.factor(A_, kind);
  }
  cholesky_.keep_updates(true);
  const bool may_keep = !begins && before == analysed_ && !factored_.empty();
  const FactorStatus status = may_keep && find_changes() ? cholesky_.refactor(A_, changed_) : cholesky_.factor(A_);
  factored_.clear();
  if (status == FactorStatus::ok) factored_.assign(A_.values().begin(), A_.values().end());
  return status;
}

/// The nodes of all blocks that differ from those of the last factorisation. False where they are too many for parts
/// to be cheaper than the whole.
bool NewtonSystem::find_changes() {
  const BlockPattern& pattern = A_.pattern();
  const std::size_t size = at(A_.block_size() * A_.block_size());
  std::vector<std::uint8_t> is_changed(at(pattern.rows()), 0);
  for (Index i = 0; i < pattern.rows(); ++i)
    for (std::int64_t k = pattern.diagonal(i); k < pattern.row_start()[at(i) + 1]; ++k) {
      const double* block = A_.block(k);
      if (!std::equal(block, block + size, factored_.data() + (block - A_.values().data())))
        is_changed[at(i)] = is_changed[at(pattern.columns()[at(k)])] = 1;
    }
  changed_.clear();
  for (Index i = 0; i < pattern.rows(); ++i)
    if (is_changed[at(i)]) changed_.push_back(i);
  return 4 * changed_.size() < at(pattern.rows());
}

FactorStatus NewtonSystem::solve_direct(Factorisation kind, const VecX& g, VecX& dx) {
  if (!is_kept_ || factored_matrix_ != matrix_) {
    const Stopwatch watch(report_->seconds.factorisation);
    const FactorStatus status = factorise(kind);
    ++report_->factorisations;
    factored_matrix_ = status == FactorStatus::ok ? matrix_ : -1;
    if (status != FactorStatus::ok) {
      ++report_->failed_factorisations;
      return status;
    }
  }
  linear_residual_ = 0;
  const Stopwatch watch(report_->seconds.solve);
  dx = -g;
  cholesky_.solve(dx);
  add_rank_ones(cholesky_, function_.rank_ones(), dx);
  return FactorStatus::ok;
}

/// The factor of an earlier matrix of the step as a preconditioner: mostly a few iterations to the accuracy asked for,
/// where another factorisation costs as much as tens. False where they are not enough, or there is no factor. Factors
/// of earlier steps are not kept, so that a step's bits do not depend on the steps before it.
bool NewtonSystem::solve_with_kept_factor(Factorisation kind, const VecX& g, VecX& dx, FactorStatus& status) {
  constexpr double kTolerance = 1e-4;  // as good as exact: Newton's iterations stay what they are
  if (!has_kept_factor_ || kind != Factorisation::llt || analysed_ != A_.shared_pattern()) return false;
  const int most = choice_.most_iterations_with_factor();
  if (most == 0) return false;
  const PcgReport result = inexact_.solve_with_factor(cholesky_, A_, g, dx, {kTolerance, most}, *report_);
  choice_.count_kept_factor(result.iterations, result.outcome != PcgOutcome::iteration_limit);
  if (result.outcome == PcgOutcome::iteration_limit) return false;
  status = result.outcome == PcgOutcome::converged    ? FactorStatus::ok
           : result.outcome == PcgOutcome::not_finite ? FactorStatus::not_finite
                                                      : FactorStatus::not_positive_definite;
  if (status == FactorStatus::not_positive_definite) ++report_->failed_factorisations;
  linear_residual_ = result.residual * g.norm();
  if (status == FactorStatus::ok) balance_bodies(g, dx);
  return true;
}

FactorStatus NewtonSystem::solve_iteratively(Factorisation kind, PreconditionerKind preconditioner, const VecX& g,
                                             VecX& dx, int most_iterations) {
  was_cut_short_ = false;
  if (kind == Factorisation::ldlt && is_truncated_) {
    dx = truncated_;
    return FactorStatus::ok;
  }
  const double tolerance = options_.fixed_iterations > 0 ? 0 : forcing_term(g.norm());
  const PcgReport result = inexact_.solve(
      preconditioner, A_, positions_, g, dx,
      {tolerance, options_.fixed_iterations > 0 ? options_.fixed_iterations : most_iterations}, *report_);
  was_cut_short_ = result.outcome == PcgOutcome::iteration_limit && tolerance > 0;
  linear_residual_ = result.residual * g.norm();
  if (result.outcome == PcgOutcome::not_finite) return FactorStatus::not_finite;
  if (result.outcome != PcgOutcome::negative_curvature) {  // any iterate is a descent direction
    if (options_.balances_bodies || options_.solver == LinearSolver::automatic) balance_bodies(g, dx);
    return FactorStatus::ok;
  }
  if (kind == Factorisation::ldlt) return FactorStatus::ok;
  ++report_->failed_factorisations;
  truncated_ = dx;
  is_truncated_ = true;
  return FactorStatus::not_positive_definite;
}

/// With Z the translations of the bodies: dx += Z (Z^T A Z)^{-1} Z^T (-g - A dx), which lowers the quadratic model
/// further. Forces within a body and between two of them add up to nothing, so that what is left of their momentum is
/// rounding, where conjugate gradients in float leave six digits.
void NewtonSystem::balance_bodies(const VecX& g, VecX& dx) {
  constexpr Eigen::Index kMostBodies = 200;  // the matrix is dense
  const std::vector<Body>& bodies = function_.model().bodies();
  const auto count = static_cast<Eigen::Index>(bodies.size());
  if (count > kMostBodies) return;
  const Stopwatch watch(report_->seconds.solve);
  if (body_of_.empty()) {
    body_of_.assign(static_cast<std::size_t>(A_.pattern().rows()), 0);
    for (std::size_t b = 0; b < bodies.size(); ++b)
      for (Index i = bodies[b].nodes.begin; i < bodies[b].nodes.end; ++i)
        body_of_[static_cast<std::size_t>(i)] = static_cast<Index>(b);
  }
  is_held_.assign(bodies.size(), 0);
  for (Index unknown : function_.problem().fixed) is_held_[at(body_of_[at(unknown / 3)])] = 1;
  if (std::find(is_held_.begin(), is_held_.end(), std::uint8_t{0}) == is_held_.end()) return;
  const std::vector<std::uint8_t>& fixed = function_.problem().boundary.fixed;
  const auto is_free = [&](Index i, int axis) { return !fixed[static_cast<std::size_t>(3 * i + axis)]; };
  const auto body = [&](Index i) { return 3 * Eigen::Index(body_of_[static_cast<std::size_t>(i)]); };
  const BlockPattern& pattern = A_.pattern();
  whole_.setZero(3 * count, 3 * count);
  for (Index i = 0; i < pattern.rows(); ++i)
    for (std::int64_t k = pattern.diagonal(i); k < pattern.row_start()[static_cast<std::size_t>(i) + 1]; ++k) {
      const Index j = pattern.columns()[static_cast<std::size_t>(k)];
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r) {
          if (!is_free(i, r) || !is_free(j, c)) continue;
          const double a = A_.block(k)[3 * c + r];
          whole_(body(i) + r, body(j) + c) += a;
          if (i != j) whole_(body(j) + c, body(i) + r) += a;
        }
    }
  for (Eigen::Index d = 0; d < 3 * count; ++d)
    if (!(whole_(d, d) > 0)) whole_(d, d) = 1;  // of a body that is held altogether
  A_.multiply(dx, unbalanced_);
  unbalanced_ += g;
  whole_motion_.setZero(3 * count);
  for (Index i = 0; i < pattern.rows(); ++i)
    for (int axis = 0; axis < 3; ++axis)
      if (is_free(i, axis)) whole_motion_[body(i) + axis] -= unbalanced_[3 * i + axis];
  whole_factor_.factor(whole_);
  whole_motion_ = whole_factor_.solve(whole_motion_);
  if (!whole_motion_.allFinite()) return;
  for (Index i = 0; i < pattern.rows(); ++i)
    for (int axis = 0; axis < 3; ++axis)
      if (is_free(i, axis)) dx[3 * i + axis] += whole_motion_[body(i) + axis];
}

}  // namespace pliant
