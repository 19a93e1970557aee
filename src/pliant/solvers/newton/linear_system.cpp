#include "pliant/solvers/newton/linear_system.hpp"

#include <algorithm>
#include <cmath>

#include "pliant/solvers/free_parts.hpp"

namespace pliant {

void LinearSystem::begin_step(StepReport& report) {
  report_ = &report;
  last_norm_ = 0;
  last_forcing_ = 0;
  kept_matrices_ = 0;
  matrix_is_there_ = false;
}

bool LinearSystem::may_add_inertia() const {
  // Whether a part is held is not for one of several processes to say.
  if (function_.problem().has_inertia() || function_.model().sharing()) return false;
  FreeParts parts(function_.model());
  parts.set_boundary(function_.problem());
  return parts.none();
}

/// Rounding may give a factor to a matrix that has none. Its solutions lead out of the world.
bool LinearSystem::is_singular(const VecX& dx) const {
  constexpr double kOutOfTheWorld = 1e4;  // of the smallest body's size
  return !function_.problem().has_inertia() && !function_.model().sharing() &&
         largest(nullptr, dx) > kOutOfTheWorld * size();
}

bool LinearSystem::may_solve_again() const {
  return options_.keeps_matrix && options_.solver != LinearSolver::direct && options_.fixed_iterations == 0 &&
         matrix_is_there_ && function_.rank_ones().empty() && !function_.contact();
}

FactorStatus LinearSystem::solve_again(const VecX& g, VecX& dx) {
  is_kept_ = true;
  const FactorStatus status = solve(Factorisation::llt, g, dx);
  is_kept_ = false;
  return status;
}

FactorStatus LinearSystem::solve(Factorisation kind, const VecX& g, VecX& dx) {
  if (drive_) driven_gradient_ = g + drive_->coupling;
  FactorStatus status = solve_for(kind, drive_ ? driven_gradient_ : g, dx);
  if (status == FactorStatus::ok && kind == Factorisation::llt && is_singular(dx))
    status = FactorStatus::not_positive_definite;
  if (drive_ && status == FactorStatus::ok) dx += drive_->remaining;
  matrix_is_there_ = status == FactorStatus::ok && kind == Factorisation::llt;
  return status;
}

/// Eisenstat and Walker, "Choosing the forcing terms in an inexact Newton method", 1996, choice 1: as accurate as the
/// linear model of the last iteration was, by what it said of the gradient here. A second solve with the same gradient,
/// after negative curvature, uses the same term.
double LinearSystem::forcing_term(double norm) {
  constexpr double loosest = 0.1, tightest = 1e-3, beyond_goal = 0.3;
  if (function_.contact()) return tightest;  // the length of a step tells when contact has converged
  if (norm == last_norm_) return last_forcing_;
  double term = loosest;
  if (last_norm_ > 0) term = std::max(std::abs(norm - linear_residual_) / last_norm_, beyond_goal * goal_);
  last_norm_ = norm;
  last_forcing_ = std::clamp(term, tightest, loosest);
  return last_forcing_;
}

}  // namespace pliant
