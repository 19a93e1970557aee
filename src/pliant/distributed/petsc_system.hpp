#pragma once

#include <petscksp.h>

#include <optional>

#include "pliant/distributed/petsc_multigrid.hpp"
#include "pliant/distributed/shared_rows.hpp"
#include "pliant/distributed/whole_factor.hpp"
#include "pliant/solvers/newton/linear_system.hpp"

namespace pliant {

/// The linear system of a Newton-type iteration, with its rows spread over all processes: what NewtonSystem is on one
/// machine, by PETSc.
///
/// How it is solved, for `linear = "auto"` (docs/scale.md):
///   fewer than 1000 nodes         every process has the whole matrix, and factorises it as one machine does
///   without inertia               conjugate gradients with multigrid (petsc_multigrid.hpp)
///   with inertia                  with block Jacobi, incomplete Cholesky within each process; where a system takes
///                                 more than 300 iterations, that one and the rest of the step with multigrid
/// "direct" is MUMPS, an LDL^T whose negative pivots tell that a matrix is indefinite, and "pcg" conjugate gradients,
/// with that for the preconditioner "multigrid", incomplete Cholesky for "incomplete-cholesky" and "rest-factor",
/// blocks of 3 x 3 for the others. PETSc's own options come last.
class PetscSystem final : public LinearSystem {
 public:
  PetscSystem(ProcessSharing& sharing, StepFunction& function, const LinearOptions& options);
  ~PetscSystem() override;

  void begin_step(StepReport& report) override;
  void assemble(const VecX& x, Projection projection, double inertia_scale = 1) override;
  void end_without_factor(StepReport& report, FactorStatus status, std::string_view remedy) const override;

 protected:
  /// Asked for LL^T, anything that says that the matrix is not positive definite is a failed factorisation; asked for
  /// LDL^T, there is a direction all the same.
  FactorStatus solve_for(Factorisation kind, const VecX& g, VecX& dx) override;

 private:
  enum class Method { whole, factor, blocks, incomplete, multigrid };
  bool is_small() const;
  void follow_pattern();
  void make_matrix();
  void free_matrix();
  void add_up_matrix(const VecX& x);
  void set_modes();
  Method choose(Factorisation kind) const;
  FactorStatus solve_whole(Factorisation kind, const VecX& g, VecX& dx);
  FactorStatus factorise(Factorisation kind);
  FactorStatus iterate(Method method, double tolerance, int most);
  void set_up(KSP solver, Method method);
  void set_up_multigrid();
  void copy_in(const VecX& g);
  void copy_out(VecX& dx);

  ProcessSharing& sharing_;
  BlockMatrix share_;                            ///< this process's
  std::shared_ptr<const BlockPattern> pattern_;  ///< what A_ was made for
  WholeFactor whole_;                            ///< of small systems; larger ones have the following
  std::unique_ptr<SharedRows> rows_;
  Mat A_ = nullptr;
  Vec b_ = nullptr, x_ = nullptr;
  KSP factor_ = nullptr, iteration_ = nullptr;
  PetscMultigrid multigrid_;
  VecX own_positions_;                  ///< of this process's own nodes, where the matrix was assembled
  Method set_up_for_ = Method::factor;  ///< what iteration_ is set up for
  bool is_projected_ = false, has_inertia_ = true;
  std::optional<Factorisation> factorised_;  ///< what there is a factor of the matrix at hand for
  bool prefers_multigrid_ = false;           ///< for the rest of the step
  std::string failure_;                      ///< what is known of why a factorisation failed
};

}  // namespace pliant
