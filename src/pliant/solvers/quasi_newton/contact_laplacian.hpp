#pragma once

#include "pliant/solvers/quasi_newton/contact_compliance.hpp"
#include "pliant/solvers/quasi_newton/initial_hessian.hpp"
#include "pliant/solvers/quasi_newton/rigid_modes.hpp"

namespace pliant {

/// The matrix of the quasi-Newton family with contact or rigid bodies (docs/quasi-newton.md, "Contact"):
///
///   A = M/h^2 + L + sum over contacts k w w^T,
///
/// k the largest stiffness of the contact and w its weights, with the rigid motions of free bodies put right. Where
/// contact has become much stiffer or softer the contacts there are taken into A anew, and the factor is computed again
/// for the nodes that they change and what depends on them; the rest is kept, from step to step. What of contact is in
/// A is the memory of the solver.
class ContactLaplacian final : public InitialHessian {
 public:
  /// `is_timed`: no step has time for a factorisation, and A^{-1} is ContactCompliance's where contacts are few enough.
  ContactLaplacian(std::shared_ptr<const Model> model, const LaplacianMatrix::Options& options, bool is_timed);

  bool prepare(IncrementalPotential& potential, StepReport& report) override;
  bool update(IncrementalPotential& potential, const VecX& x, StepReport& report) override;
  FactorStatus status() const override { return status_; }
  void solve(const VecX& q, const Lbfgs& pairs, VecX& r) override;
  void solve_at_rest(const VecX& q, const Lbfgs& pairs, VecX& r) override;
  std::vector<double> memory() const override;
  void recall(std::span<const double> memory) override;

 private:
  /// A node serves until contact has made it this much stiffer or softer than it is in A.
  struct Tolerance {
    double stiffer, softer;
  };

  bool still_fits() const;
  Index find_misfits(const VecX& diagonal, const Tolerance& tolerance, std::vector<std::uint8_t>* marks) const;
  void renew();
  void find_diagonal(const ContactSprings& springs, VecX& diagonal) const;
  bool factorise(StepReport& report);
  bool compliance_serves(const ContactSprings& springs);
  void add_springs();
  void analyze();
  void recall_springs();

  std::shared_ptr<const Model> model_;
  LaplacianMatrix base_;
  BlockMatrix constant_;  ///< what of A does not depend on contact
  MatrixKey made_for_;
  const StepProblem* problem_ = nullptr;
  bool is_timed_;
  ContactCompliance compliance_;
  bool by_compliance_ = false;  ///< A^{-1}, as factorise() has left it
  ContactPattern pattern_;
  BlockMatrix A_;
  SparseCholesky cholesky_;
  std::shared_ptr<const BlockPattern> analysed_;
  std::vector<Index> model_order_;  ///< of elimination, for the model's pattern
  double model_flops_ = 0;
  FactorStatus status_ = FactorStatus::ok;
  std::vector<ContactSpring> springs_;      ///< of the last iterate
  ContactSprings now_, in_matrix_, mixed_;  ///< the same, those that A was factorised with, and scratch
  std::vector<std::uint8_t> is_renewed_;
  std::vector<Index> changed_;         ///< nodes of springs that differ from those of the factor
  std::vector<std::uint8_t> is_held_;  ///< nodes that are prescribed along every axis
  VecX diagonal_, factored_diagonal_;  ///< of A at the last iterate, and of its factor; empty: there is none
  VecX mixed_diagonal_;                ///< scratch
  bool has_modes_ = false;             ///< for this step
  std::vector<double> recalled_;
  RigidModes modes_;
};

}  // namespace pliant
