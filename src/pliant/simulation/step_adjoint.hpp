#pragma once

#include <memory>

#include "pliant/linalg/sparse_cholesky.hpp"
#include "pliant/sim/incremental_potential.hpp"

namespace pliant {

/// Derivatives through a step that was solved to convergence. Its end x solves F(x, x^n, v^n, p) = 0, F the gradient of
/// the incremental potential and p any parameter, and v = (x - x^n)/h. So with the derivatives of an objective by x and
/// v at hand, those by what the step began with follow from one linear system (the adjoint method),
///
///   H lambda = dg/dx + dg/dv / h,     dg/dx^n = -(dF/dx^n)^T lambda - dg/dv / h,     dg/dv^n = -(dF/dv^n)^T lambda,
///   dg/dp = -(dF/dp)^T lambda,
///
/// with H = dF/dx, exact and without projection, dF/dx^n = -M/h^2 - alpha M/h and dF/dv^n = -M/h. Without inertia a
/// step forgets where it began.
class StepAdjoint {
 public:
  /// Throws InputError for what F depends on in other ways: contact, damping by stiffness and of springs, gas, and
  /// forces that are taken where a step is expected to end.
  StepAdjoint(std::shared_ptr<const Model> model, Integrator integrator);

  /// F of a step of dt from `before` to x, N, zero where positions are prescribed.
  void residual(const State& before, double dt, const VecX& x, VecX& F);

  struct Back {
    VecX lambda, positions, velocities;  ///< the last two: derivatives by what the step began with
  };
  /// Throws InputError where the equilibrium is not regular.
  Back back(const State& before, double dt, const VecX& x, const VecX& of_positions, const VecX& of_velocities);

 private:
  std::shared_ptr<const Model> model_;
  IncrementalPotential potential_;
  BlockMatrix H_;
  SparseCholesky cholesky_;
};

}  // namespace pliant
