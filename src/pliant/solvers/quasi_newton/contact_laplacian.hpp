#pragma once

#include "pliant/solvers/quasi_newton/initial_hessian.hpp"
#include "pliant/solvers/quasi_newton/rigid_modes.hpp"

namespace pliant {

/// The matrix of the quasi-Newton family with contact (docs/quasi-newton.md, "Contact"):
///
///   A = M/h^2 + L + sum over contacts k w w^T,
///
/// k the largest stiffness of the contact and w its weights, with the rigid motions of free bodies put right. It is
/// factorised where a step begins, and again where contact has become much stiffer or softer, always a function of the
/// step's own iterates: nothing is left over from the step before.
class ContactLaplacian final : public InitialHessian {
 public:
  ContactLaplacian(std::shared_ptr<const Model> model, const LaplacianMatrix::Options& options);

  bool prepare(IncrementalPotential& potential, StepReport& report) override;
  bool update(IncrementalPotential& potential, const VecX& x, StepReport& report) override;
  FactorStatus status() const override { return status_; }
  void solve(const VecX& q, const Lbfgs& pairs, VecX& r) override;
  void solve_at_rest(const VecX& q, const Lbfgs& pairs, VecX& r) override;

 private:
  bool still_fits() const;
  bool make_matrix(IncrementalPotential& potential, const VecX& x, StepReport& report);
  void add_springs();
  void analyze();

  std::shared_ptr<const Model> model_;
  LaplacianMatrix base_;
  BlockMatrix constant_;  ///< what of A does not depend on contact
  MatrixKey made_for_;
  const StepProblem* problem_ = nullptr;
  ContactPattern pattern_;
  BlockMatrix A_;
  SparseCholesky cholesky_;
  std::shared_ptr<const BlockPattern> analysed_;
  std::vector<Index> model_order_;  ///< of elimination, for the model's pattern
  double model_flops_ = 0;
  bool is_first_analysis_ = false;  ///< it is what a step that begins with this pattern gets
  bool step_begins_ = true;
  FactorStatus status_ = FactorStatus::ok;
  std::vector<ContactSpring> springs_;
  std::vector<std::uint8_t> is_held_;  ///< nodes that are prescribed along every axis
  VecX diagonal_, factored_diagonal_;  ///< of A at the last iterate, and of its factor; empty: there is none
  RigidModes modes_;
};

}  // namespace pliant
