#pragma once

#include "pliant/linalg/sparse_cholesky.hpp"
#include "pliant/sim/stepper.hpp"
#include "pliant/solvers/incremental_potential.hpp"

namespace pliant {

/// The linear system of a Newton-type iteration: assembled, factorised and solved with every second and every failure
/// booked in the step's report.
class NewtonSystem {
 public:
  explicit NewtonSystem(IncrementalPotential& potential);

  void begin_step(StepReport& report) { report_ = &report; }
  void assemble(const VecX& x, Projection projection, double inertia_scale = 1);
  FactorStatus factor(Factorisation kind);
  /// dx = -A^{-1} g
  void solve(const VecX& g, VecX& dx);

 private:
  IncrementalPotential& potential_;
  BlockMatrix A_;
  SparseCholesky cholesky_;
  bool analysed_ = false;
  StepReport* report_ = nullptr;
};

}  // namespace pliant
