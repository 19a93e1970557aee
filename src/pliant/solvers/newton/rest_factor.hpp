#pragma once

#include "pliant/linalg/preconditioner.hpp"
#include "pliant/sim/step_function.hpp"
#include "pliant/solvers/warp_canceling/node_rotations.hpp"

namespace pliant {

/// The factor of the Hessian at rest, in float, turned with the nodes: a preconditioner that is made once and serves
/// all systems of a run. It is a function of the model and of the problem's MatrixKey, and its rotations of the
/// positions, so that no bit depends on the steps before.
class RestFactor {
 public:
  /// `order` of elimination: of the model's pattern, or none, which is then found.
  RestFactor(StepFunction& function, std::vector<Index> order);

  /// Ready for the systems of the step at hand, where nodes are at x. False: there is no factor, as for bodies that
  /// nothing holds, or no memory for one.
  bool prepare(const VecX& x);
  Preconditioner<double>& preconditioner() { return turned_; }

 private:
  StepFunction& function_;
  NodeRotationField rotations_;
  SparseCholesky cholesky_;
  StaleFactor turned_;
  MatrixKey made_for_;
  bool is_made_ = false;
  std::vector<std::uint8_t> held_;  ///< nodes with prescribed unknowns
};

}  // namespace pliant
