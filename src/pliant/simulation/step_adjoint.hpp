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
/// with H = dF/dx, exact and without projection, dF/dx^n = -M/h^2 - D/h and dF/dv^n = -M/h. Friction has its normal
/// forces and directions from x^n, too, damping its stiffness, and forces on open surfaces are those at x^n + h v^n
/// (lagged_adjoint.hpp). Without inertia, friction and such forces a step forgets where it began.
///
/// Prescribed unknowns x_p are not solved for, and lambda is zero there: by where they are at the end of the step the
/// objective has the derivative dg/dx_p + dg/dv_p / h - H_pf lambda_f. F at a given x depends on them once more, since
/// the forces on open surfaces are those where the step is expected to end (StepProblem::expected_end). That is a part
/// of dF/dp, which residual() and by_vertices() have, and must not be counted among the former as well.
class StepAdjoint {
 public:
  /// Throws InputError for what F depends on in other ways: colliders by penalties, and contact that changes within a
  /// step.
  StepAdjoint(std::shared_ptr<const Model> model, Integrator integrator);

  const Model& model() const { return *model_; }
  /// F of a step of dt from `before` to x, N, zero where positions are prescribed.
  void residual(const State& before, double dt, const VecX& x, VecX& F);
  /// Where prescribed unknowns are at the end of the step, m; zero elsewhere.
  VecX prescribed(const State& before, double dt);

  struct Back {
    VecX lambda, positions, velocities;  ///< the last two: derivatives by what the step began with
    VecX prescribed;                     ///< by prescribed positions; zero elsewhere
  };
  /// Throws InputError where the equilibrium is not regular.
  Back back(const State& before, double dt, const VecX& x, const VecX& of_positions, const VecX& of_velocities);

  /// Of a solid, with the lambda of the last back(), which led to x: minus the derivative of lambda . F by the vertices
  /// of its mesh, m, in which the objective has its own part where vertices are pinned (Back::prescribed) or where the
  /// step began. With straight edges of all elements, x y z of every vertex; with contact of the dhat and kappa that
  /// the model has.
  VecX by_vertices(const Body& body, const VecX& x, const VecX& lambda);
  /// The same by the logarithms of its elements' stiffness, both Lame parameters at once: one number per element.
  VecX by_stiffness(const Body& body, const VecX& x, const VecX& lambda) const;

 private:
  void begin(const State& before, double dt);
  void solve(VecX& lambda);
  void take_back_lagged(const VecX& x, Back& back);

  std::shared_ptr<const Model> model_;
  IncrementalPotential potential_;
  BlockMatrix full_, H_;
  SparseCholesky cholesky_;
  std::shared_ptr<const BlockPattern> analysed_;
};

/// What a vector over the nodes of a body is when each node is a sum of vertices: W^T of it, with nodes = W vertices.
VecX to_vertices(const Body& body, const VecX& nodes);

}  // namespace pliant
