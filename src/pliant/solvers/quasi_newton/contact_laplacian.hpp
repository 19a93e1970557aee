#pragma once

#include "pliant/solvers/quasi_newton/initial_hessian.hpp"
#include "pliant/solvers/quasi_newton/rigid_modes.hpp"

namespace pliant {

/// The matrix of the quasi-Newton family with contact or rigid bodies (docs/quasi-newton.md, "Contact"):
///
///   A = M/h^2 + L + sum over contacts k w w^T,
///
/// k the largest stiffness of the contact and w its weights, with the rigid motions of free bodies put right. It is
/// factorised again where contact has become much stiffer or softer, and kept until then, from step to step: what of
/// contact is in it is the memory of the solver.
class ContactLaplacian final : public InitialHessian {
 public:
  ContactLaplacian(std::shared_ptr<const Model> model, const LaplacianMatrix::Options& options);

  bool prepare(IncrementalPotential& potential, StepReport& report) override;
  bool update(IncrementalPotential& potential, const VecX& x, StepReport& report) override;
  FactorStatus status() const override { return status_; }
  void solve(const VecX& q, const Lbfgs& pairs, VecX& r) override;
  void solve_at_rest(const VecX& q, const Lbfgs& pairs, VecX& r) override;
  std::vector<double> memory() const override;
  void recall(std::span<const double> memory) override;

 private:
  /// Contacts as A has them.
  struct Springs {
    std::vector<std::array<Index, kContactNodes>> nodes;
    std::vector<std::array<double, kContactNodes>> weight;
    std::vector<double> stiffness;  ///< N/m
    void clear() { nodes.clear(), weight.clear(), stiffness.clear(); }
  };

  bool still_fits() const;
  void find_diagonal(const Springs& springs, VecX& diagonal) const;
  bool factorise(StepReport& report);
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
  FactorStatus status_ = FactorStatus::ok;
  std::vector<ContactSpring> springs_;  ///< of the last iterate
  Springs now_, in_matrix_;             ///< the same, and those that A was factorised with
  std::vector<std::uint8_t> is_held_;   ///< nodes that are prescribed along every axis
  VecX diagonal_, factored_diagonal_;   ///< of A at the last iterate, and of its factor; empty: there is none
  bool has_modes_ = false;              ///< for this step
  std::vector<double> recalled_;
  RigidModes modes_;
};

}  // namespace pliant
