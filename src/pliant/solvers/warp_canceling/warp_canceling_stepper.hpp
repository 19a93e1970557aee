#pragma once

#include "pliant/linalg/pcg.hpp"
#include "pliant/sim/stepper.hpp"
#include "pliant/solvers/criteria.hpp"
#include "pliant/solvers/warp_canceling/explicit_contact.hpp"
#include "pliant/solvers/warp_canceling/node_rotations.hpp"
#include "pliant/solvers/warp_canceling/rigid_motion.hpp"
#include "pliant/solvers/warp_canceling/schedule.hpp"
#include "pliant/solvers/warp_canceling/warp_error.hpp"

namespace pliant {

enum class LinearSolve { direct, conjugate_gradients };

/// What the linear system is solved for: the change of velocity, which leaves no trace of the matrix in uniform motion
/// and at rest, or the velocity itself, as the paper has it (4). The same where the matrix is fresh.
enum class WarpUnknown { change, velocity };

struct WarpCancelingOptions {
  std::string name = "warp-canceling";
  LinearSolve solve = LinearSolve::direct;
  WarpUnknown unknown = WarpUnknown::change;
  ScheduleOptions schedule;
  NodeRotationKind rotations = NodeRotationKind::automatic;
  /// Badness above which a supernode that was left alone is damped towards its rigid motion, m/s.
  double damp_above = std::numeric_limits<double>::infinity();
  BodyContactOptions contact;
  // Of conjugate gradients:
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
/// prescribed. With everything refreshed it is the exact corotational method; with nothing, stiffness warping. Grabs
/// are springs at the end of the step: three columns each, added to the inverse at hand (Woodbury).
class WarpCancelingStepper final : public Stepper {
 public:
  /// Throws InputError for models with springs, fibres, energies of the user, elements of higher order or consistent
  /// mass.
  WarpCancelingStepper(std::shared_ptr<const Model> model, const WarpCancelingOptions& options);

  std::string_view name() const override { return options_.name; }
  StepReport step(State& state, double h) override;
  std::vector<ElementValues> element_values() const override;
  std::vector<double> memory() const override;
  void recall(std::span<const double> memory) override;

  SparseCholesky::Statistics factor_statistics() const { return cholesky_.statistics(); }
  const WarpedMatrix& matrix() const { return matrix_; }
  const Schedule& schedule() const { return schedule_; }
  /// Supernodes recomputed in the last step.
  std::span<const std::uint8_t> refreshed() const { return marked_; }

 private:
  struct Stages;
  void advance(State& state, double h, Stages& stages, StepReport& report);
  void deform(const VecX& x);
  bool prepare(const BoundaryState& boundary, double h);
  bool restore(const State& state, double h);
  void right_hand_side(const State& state, const BoundaryState& boundary, double h);
  void choose(const State& state, bool all, Stages& stages);
  FactorStatus refresh(Stages& stages, StepReport& report);
  void solve_directly();
  void apply_inverse(Eigen::Ref<Eigen::MatrixXd> columns);
  void pull_grabs();
  bool solve_iteratively(StepReport& report);
  void correct_rigid_motion(const State& state, double h);
  void damp(const State& state);
  void measure(const State& before, const BoundaryState& boundary, double h, StepReport& report);
  void tell(const Stages& stages, StepReport& report) const;

  std::shared_ptr<const Model> model_;
  WarpCancelingOptions options_;
  SparseCholesky cholesky_;
  SupernodePartition partition_;
  CorotatedElements elements_;
  NodeRotationField rotations_;
  WarpedMatrix matrix_;
  WarpError error_;
  Schedule schedule_;
  FreeParts parts_;
  ExplicitContact contact_;
  ConvergenceTest residuals_;
  BlockProduct<double> product_;
  std::unique_ptr<Preconditioner<double>> preconditioner_;
  Pcg<double> pcg_;

  // What the matrix at hand was made for.
  double h_ = -1;
  std::vector<std::uint8_t> fixed_, held_;  ///< per unknown, per node
  std::vector<Index> penalised_;
  std::vector<double> sigma_;
  // What the last step left behind: its state with rotations and forces, and what the matrix was applied to.
  VecX x_, v_, change_, elastic_force_;
  double elastic_energy_ = 0;
  std::int64_t steps_ = 0;  ///< since everything was fresh
  std::vector<double> recalled_;
  std::vector<std::uint8_t> marked_;
  std::vector<double> refreshed_;  ///< per element, 0 or 1
  std::vector<Grab> grabs_;
  BlockMatrix with_grabs_;
  VecX force_, predicted_, rhs_, next_v_, next_x_, residual_, scratch_;
};

}  // namespace pliant
