#include "pliant/solvers/newton/newton_system.hpp"

#include "pliant/solvers/stopwatch.hpp"

namespace pliant {

NewtonSystem::NewtonSystem(IncrementalPotential& potential) : potential_(potential), A_(potential.make_matrix()) {}

void NewtonSystem::assemble(const VecX& x, Projection projection, double inertia_scale) {
  const Stopwatch watch(report_->seconds.assembly);
  potential_.hessian(x, projection, inertia_scale, A_);
}

FactorStatus NewtonSystem::factor(Factorisation kind) {
  const Stopwatch watch(report_->seconds.factorisation);
  if (!analysed_) cholesky_.analyze(A_.shared_pattern(), A_.block_size());
  analysed_ = true;
  const FactorStatus status = cholesky_.factor(A_, kind);
  ++report_->factorisations;
  if (status != FactorStatus::ok) ++report_->failed_factorisations;
  return status;
}

void NewtonSystem::solve(const VecX& g, VecX& dx) {
  const Stopwatch watch(report_->seconds.solve);
  dx = -g;
  cholesky_.solve(dx);
}

}  // namespace pliant
