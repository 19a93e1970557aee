#pragma once

#include <memory>
#include <optional>

#include "pliant/energies/assembler.hpp"
#include "pliant/sim/model.hpp"
#include "pliant/solvers/criteria.hpp"

namespace pliant {

/// What a linearly implicit step looks at: forces, stiffness and damping of a model about the positions where the step
/// begins, and the unknowns whose motion is prescribed.
///
/// H = -K = -df/dx throughout: the Hessian of the potential energy. Scripts are imposed directly, penalties or not: a
/// step that solves a linear system once has no use for a stiff spring where it can have the motion itself.
class LinearModel {
 public:
  explicit LinearModel(std::shared_ptr<const Model> model);

  /// Throws InputError for grabs of nodes that share no element.
  void begin_step(const State& state, double h);

  const Model& model() const { return *model_; }
  double h() const { return h_; }
  double end() const { return end_; }
  /// 1 for every unknown that a pin or a script prescribes.
  const std::vector<std::uint8_t>& prescribed() const { return boundary_.fixed; }
  /// What they move at over the step, m/s; zero elsewhere.
  const VecX& prescribed_velocity() const { return prescribed_velocity_; }
  /// Whether any of it is not zero.
  bool boundary_moves() const { return boundary_moves_; }

  /// Overwrites f with all forces but damping, N, activations and colliders as they are at the end of the step. Returns
  /// the energy they derive from, up to a constant, J.
  double forces(const VecX& x, VecX& f);
  double energy(const VecX& x);
  /// Overwrites H, over all unknowns, prescribed ones too.
  void stiffness(const VecX& x, Projection projection, BlockMatrix& H);
  /// D of this step, or null for models without damping.
  const BlockMatrix* damping() const { return damping_ ? &*damping_ : nullptr; }
  BlockMatrix make_matrix() const { return BlockMatrix(model_->pattern(), 3); }

  /// The residuals and the energy that all families report: of backward Euler's equations over this step, at x, over
  /// the unknowns that are not `held`.
  void measure(const VecX& x, std::span<const std::uint8_t> held, StepReport& report);
  /// Puts prescribed unknowns where they belong.
  void impose(VecX& x) const;
  /// Time, activations and the count of steps.
  void end_step(State& state) const;

 private:
  std::shared_ptr<const Model> model_;
  Assembler assembler_;
  ConvergenceTest convergence_;
  double h_ = 0, end_ = 0;
  VecX x_n_, v_n_, prescribed_velocity_;
  bool boundary_moves_ = false;
  BoundaryState boundary_;
  std::vector<double> activation_;
  std::vector<Grab> grabs_;
  std::optional<BlockMatrix> damping_;
  VecX offset_, product_, residual_, f_;  ///< scratch
};

}  // namespace pliant
