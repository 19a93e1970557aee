#pragma once

#include <optional>

#include "pliant/sim/term.hpp"

namespace pliant {

/// The springs and attachments of a model, with their damping where a step has inertia.
class TieTerm final : public Term {
 public:
  /// The model has ties.
  explicit TieTerm(const Model& model);
  void begin_step(const StepProblem& problem);

  std::string_view name() const override { return "springs and attachments"; }
  double value(const Pose& pose) override;
  double add_gradient(const Pose& pose, VecX& g) override;
  void add_hessian(const Pose& pose, Projection projection, BlockMatrix& A) override;
  /// For a step that is linearised once.
  void add_linearised(const Pose& pose, Projection projection, BlockMatrix& A);
  /// What is stored in them, J, and its gradient, unless that is null.
  double stored(const Pose& pose, VecX* g);
  void add_stored_hessian(const Pose& pose, Projection projection, BlockMatrix& A) {
    springs_.add_hessian(pose, projection, A);
  }

  /// What add_hessian() adds for a tie under Projection::analytic, damping and all, as the vectors c of sum c c^T:
  /// three numbers for each of its nodes, (N/m)^(1/2).
  void append_columns(std::size_t tie, const Pose& pose, std::vector<VecX>& columns) const;
  /// What a tie resists with at x where its ends move against each other, damping and all, N/m: never negative along
  /// any direction.
  Mat3 stiffness(std::size_t tie, const VecX& x) const;

 private:
  const TieEnergy& energy_;
  LinearisedTies linearised_;
  TieDamping damping_;
  EnergyTerm springs_, linearised_springs_, dampers_;
  bool is_damped_ = false;  ///< in this step
};

}  // namespace pliant
