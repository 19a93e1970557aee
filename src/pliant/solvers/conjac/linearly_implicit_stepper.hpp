#pragma once

#include "pliant/linalg/sparse_cholesky.hpp"
#include "pliant/sim/rank_one.hpp"
#include "pliant/sim/stepper.hpp"
#include "pliant/solvers/conjac/linearised_step.hpp"
#include "pliant/solvers/conjac/turning_frame.hpp"
#include "pliant/solvers/contact/contact_solve.hpp"
#include "pliant/solvers/step_guard.hpp"

namespace pliant {

/// What is done where the stiffness is not positive definite.
enum class StiffnessKind {
  on_demand,  ///< exact while Cholesky accepts it, otherwise with every element projected
  projected,  ///< always projected
  exact,      ///< exact for ever, by LDL^T where it is indefinite
};

struct LinearlyImplicitOptions {
  double beta = 1;  ///< weight of the stiffness: 1 is backward Euler's; more damps
  StiffnessKind stiffness = StiffnessKind::on_demand;
  double tangential = 0;  ///< share of the contact stiffness along the surface
  Turning turning = Turning::exact;
  Safeguard safeguard = Safeguard::newton;
  ContactSolveOptions contact;
};

/// conjac's VANILLA (Algorithm 2, Eq. 10; Baraff and Witkin 1998): one linear system a step,
///
///   (M + h D + beta h^2 H) v = M v0 + h f,   x = x0 + h v.
///
/// Beyond the paper: free parts are first turned and moved on as if they were rigid, to y at the velocities u, and the
/// system is that of y and v - u (TurningFrame). Steps that gain energy are left to Newton's method (StepGuard).
class LinearlyImplicitStepper final : public Stepper {
 public:
  LinearlyImplicitStepper(std::shared_ptr<const Model> model, const LinearlyImplicitOptions& options);

  std::string_view name() const override { return "linearly-implicit"; }

 protected:
  void advance(Solution& solution, StepReport& report) override;
  std::string remedy() const override;

 private:
  void take_step(Solution& solution, StepReport& report);
  void assemble(Projection projection, StepReport& report);
  void add_rank_ones();
  FactorStatus factor(Factorisation kind, StepReport& report);
  bool solve(StepReport& report);
  void solve_contact(Solution& solution, StepReport& report);

  LinearlyImplicitOptions options_;
  PrescribedVelocity prescribed_;
  TurningFrame frame_;
  std::optional<StepGuard> guard_;       ///< where it is asked for
  std::optional<ContactSolve> contact_;  ///< in models with contact
  BlockMatrix A_;
  SparseCholesky cholesky_;
  bool analysed_ = false;
  std::vector<RankOne> ones_;  ///< of the stiffness, over all unknowns, N/m
  VecX f_, momentum_, coupling_, v_, scratch_;
};

}  // namespace pliant
