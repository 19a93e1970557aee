#pragma once

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
    std::size_t size() const { return nodes.size(); }
    void add(const Springs& other, std::size_t s) {
      nodes.push_back(other.nodes[s]);
      weight.push_back(other.weight[s]);
      stiffness.push_back(other.stiffness[s]);
    }
  };
  /// A node serves until contact has made it this much stiffer or softer than it is in A.
  struct Tolerance {
    double stiffer, softer;
  };

  bool still_fits() const;
  Index find_misfits(const VecX& diagonal, const Tolerance& tolerance, std::vector<std::uint8_t>* marks) const;
  void renew();
  void find_diagonal(const Springs& springs, VecX& diagonal) const;
  bool factorise(StepReport& report);
  void add_springs();
  void analyze();
  void recall_springs();

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
  Springs now_, in_matrix_, mixed_;     ///< the same, those that A was factorised with, and scratch
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
