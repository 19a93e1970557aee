#pragma once

#include "pliant/math/dense.hpp"
#include "pliant/solvers/newton/linear_choice.hpp"
#include "pliant/solvers/newton/linear_system.hpp"

namespace pliant {

/// The linear system of one machine.
class NewtonSystem final : public LinearSystem {
 public:
  NewtonSystem(StepFunction& function, const LinearOptions& options);

  void begin_step(StepReport& report) override;
  void end_step() override;
  void assemble(const VecX& x, Projection projection, double inertia_scale = 1) override;
  void end_without_factor(StepReport& report, FactorStatus status, std::string_view remedy) const override;
  std::vector<double> memory() const override;
  void recall(std::span<const double> memory) override { choice_.recall(memory); }

 protected:
  FactorStatus solve_for(Factorisation kind, const VecX& g, VecX& dx) override;

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
};

}  // namespace pliant
