#pragma once

#include "pliant/linalg/sparse_cholesky.hpp"
#include "pliant/math/dense.hpp"
#include "pliant/sim/step_function.hpp"
#include "pliant/sim/step_report.hpp"
#include "pliant/solvers/newton/inexact_solver.hpp"
#include "pliant/solvers/newton/linear_choice.hpp"

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
/// the step's report.
class NewtonSystem {
 public:
  NewtonSystem(StepFunction& function, const LinearOptions& options);

  void begin_step(StepReport& report);
  /// After a step: what `automatic` did, in the step's report.
  void end_step();
  /// Directions until the next call include the prescribed motion of the drive; null: what is prescribed rests.
  void set_drive(Drive* drive) { drive_ = drive; }
  bool is_driven() const { return drive_ != nullptr; }
  void assemble(const VecX& x, Projection projection, double inertia_scale = 1);
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

  /// For what a factor needs, where there is none.
  const SparseCholesky& cholesky() const { return cholesky_; }

  /// What `automatic` goes by, as Stepper::memory().
  std::vector<double> memory() const;
  void recall(std::span<const double> memory) { choice_.recall(memory); }

 private:
  FactorStatus solve_automatically(Factorisation kind, const VecX& g, VecX& dx);
  void analyze_model();
  void analyze();
  FactorStatus factorise(Factorisation kind);
  bool find_changes();
  FactorStatus solve_direct(Factorisation kind, const VecX& g, VecX& dx);
  bool solve_with_kept_factor(Factorisation kind, const VecX& g, VecX& dx, FactorStatus& status);
  FactorStatus solve_iteratively(Factorisation kind, PreconditionerKind preconditioner, const VecX& g, VecX& dx,
                                 int most_iterations);
  void balance_bodies(const VecX& g, VecX& dx);
  double forcing_term(double gradient_norm);

  StepFunction& function_;
  LinearOptions options_;
  Drive* drive_ = nullptr;
  VecX driven_gradient_;
  BlockMatrix A_;
  SparseCholesky cholesky_;
  std::shared_ptr<const BlockPattern> analysed_;  ///< the pattern of the last analysis
  bool is_first_analysis_ = false;                ///< it is what a step that begins with this pattern gets
  bool step_begins_ = true, chooses_ = true;      ///< no system of the step was factorised, or solved, so far
  std::vector<Index> model_order_;                ///< of elimination, for the model's pattern
  double model_flops_ = 0;
  bool has_kept_factor_ = false;  ///< an LL^T of this step, of the pattern `analysed_`
  std::vector<double> factored_;  ///< entries that the factor at hand belongs to, if it is to be kept in parts
  std::vector<Index> changed_;    ///< nodes with other entries since
  InexactSolver inexact_;
  VecX positions_;                     ///< that the matrix was assembled for
  std::vector<std::uint8_t> is_held_;  ///< bodies with prescribed unknowns
  std::vector<Index> body_of_;         ///< each node's
  Eigen::MatrixXd whole_;              ///< of bodies as wholes: the matrix over their translations
  DenseCholesky whole_factor_;
  VecX unbalanced_, whole_motion_;  ///< scratch
  LinearChoice choice_;
  int multigrid_systems_ = 0, rest_factor_systems_ = 0;  ///< of this step
  bool was_cut_short_ = false;  ///< the last run of conjugate gradients ended at the iterations it was given
  VecX truncated_;
  bool is_truncated_ = false;                       ///< `truncated_` belongs to the matrix at hand
  std::int64_t matrix_ = 0, factored_matrix_ = -1;  ///< their numbers: that at hand, and that of the factor
  bool matrix_is_there_ = false;                    ///< of this step, and positive definite as far as is known
  bool is_kept_ = false;                            ///< the matrix at hand was assembled for an earlier iterate
  int kept_matrices_ = 0;                           ///< systems of this step with such a one
  double goal_ = 0;
  double last_norm_ = 0, last_forcing_ = 0;  ///< of the gradient, N, and what its system was solved to
  double linear_residual_ = 0;               ///< |g + A dx| of the last solution, N
  StepReport* report_ = nullptr;
};

}  // namespace pliant
