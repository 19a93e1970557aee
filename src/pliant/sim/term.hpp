#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "pliant/energies/assembler.hpp"
#include "pliant/energies/node_penalty.hpp"
#include "pliant/sim/step_problem.hpp"

namespace pliant {

/// A part of the incremental potential: inertia, damping, elasticity, penalties, grabs, colliders, contact and friction
/// are all of this kind, and each is written once. Terms have scratch memory: one evaluation at a time.
class Term {
 public:
  virtual ~Term() = default;
  virtual std::string_view name() const = 0;
  virtual double value(const Pose& pose) = 0;  ///< J
  /// Adds to g (N) and returns the value.
  virtual double add_gradient(const Pose& pose, VecX& g) = 0;
  virtual void add_hessian(const Pose& pose, Projection projection, BlockMatrix& A) = 0;
};

/// 1/(2 h^2) |x - x~|_M^2 - (x - x^n)^T f_ext: inertia and the work of constant forces, in one pass since all of it is
/// bound by memory. Work is written with x - x^n, not x, so that it stays small and its differences accurate. Without
/// inertia, in quasistatics or on request, the work alone.
class InertiaTerm final : public Term {
 public:
  explicit InertiaTerm(const Model& model);
  /// The problem stays where it is until the next call.
  void begin_step(const StepProblem& problem);

  std::string_view name() const override { return "inertia and constant forces"; }
  double value(const Pose& pose) override { return evaluate(pose.x, nullptr, true); }
  double add_gradient(const Pose& pose, VecX& g) override;
  void add_hessian(const Pose& pose, Projection projection, BlockMatrix& A) override;

  /// The same, but overwrites g, if there is any: the first term to be summed needs no zeros to add to.
  double evaluate(const VecX& x, VecX* g, bool with_inertia);

 private:
  double evaluate_by_matrix(const VecX& x, VecX* g, bool with_inertia);

  const Model& model_;
  const StepProblem* problem_ = nullptr;
  VecX lumped_;                  ///< kg per unknown; empty for the consistent mass
  double predicted_work_ = 0;    ///< of the external forces along x~ - x^n, J
  std::vector<double> partial_;  ///< scratch: sums of chunks
  VecX offset_, product_;        ///< scratch: x - x~ and M (x - x~)
};

/// A sum of energies over stencils, by way of the assembler.
class EnergyTerm final : public Term {
 public:
  EnergyTerm(std::string_view name, const Model& model, std::vector<const Energy*> energies);

  std::string_view name() const override { return name_; }
  double value(const Pose& pose) override { return is_empty_ ? 0 : assembler_.value(pose); }
  double add_gradient(const Pose& pose, VecX& g) override { return is_empty_ ? 0 : assembler_.add_gradient(pose, g); }
  void add_hessian(const Pose& pose, Projection projection, BlockMatrix& A) override {
    if (!is_empty_) assembler_.add_hessian(pose, projection, A);
  }
  /// Each energy's share times its scale.
  void add_scaled_hessian(const Pose& pose, Projection projection, std::span<const double> scales, BlockMatrix& A) {
    assembler_.add_hessian(pose, projection, A, scales);
  }
  /// The values of the stencils of one energy, at the last evaluation.
  std::span<const double> values(std::size_t energy) const { return assembler_.values(energy); }

 private:
  std::string_view name_;
  bool is_empty_;
  Assembler assembler_;
};

/// h W((x - x^n)/h) = 1/(2 h) (x - x^n)^T D (x - x^n) with D = alpha M + beta K(x^n), Rayleigh's damping with the
/// projected stiffness of the step's start, so that it always dissipates. D is made when it is first needed in a step.
class DampingTerm final : public Term {
 public:
  DampingTerm(const Model& model, EnergyTerm& elasticity);
  void begin_step(const StepProblem& problem);

  std::string_view name() const override { return "damping"; }
  double value(const Pose& pose) override;
  double add_gradient(const Pose& pose, VecX& g) override;
  void add_hessian(const Pose& pose, Projection projection, BlockMatrix& A) override;
  /// D, N s/m, over all unknowns.
  const BlockMatrix& matrix();
  /// D at rest, with relaxed muscles: what matrices that are kept are made of.
  void add_at_rest(double scale, BlockMatrix& A);

 private:
  void add_damping(const Pose& pose, double scale, BlockMatrix& A);

  const Model& model_;
  EnergyTerm& elasticity_;  ///< of the bodies, in their order
  const StepProblem* problem_ = nullptr;
  BlockMatrix D_;
  bool is_made_ = false;
  VecX displacement_, resistance_;  ///< scratch: x - x^n and D (x - x^n)
};

/// The springs of the grabs.
class GrabTerm final : public Term {
 public:
  void begin_step(const StepProblem& problem) { problem_ = &problem; }

  std::string_view name() const override { return "grabs"; }
  double value(const Pose& pose) override;
  double add_gradient(const Pose& pose, VecX& g) override;
  void add_hessian(const Pose& pose, Projection projection, BlockMatrix& A) override;

 private:
  const StepProblem* problem_ = nullptr;
};

/// sigma/2 M_ii |x_i - c_i|^2 for the nodes that scripts hold by penalties, with the consistent mass (pitfalls,
/// appendix C).
class PenaltyTerm final : public Term {
 public:
  explicit PenaltyTerm(const Model& model);
  void begin_step(const StepProblem& problem);

  std::string_view name() const override { return "penalties of scripts"; }
  double value(const Pose& pose) override { return springs_.value(pose); }
  double add_gradient(const Pose& pose, VecX& g) override { return springs_.add_gradient(pose, g); }
  void add_hessian(const Pose& pose, Projection projection, BlockMatrix& A) override {
    springs_.add_hessian(pose, projection, A);
  }

 private:
  NodePenalty penalty_;
  std::vector<Index> stencil_;  ///< of each node, or -1
  VecX mass_;                   ///< consistent M_ii, kg
  EnergyTerm springs_;
};

}  // namespace pliant
