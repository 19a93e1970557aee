#pragma once

#include <memory>

#include "pliant/sim/incremental_potential.hpp"
#include "pliant/sim/step_report.hpp"
#include "pliant/solvers/quasi_newton/laplacian.hpp"
#include "pliant/solvers/quasi_newton/lbfgs.hpp"

namespace pliant {

/// What L-BFGS begins with. The paper's own choice is the first; the others are those it is compared with (fig. 8).
enum class InitialHessianKind {
  laplacian,         ///< M/h^2 + L: constant, the same for x, y and z, no matter how the body is turned
  scaled_identity,   ///< s.y / y.y times the identity (Eq. 13)
  rest_pose,         ///< the Hessian at rest, 3n x 3n, constant
  warped_rest_pose,  ///< the same turned with every node (Mueller et al. 2002), by rotations of the step's start
  frame_start,       ///< the projected Hessian where the step starts, made anew every step
};

/// Conjugate gradients in place of a factorisation (figs. 16 and 17).
enum class InitialPreconditioner { jacobi, rest_pose, laplacian };

/// How systems with A are solved. `automatic`: by a factor, and for the laplacian by multigrid where that is quicker or
/// a factor does not fit into memory. `gradients` goes with `laplacian` and `frame_start`, `multigrid` with
/// `laplacian`.
enum class HessianSolve { automatic, direct, gradients, multigrid };

struct InitialHessianOptions {
  InitialHessianKind kind = InitialHessianKind::laplacian;
  HessianSolve linear = HessianSolve::automatic;
  InitialPreconditioner preconditioner = InitialPreconditioner::laplacian;
  int linear_iterations = 15;  ///< conjugate gradients always take this many
  LaplacianMatrix::Options laplacian;
  bool is_timed = false;  ///< no step has time for a factorisation
};

/// A symmetric positive definite matrix A in the middle of the two-loop recursion.
class InitialHessian {
 public:
  virtual ~InitialHessian() = default;
  /// For the step that the potential has begun. Returns whether A is another one than before, and counts factorisations
  /// in the report.
  virtual bool prepare(IncrementalPotential& potential, StepReport& report) = 0;
  /// With contact, before every direction: brings A up to date with the contacts at x, where they are part of it. False
  /// when that has no factor; status() tells why.
  virtual bool update(IncrementalPotential&, const VecX& /*x*/, StepReport&) { return true; }
  virtual FactorStatus status() const = 0;
  /// The factor that there is not, for what it needs; null where A has none.
  virtual const SparseCholesky* cholesky() const { return nullptr; }
  /// r = A^{-1} q, or nearly; zero where prescribed, as q is.
  virtual void solve(const VecX& q, const Lbfgs& pairs, VecX& r) = 0;
  /// The same at rest: a function of what A was made for alone.
  virtual void solve_at_rest(const VecX& q, const Lbfgs& pairs, VecX& r) { solve(q, pairs, r); }
  /// Whether A can be left for the projected Hessian.
  virtual bool can_follow() const { return false; }
  /// Takes the projected Hessian at x in place of A, until the next prepare(), with `damping` times each node's largest
  /// entry on its diagonal. False when that has no factor.
  virtual bool follow(IncrementalPotential&, const VecX& /*x*/, double /*damping*/) { return false; }
  /// What A depends on besides the step at hand, as Stepper::memory().
  virtual std::vector<double> memory() const { return {}; }
  virtual void recall(std::span<const double> /*memory*/) {}
  /// Iterations of conjugate gradients since prepare().
  virtual int linear_iterations() const { return 0; }
};

/// Whether a scalar matrix would hold bodies in directions in which they are free: those of contact, of rigid bodies,
/// of what slides. The Laplacian then puts their rigid motions right in every iteration.
bool has_free_modes(const Model& model);

/// Throws InputError for combinations that do not exist.
std::unique_ptr<InitialHessian> make_initial_hessian(std::shared_ptr<const Model> model,
                                                     const InitialHessianOptions& options);

}  // namespace pliant
