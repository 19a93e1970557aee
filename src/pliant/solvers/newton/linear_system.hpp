#pragma once

#include <span>
#include <vector>

#include "pliant/linalg/sparse_cholesky.hpp"
#include "pliant/sim/judgement.hpp"
#include "pliant/sim/sharing.hpp"
#include "pliant/sim/step_function.hpp"
#include "pliant/sim/step_report.hpp"
#include "pliant/solvers/newton/inexact_solver.hpp"

namespace pliant {

enum class LinearSolver { automatic, direct, pcg };

struct LinearOptions {
  LinearSolver solver = LinearSolver::automatic;
  PreconditionerKind preconditioner = PreconditionerKind::block_jacobi;  ///< of pcg
  int max_iterations = 2000;                                             ///< of pcg, per system
  int fixed_iterations = 0;  ///< pcg always takes this many; 0: as many as pay off
  /// Direct: recomputes only the part of a factor that depends on entries which changed since the last one. For
  /// functions of which little changes within a step.
  bool in_parts = false;
  /// Whether the motion of each body as a whole is solved for exactly after pcg, so that momentum is kept to rounding.
  bool balances_bodies = false;
  /// Automatic and pcg: near the solution, further systems are solved with the matrix at hand (docs/newton.md).
  bool keeps_matrix = true;
};

/// The linear system of a Newton-type iteration: assembled and solved with every second and every failure counted in
/// the step's report. On one machine it is a NewtonSystem; several processes share a PetscSystem (distributed/).
class LinearSystem {
 public:
  LinearSystem(StepFunction& function, const LinearOptions& options) : function_(function), options_(options) {}
  virtual ~LinearSystem() = default;
  LinearSystem(const LinearSystem&) = delete;
  LinearSystem& operator=(const LinearSystem&) = delete;

  virtual void begin_step(StepReport& report);
  /// After a step: what `automatic` did, in the step's report.
  virtual void end_step() {}
  /// Directions until the next call include the prescribed motion of the drive; null: what is prescribed rests.
  void set_drive(Drive* drive) { drive_ = drive; }
  bool is_driven() const { return drive_ != nullptr; }
  virtual void assemble(const VecX& x, Projection projection, double inertia_scale = 1) = 0;
  /// Whether inertia that is not there may help out: the step is one of statics, and no part of the model is free to
  /// leave altogether.
  bool may_add_inertia() const;
  /// Of the smallest body, m.
  double size() const { return smallest_body_size(function_.model()); }
  /// dx = -A^{-1} g, or with a drive its remaining motion and -A^{-1} (g + coupling). Direct: by an LL^T, which refuses
  /// matrices that are not positive definite, or by a pivoted LDL^T.
  ///
  /// Conjugate gradients: only as accurately as pays off (docs/newton.md), and negative curvature is what tells that a
  /// matrix is not positive definite. Asked for LDL^T, they give the iterate before it, a descent direction.
  FactorStatus solve(Factorisation kind, const VecX& g, VecX& dx);
  /// Whether solve_again may take the matrix of the last solution for another gradient, by LL^T.
  bool may_solve_again() const;
  /// As solve, at a point near by: without assembling, and without what was prepared for the matrix.
  FactorStatus solve_again(const VecX& g, VecX& dx);
  /// What solve_again found was of use.
  void count_kept_matrix() { ++kept_matrices_; }
  /// The step is over once the gradient has fallen to this fraction: no need to solve much more accurately; 0: not
  /// known.
  void set_goal(double fraction) { goal_ = fraction; }
  /// The product of a gradient and a direction.
  double slope(const VecX& g, const VecX& dx) const { return dot(function_.model().sharing(), g, dx); }

  /// Ends a step for which solve() gave no direction, by what was wrong; `remedy` helps where the matrix has no factor.
  virtual void end_without_factor(StepReport& report, FactorStatus status, std::string_view remedy) const = 0;

  /// What `automatic` goes by, as Stepper::memory().
  virtual std::vector<double> memory() const { return {}; }
  virtual void recall(std::span<const double> /*memory*/) {}

 protected:
  /// dx = -A^{-1} rhs.
  virtual FactorStatus solve_for(Factorisation kind, const VecX& rhs, VecX& dx) = 0;
  /// How accurately a system is to be solved for a right-hand side of this norm.
  double forcing_term(double gradient_norm);

  StepFunction& function_;
  LinearOptions options_;
  Drive* drive_ = nullptr;
  StepReport* report_ = nullptr;
  bool is_kept_ = false;        ///< the matrix at hand was assembled for an earlier iterate
  int kept_matrices_ = 0;       ///< systems of this step with such a one
  double linear_residual_ = 0;  ///< |g + A dx| of the last solution, N

 private:
  bool is_singular(const VecX& dx) const;

  VecX driven_gradient_;
  bool matrix_is_there_ = false;  ///< of this step, and positive definite as far as is known
  double goal_ = 0;
  double last_norm_ = 0, last_forcing_ = 0;  ///< of the gradient, N, and what its system was solved to
};

}  // namespace pliant
