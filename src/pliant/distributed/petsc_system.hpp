#pragma once

#include <petscksp.h>

#include "pliant/distributed/shared_nodes.hpp"
#include "pliant/sim/incremental_potential.hpp"
#include "pliant/solvers/newton/newton_system.hpp"

namespace pliant {

/// The linear system of a Newton-type iteration, with its rows spread over all processes: what NewtonSystem is on one
/// machine, by PETSc.
///
/// How it is solved, for `linear = "auto"` (docs/scale.md):
///   fewer than 1000 nodes         MUMPS, an LDL^T whose negative pivots tell that a matrix is indefinite, on every
///                                 process
///   without inertia               conjugate gradients with algebraic multigrid (GAMG)
///   with inertia                  with block Jacobi, incomplete Cholesky within each process; where a system takes
///                                 more than 300 iterations, that one and the rest of the step with GAMG
/// "direct" is MUMPS and "pcg" conjugate gradients, with GAMG for the preconditioner "multigrid", incomplete Cholesky
/// for "incomplete-cholesky" and "rest-factor", blocks of 3 x 3 for the others. PETSc's own options come last.
class PetscSystem {
 public:
  PetscSystem(SharedNodes& nodes, const LocalModel& local, const LinearOptions& options);
  ~PetscSystem();
  PetscSystem(const PetscSystem&) = delete;
  PetscSystem& operator=(const PetscSystem&) = delete;

  void begin_step(StepReport& report);
  void assemble(IncrementalPotential& potential, const VecX& x, Projection projection, double inertia_scale = 1);
  /// dx = -A^{-1} g for g of this norm. Asked for LL^T, anything that says that the matrix is not positive definite is
  /// a failed factorisation; asked for LDL^T, there is a direction all the same.
  FactorStatus solve(Factorisation kind, const VecX& g, double norm, VecX& dx);
  /// What helps where a factorisation failed; empty: nothing known.
  const std::string& failure() const { return failure_; }

 private:
  enum class Method { factor, blocks, incomplete, multigrid };
  Method choose(Factorisation kind) const;
  bool is_redundant() const;
  PC factor_pc();
  FactorStatus factorise(Factorisation kind);
  FactorStatus iterate(Method method, double tolerance, int most);
  void set_up(KSP solver, Method method);
  void copy_in(const VecX& g);
  void copy_out(VecX& dx);
  double forcing_term(double norm);

  SharedNodes& nodes_;
  const LocalModel& local_;
  LinearOptions options_;
  BlockMatrix share_;            ///< this process's
  std::vector<double> entries_;  ///< of it, as the matrix over all processes takes them
  Mat A_ = nullptr;
  Vec b_ = nullptr, x_ = nullptr;
  KSP factor_ = nullptr, iteration_ = nullptr;
  Method set_up_for_ = Method::factor;  ///< what iteration_ is set up for
  bool is_projected_ = false, is_factorised_ = false, has_inertia_ = true;
  bool prefers_multigrid_ = false;  ///< for the rest of the step
  double last_norm_ = 0, last_forcing_ = 0;
  std::vector<Index> fixed_;  ///< prescribed unknowns
  std::string failure_;
  StepReport* report_ = nullptr;
};

}  // namespace pliant
