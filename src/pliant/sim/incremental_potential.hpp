#pragma once

#include <memory>
#include <optional>

#include "pliant/sim/contact/contact_pattern.hpp"
#include "pliant/sim/load_term.hpp"
#include "pliant/sim/step_function.hpp"
#include "pliant/sim/term.hpp"
#include "pliant/sim/tie_term.hpp"

namespace pliant {

/// Terms that a sum may leave out, for families that treat them in a way of their own.
struct Terms {
  bool inertia = true;
  bool damping = true;
  bool elasticity = true;  ///< of the bodies
  bool colliders = true;
  bool contact = true;  ///< and its friction
  bool further = true;  ///< energies from code
};

/// The function whose minimum is the next state (pitfalls, section 3; docs/newton.md):
///
///   E(x) = 1/(2 h^2) |x - x~|_M^2 + Phi(x) - (x - x^n)^T f_ext + h W((x - x^n)/h) + penalties + grabs + pressures
///          + contact,
///   x~ = x^n + h v^n,   W(v) = 1/2 v^T D v,   D = alpha M + beta K(x^n)   (Rayleigh damping, lagged),
///
/// with springs and attachments among Phi: the sum of the terms of term.hpp for one StepProblem. Prescribed unknowns
/// have a zero gradient and identity rows in the Hessian. Every family can be asked for it, also those that do not
/// minimise it: it is what all are measured by.
class IncrementalPotential final : public StepFunction {
 public:
  IncrementalPotential(std::shared_ptr<const Model> model, const ProblemOptions& options);

  /// Makes the problem of a step. Throws InputError as StepProblem does.
  void begin_step(const State& state, double time_step);

  const Model& model() const override { return *model_; }
  const std::shared_ptr<const Model>& shared_model() const { return model_; }
  const StepProblem& problem() const override { return problem_; }
  /// x^n with directly imposed boundaries already where they belong: where an iteration may begin. With contact it is
  /// x^n, and the iteration moves the boundaries.
  const VecX& start() const { return start_; }

  double value(const VecX& x, Terms terms = {});
  double gradient(const VecX& x, VecX& g) override { return gradient(x, g, Terms{}); }
  double gradient(const VecX& x, VecX& g, Terms terms);
  /// What is stored in the bodies, in springs between them and in energies from code, J. With g, which it overwrites,
  /// the gradient over all unknowns, those too that are prescribed.
  double stored_energy(const VecX& x, VecX* g = nullptr);
  /// Overwrites H with its Hessian.
  void stored_hessian(const VecX& x, Projection projection, BlockMatrix& H);
  /// The forces by which pins and scripts hold x in place, N: on prescribed unknowns all that the equation of the step
  /// leaves over, elsewhere the pull of penalties. Overwrites f.
  void support_forces(const VecX& x, VecX& f);
  /// Zero where prescribed.
  void clear_prescribed(VecX& g) const {
    for (Index i : problem_.fixed) g[i] = 0;
  }
  /// The Hessian + (inertia_scale - 1) M/h^2. More inertia than there is makes a matrix definite (solvers/newton).
  void hessian(const VecX& x, Projection projection, double inertia_scale, BlockMatrix& A,
               Drive* drive = nullptr) override;
  /// The exact Hessian over all unknowns, prescribed ones too; so are rank_ones() after it.
  void full_hessian(const VecX& x, BlockMatrix& A);
  void rest_stiffness(BlockMatrix& A) override;
  std::span<const RankOne> rank_ones() const override { return rank_ones_; }
  /// Those of the Hessian at x without the Hessian, over all unknowns; they replace rank_ones().
  std::span<const RankOne> find_rank_ones(const VecX& x);
  /// Completes a Hessian H on the model's pattern, in A, by contact, the drive's coupling and the prescribed unknowns
  /// of `problem`.
  void complete_hessian(const BlockMatrix& H, const VecX& x, Projection projection, const StepProblem& problem,
                        BlockMatrix& A, Drive* drive);
  /// Overwrites H with the Hessian of all but inertia and damping, over all unknowns, prescribed ones too: for a step
  /// that is linearised once (LinearisedTies). find_rank_ones() are apart from it.
  void stiffness(const VecX& x, Projection projection, BlockMatrix& H);
  /// ContactStep::linearise where the step begins and for its inertial way, with H on a pattern of its own.
  void linearise_contact(VecX& force, BlockMatrix& H);
  /// A = H on the model's pattern + what linearise_contact() gave last.
  void copy_with_contact(const BlockMatrix& H, const BlockMatrix& contact, BlockMatrix& A) const;
  void rest_hessian(BlockMatrix& A) override;
  /// Springs and attachments; null when there are none.
  TieTerm* ties() { return ties_ ? &*ties_ : nullptr; }
  /// D of this step, over all unknowns; null for models without damping.
  const BlockMatrix* damping() { return damping_ ? &damping_->matrix() : nullptr; }

  /// How many surface nodes touched or left a collider between the two gradients taken before this call and the last
  /// one, and how many were in touch at either.
  struct ContactChange {
    Index changed = 0, touching = 0;
  };
  ContactChange contact_change();
  /// The colliders' energy at x and the end of the step, J.
  double collider_energy(const VecX& x);

  /// A matrix for hessian(), which gives it another pattern when contact couples other nodes.
  BlockMatrix make_matrix() const { return BlockMatrix(model_->pattern(), 3); }

  ContactStep* contact() override { return contact_.get(); }

  /// StepReport::minimum_gap at the end of the step, m.
  double minimum_gap(const VecX& x);
  /// Velocities that belong to the positions at the end of an implicit step: (x - x^n)/h, slowed by friction with
  /// colliders.
  void velocities(const VecX& x, VecX& v) const;
  /// Makes of the solution x, with velocities v, the state at the end of the step.
  void end_step(const VecX& x, const VecX& v, State& state);

 private:
  double sum_gradients(const VecX& x, VecX& g, Terms terms);
  void sum_hessians(const Pose& pose, Projection projection, BlockMatrix& H);
  void sum_all_hessians(const Pose& pose, Projection projection, double inertia_scale, BlockMatrix& H);
  void add_contact(const BlockMatrix& H, const Pose& pose, Projection projection, BlockMatrix& A);

  std::shared_ptr<const Model> model_;
  ProblemOptions options_;
  StepProblem problem_;
  VecX start_;
  InertiaTerm inertia_;
  EnergyTerm elasticity_;  ///< of the bodies
  EnergyTerm further_;     ///< energies from code
  EnergyTerm colliders_;
  PenaltyTerm penalties_;
  GrabTerm grabs_;
  std::optional<LoadTerm> loads_;  ///< on surfaces
  std::optional<TieTerm> ties_;
  std::optional<DampingTerm> damping_;
  std::unique_ptr<ContactStep> contact_;
  std::optional<ContactPattern> contact_pattern_;
  BlockMatrix without_contact_;     ///< the part of a Hessian on the model's pattern
  std::vector<RankOne> rank_ones_;  ///< of the last Hessian
  std::vector<std::uint8_t> touching_;
};

}  // namespace pliant
