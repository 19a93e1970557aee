#pragma once

#include "pliant/linalg/sparse_cholesky.hpp"
#include "pliant/sim/stepper.hpp"
#include "pliant/solvers/conjac/linear_model.hpp"

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
};

/// conjac's VANILLA (Algorithm 2, Eq. 10; Baraff and Witkin 1998): one linear system a step,
///
///   (M + h D + beta h^2 H) v = M v0 + h f,   x = x0 + h v.
class LinearlyImplicitStepper final : public Stepper {
 public:
  LinearlyImplicitStepper(std::shared_ptr<const Model> model, const LinearlyImplicitOptions& options);

  std::string_view name() const override { return "linearly-implicit"; }
  StepReport step(State& state, double h) override;

 private:
  void advance(State& state, double h, StepReport& report);
  void assemble(const State& state, Projection projection, StepReport& report);
  FactorStatus factor(Factorisation kind, StepReport& report);
  bool solve(const State& state, StepReport& report);

  std::shared_ptr<const Model> model_;
  LinearlyImplicitOptions options_;
  LinearModel linear_;
  BlockMatrix A_;
  SparseCholesky cholesky_;
  bool analysed_ = false;
  VecX f_, momentum_, coupling_, v_, x_;
};

}  // namespace pliant
