#pragma once

#include "pliant/linalg/pcg.hpp"
#include "pliant/sim/incremental_potential.hpp"
#include "pliant/sim/stepper.hpp"
#include "pliant/solvers/contact/contact_solve.hpp"
#include "pliant/solvers/free_parts.hpp"
#include "pliant/solvers/step_guard.hpp"
#include "pliant/solvers/warp_canceling/explicit_contact.hpp"
#include "pliant/solvers/warp_canceling/implicit_colliders.hpp"
#include "pliant/solvers/warp_canceling/node_rotations.hpp"
#include "pliant/solvers/warp_canceling/schedule.hpp"
#include "pliant/solvers/warp_canceling/warp_error.hpp"

namespace pliant {

enum class LinearSolve { direct, conjugate_gradients };

/// What the linear system is solved for: the change of velocity, which leaves no trace of the matrix in uniform motion
/// and at rest, or the velocity itself, as the paper has it (4). The same where the matrix is fresh.
enum class WarpUnknown { change, velocity };

/// How colliders push: as part of the linear system, by the penalty that all families share, or as forces of the step's
/// start, as the paper has it (explicit_contact.hpp).
enum class ColliderTreatment { in_matrix, as_forces };

struct WarpCancelingOptions {
  std::string name = "warp-canceling";
  LinearSolve solve = LinearSolve::direct;
  WarpUnknown unknown = WarpUnknown::change;
  ScheduleOptions schedule;
  WarpMeasure measure = WarpMeasure::velocity;  ///< of tau, must and damp_above
  NodeRotationKind rotations = NodeRotationKind::automatic;
  /// Badness above which a supernode that was left alone is damped towards its rigid motion, m/s.
  double damp_above = std::numeric_limits<double>::infinity();
  ColliderTreatment colliders = ColliderTreatment::in_matrix;
  BodyContactOptions contact;
  ContactSolveOptions contact_solve;
  Turning turning = Turning::exact;
  Safeguard safeguard = Safeguard::newton;
  // For conjugate gradients:
  PreconditionerKind preconditioner = PreconditionerKind::jacobi;
  PcgOptions pcg{1e-4, 10000};
  bool absolute_residual = false;  ///< tolerance in N s instead of relative to the right-hand side
};

/// Linearly implicit Euler for corotated linear elasticity, with a matrix that is refreshed in parts (warp-canceling):
///
///   R A~ R^T (v' - v*) = M v + h (f_ext + f_contact + f_els) - A v*,    x' = x + h v',
///
/// A~ the WarpedMatrix, R the rotations of the nodes, A the matrix with the present rotations of all elements, which is
/// only ever applied, and v* a prediction: the velocities with the uniform change of free parts, prescribed where
/// prescribed. With everything refreshed it is the exact corotational method; with nothing, stiffness warping. Nodes
/// that press on colliders have blocks of their own in A, and are refreshed when they change. Grabs, springs and
/// attachments act at the end of the step: up to four columns each, added to the inverse at hand (Woodbury).
class WarpCancelingStepper final : public Stepper {
 public:
  /// Throws InputError for bodies made of springs, fibres, energies of the user, elements of higher order or consistent
  /// mass.
  WarpCancelingStepper(std::shared_ptr<const Model> model, const WarpCancelingOptions& options);

  std::string_view name() const override { return options_.name; }
  std::vector<ElementValues> element_values() const override;
  std::vector<double> memory() const override;
  void recall(std::span<const double> memory) override;

  SparseCholesky::Statistics factor_statistics() const { return cholesky_.statistics(); }
  const WarpedMatrix& matrix() const { return matrix_; }
  const Schedule& schedule() const { return schedule_; }
  /// The largest error of each supernode's elements before the last step refreshed any.
  std::span<const double> badness() const { return error_.badness(); }
  const SupernodePartition& partition() const { return partition_; }
  const SparseCholesky& factor() const { return cholesky_; }
  /// Supernodes recomputed in the last step.
  std::span<const std::uint8_t> refreshed() const { return marked_; }

 protected:
  void advance(Solution& solution, StepReport& report) override;
  std::string remedy() const override;

 private:
  struct Stages;
  bool solve(Stages& stages, StepReport& report);
  bool begin(Stages& stages, StepReport& report);
  void deform(const VecX& x);
  bool prepare(const StepProblem& problem);
  bool restore();
  void predict();
  void right_hand_side();
  void choose(bool all, Stages& stages);
  FactorStatus refresh(Stages& stages, StepReport& report);
  void solve_directly();
  void apply_inverse(Eigen::Ref<Eigen::MatrixXd> columns);
  Eigen::MatrixXd spring_columns();
  void solve_with_springs();
  void add_spring_hessians(BlockMatrix& A);
  bool solve_iteratively(StepReport& report);
  bool solve_one(const VecX& rhs, const PcgOptions& options, double shown, VecX& x, StepReport& report);
  bool solve_with_gas(double reference, StepReport& report);
  std::vector<RankOne> gases_at_prediction();
  void correct_rigid_motion();
  void damp();
  bool turns() const { return options_.turning == Turning::exact && !parts_.none(); }
  void move();
  bool solve_contact(StepReport& report);
  void hand_over(Solution& solution, StepReport& report);
  void take_over_repaired(Solution& solution);
  void record(const Stages& stages, StepReport& report) const;

  WarpCancelingOptions options_;
  SparseCholesky cholesky_;
  SupernodePartition partition_;
  CorotatedElements elements_;
  NodeRotationField rotations_;
  WarpedMatrix matrix_;
  WarpError error_;
  Schedule schedule_;
  FreeParts parts_;
  FreeParts::Frames frames_;  ///< of this step
  ImplicitColliders colliders_;
  ExplicitContact contact_;
  std::optional<ContactSolve> contact_solve_;  ///< in models with contact
  std::optional<StepGuard> guard_;             ///< where it is asked for
  std::optional<WarpedMatrix> present_;        ///< with the present rotations, for it, where matrix_ is stale
  std::vector<Mat3> unturned_;                 ///< identities, per node, for present_
  BlockProduct<double> product_;
  std::unique_ptr<Preconditioner<double>> preconditioner_;
  Pcg<double> pcg_;

  MatrixKey made_for_;              ///< the matrix at hand
  std::vector<std::uint8_t> held_;  ///< per node: an unknown of it is prescribed
  bool has_gas_ = false;
  bool keeps_updates_ = false;  ///< whether parts of the factor can be made anew
  // What the last step left behind: its state with rotations and forces, and what the matrix was applied to.
  VecX x_, v_, change_, elastic_force_;
  double elastic_energy_ = 0;
  std::int64_t steps_ = 0;  ///< since everything was fresh
  std::vector<double> recalled_;
  std::vector<std::uint8_t> marked_;   ///< supernodes with fresh rotations
  std::vector<std::uint8_t> dirty_;    ///< these, and those whose contacts with colliders changed
  std::vector<std::uint8_t> changed_;  ///< scratch, per node
  std::vector<double> refreshed_;      ///< per element, 0 or 1
  BlockMatrix with_springs_;
  VecX force_, pushed_, predicted_, rhs_, solved_v_, next_v_, next_x_, scratch_;
};

}  // namespace pliant
