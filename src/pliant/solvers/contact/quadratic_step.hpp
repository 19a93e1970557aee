#pragma once

#include "pliant/sim/incremental_potential.hpp"

namespace pliant {

/// The step of a linearly implicit family, as a function that contact can be added to: the family's linear system takes
/// the bodies to y, which minimises 1/2 (x - y)^T A (x - y) with A its matrix, so that
///
///   Q(x) = 1/2 (x - y)^T A (x - y) + b^T (x - y) + contact and friction at x
///
/// is the same step with contact in it, as it is and not linearised. What of A couples all nodes of a surface is kept
/// apart, as rank_ones(). b is zero, unless y is not quite the minimum (a
/// matrix that is stale in parts), or the family has linearised contact in its own system, which has to be taken off.
class QuadraticStep final : public StepFunction {
 public:
  explicit QuadraticStep(IncrementalPotential& potential) : potential_(potential), A_(potential.make_matrix()) {}

  /// A, N/m, over the model's pattern and all unknowns, for the family to fill in.
  BlockMatrix& matrix() { return A_; }
  /// Begins with the potential's problem; prescribed are the unknowns `held`, at their places in y.
  void begin(const VecX& y, const std::vector<std::uint8_t>& held);
  void set_force(const VecX& b) { b_ = b; }
  /// What A has besides matrix(), over all unknowns, N/m.
  void set_rank_ones(std::span<const RankOne> ones);

  const VecX& free_step() const { return y_; }
  const Model& model() const override { return potential_.model(); }
  const StepProblem& problem() const override { return problem_; }
  ContactStep* contact() override { return potential_.contact(); }
  double gradient(const VecX& x, VecX& g) override;
  void hessian(const VecX& x, Projection projection, double inertia_scale, BlockMatrix& A, Drive* drive) override;
  std::span<const RankOne> rank_ones() const override { return free_ones_; }
  void rest_stiffness(BlockMatrix& A) override { potential_.rest_stiffness(A); }
  void rest_hessian(BlockMatrix& A) override { potential_.rest_hessian(A); }

 private:
  IncrementalPotential& potential_;
  StepProblem problem_;
  BlockMatrix A_;
  VecX y_, b_;
  std::vector<RankOne> ones_, free_ones_;  ///< the latter zero where prescribed
  VecX offset_;                            ///< scratch
};

}  // namespace pliant
