#include "pliant/distributed/petsc_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "pliant/base/stopwatch.hpp"
#include "pliant/distributed/petsc_check.hpp"
#include "pliant/solvers/newton/linear_choice.hpp"

namespace pliant {

namespace {

constexpr std::int64_t kFewNodes = LinearChoice::kFewNodes;
constexpr Index kMostToFactorise = 200'000;  ///< nodes of an indefinite system; beyond, its factor is too large
constexpr int kManyIterations = 300;

}  // namespace

PetscSystem::PetscSystem(ProcessSharing& sharing, StepFunction& function, const LinearOptions& options)
    : LinearSystem(function, options), sharing_(sharing), share_(function.model().pattern(), 3), whole_(sharing) {
  // Rows that products of matrices make for other processes are added in the order of ranks, not in that of arrival,
  // where PETSc can be told so.
  for (const char* option : {"-matstash_legacy", "-matstash_reproduce"})
    check(PetscOptionsSetValue(nullptr, option, "true"), "set options");
  follow_pattern();
}

PetscSystem::~PetscSystem() { free_matrix(); }

void PetscSystem::free_matrix() {
  if (petsc_is_over()) return;
  multigrid_.clear();
  KSPDestroy(&factor_);
  KSPDestroy(&iteration_);
  VecDestroy(&b_);
  VecDestroy(&x_);
  MatDestroy(&A_);
}

/// Systems of so few nodes are solved whole by every process, unless they are asked to be solved by iteration.
bool PetscSystem::is_small() const { return sharing_.all_nodes() < kFewNodes && options_.solver != LinearSolver::pcg; }

void PetscSystem::follow_pattern() {
  pattern_ = share_.shared_pattern();
  if (sharing_.all_nodes() < kFewNodes) whole_.follow_pattern(*pattern_);
  if (is_small()) return;
  free_matrix();
  make_matrix();
}

void PetscSystem::make_matrix() {
  rows_ = std::make_unique<SharedRows>(sharing_, *pattern_);
  const PetscInt own = 3 * sharing_.owned_count();
  check(MatCreate(sharing_.team().comm(), &A_), "make a matrix");
  check(MatSetSizes(A_, own, own, PETSC_DETERMINE, PETSC_DETERMINE), "make a matrix");
  check(MatSetBlockSize(A_, 3), "make a matrix");
  check(MatSetType(A_, MATAIJ), "make a matrix");  // GAMG refuses matrices that are stored by blocks
  check(MatXAIJSetPreallocation(A_, 3, rows_->own_blocks().data(), rows_->other_blocks().data(), nullptr, nullptr),
        "make a matrix");
  check(MatSetOption(A_, MAT_SYMMETRIC, PETSC_TRUE), "make a matrix");
  check(MatSetOption(A_, MAT_SYMMETRY_ETERNAL, PETSC_TRUE), "make a matrix");
  check(MatCreateVecs(A_, &x_, &b_), "make vectors");
  set_modes();
}

/// What multigrid must not lose: how bodies move as rigid ones, all of them at once, since no aggregate has nodes of
/// two bodies.
void PetscSystem::set_modes() {
  Vec places = nullptr;
  MatNullSpace modes = nullptr;
  check(VecDuplicate(b_, &places), "make vectors");
  check(VecSetBlockSize(places, 3), "make vectors");
  copy_in(function_.model().rest());
  check(VecCopy(b_, places), "copy positions");
  check(VecScale(places, -1), "copy positions");
  check(MatNullSpaceCreateRigidBody(places, &modes), "make rigid modes");
  check(MatSetNearNullSpace(A_, modes), "set rigid modes");
  MatNullSpaceDestroy(&modes);
  VecDestroy(&places);
}

void PetscSystem::begin_step(StepReport& report) {
  LinearSystem::begin_step(report);
  prefers_multigrid_ = false;
}

void PetscSystem::assemble(const VecX& x, Projection projection, double inertia_scale) {
  const Stopwatch watch(report_->seconds.assembly);
  function_.hessian(x, projection, inertia_scale, share_, drive_);
  if (anywhere(&sharing_, share_.shared_pattern() != pattern_)) follow_pattern();
  if (!is_small()) add_up_matrix(x);
  is_projected_ = projection != Projection::none;
  factorised_.reset();
  has_inertia_ = function_.problem().has_inertia();
}

void PetscSystem::add_up_matrix(const VecX& x) {
  multigrid_.clear();
  own_positions_.resize(3 * Eigen::Index(sharing_.owned_count()));
  for (std::size_t i = 0; i < sharing_.owned().size(); ++i)
    if (sharing_.owned()[i])
      node(own_positions_, sharing_.rows()[i] - sharing_.first_row()) = node(x, static_cast<Index>(i));
  check(MatZeroEntries(A_), "assemble a matrix");
  rows_->for_rows(share_, [&](Index row, std::span<const Index> columns, const double* values) {
    check(MatSetValuesBlocked(A_, 1, &row, static_cast<PetscInt>(columns.size()), columns.data(), values, ADD_VALUES),
          "assemble a matrix");
  });
  check(MatAssemblyBegin(A_, MAT_FINAL_ASSEMBLY), "assemble a matrix");
  check(MatAssemblyEnd(A_, MAT_FINAL_ASSEMBLY), "assemble a matrix");
}

void PetscSystem::end_without_factor(StepReport& report, FactorStatus status, std::string_view remedy) const {
  report.end(status == FactorStatus::not_finite ? Outcome::not_finite : Outcome::factorisation_failed,
             fmt::format("the matrix has no factor: {}{}{}{}{}", to_string(status), failure_.empty() ? "" : "; ",
                         failure_, remedy.empty() ? "" : "; ", remedy));
}

PetscSystem::Method PetscSystem::choose(Factorisation kind) const {
  if (is_small() || (kind == Factorisation::ldlt && sharing_.all_nodes() < kFewNodes)) return Method::whole;
  if (kind == Factorisation::ldlt && sharing_.all_nodes() <= kMostToFactorise) return Method::factor;
  switch (options_.solver) {
    case LinearSolver::direct:
      return Method::factor;
    case LinearSolver::pcg:
      switch (options_.preconditioner) {
        case PreconditionerKind::multigrid:
          return Method::multigrid;
        case PreconditionerKind::incomplete_cholesky:
        case PreconditionerKind::rest_factor:
          return Method::incomplete;
        default:
          return Method::blocks;
      }
    case LinearSolver::automatic:
      break;
  }
  return has_inertia_ && !prefers_multigrid_ ? Method::incomplete : Method::multigrid;
}

FactorStatus PetscSystem::solve_for(Factorisation kind, const VecX& g, VecX& dx) {
  const double norm = pliant::norm(&sharing_, g);
  failure_.clear();
  if (!std::isfinite(norm)) return FactorStatus::not_finite;
  if (norm == 0) {
    dx.setZero(g.size());
    return FactorStatus::ok;
  }
  const Method method = choose(kind);
  if (method == Method::whole) return solve_whole(kind, g, dx);
  copy_in(g);
  FactorStatus status = FactorStatus::ok;
  if (method == Method::factor) {
    status = factorise(kind);
  } else {
    const bool may_change = options_.solver == LinearSolver::automatic && method == Method::incomplete;
    const double tolerance = options_.fixed_iterations > 0 ? 0 : forcing_term(norm);
    const int most = options_.fixed_iterations > 0 ? options_.fixed_iterations
                     : may_change                  ? kManyIterations
                                                   : options_.max_iterations;
    const int before = report_->linear_iterations;
    status = iterate(method, tolerance, most);
    if (may_change && status == FactorStatus::ok && report_->linear_iterations - before >= kManyIterations) {
      prefers_multigrid_ = true;
      status = iterate(Method::multigrid, tolerance, options_.max_iterations);
    }
    // With a matrix that is positive definite, only the preconditioner can have been at fault.
    if (status == FactorStatus::not_positive_definite && is_projected_ && kind == Factorisation::llt)
      status = iterate(Method::blocks, tolerance, options_.max_iterations);
    if (status == FactorStatus::not_positive_definite) ++report_->failed_factorisations;
  }
  if (status == FactorStatus::not_positive_definite && kind == Factorisation::ldlt) {
    status = FactorStatus::ok;  // the iterate before it
    PetscReal size = 0;
    check(VecNorm(x_, NORM_INFINITY, &size), "measure a vector");
    if (!(size > 0)) check(VecCopy(b_, x_), "copy a vector");
  }
  if (status == FactorStatus::ok) copy_out(dx);
  return status;
}

/// The gradient, turned round, in the rows of this process.
void PetscSystem::copy_in(const VecX& g) {
  PetscScalar* b = nullptr;
  check(VecGetArrayWrite(b_, &b), "write a vector");
  for (std::size_t i = 0; i < sharing_.owned().size(); ++i)
    if (sharing_.owned()[i])
      Eigen::Map<Vec3>(b + 3 * (sharing_.rows()[i] - sharing_.first_row())) = -node(g, static_cast<Index>(i));
  check(VecRestoreArrayWrite(b_, &b), "write a vector");
}

void PetscSystem::copy_out(VecX& dx) {
  const PetscScalar* x = nullptr;
  dx.setZero(3 * static_cast<Eigen::Index>(sharing_.owned().size()));
  check(VecGetArrayRead(x_, &x), "read a vector");
  for (std::size_t i = 0; i < sharing_.owned().size(); ++i)
    if (sharing_.owned()[i])
      node(dx, static_cast<Index>(i)) = Eigen::Map<const Vec3>(x + 3 * (sharing_.rows()[i] - sharing_.first_row()));
  check(VecRestoreArrayRead(x_, &x), "read a vector");
  sharing_.update_copies(dx);
  // Nothing pushes prescribed unknowns, but multigrid moves them with their neighbours.
  for (Index i : function_.problem().fixed) dx[i] = 0;
}

FactorStatus PetscSystem::solve_whole(Factorisation kind, const VecX& g, VecX& dx) {
  if (factorised_ != kind) {
    const Stopwatch watch(report_->seconds.factorisation);
    const FactorStatus status = whole_.factor(share_, kind);
    ++report_->factorisations;
    factorised_ = status == FactorStatus::ok ? std::optional(kind) : std::nullopt;
    if (status != FactorStatus::ok) {
      ++report_->failed_factorisations;
      return status;
    }
  }
  linear_residual_ = 0;
  const Stopwatch watch(report_->seconds.solve);
  whole_.solve(g, dx);
  return FactorStatus::ok;
}

FactorStatus PetscSystem::factorise(Factorisation kind) {
  if (!factor_) {
    PC pc = nullptr;
    check(KSPCreate(sharing_.team().comm(), &factor_), "make a solver");
    check(KSPSetOptionsPrefix(factor_, "direct_"), "make a solver");
    check(KSPSetType(factor_, KSPPREONLY), "make a solver");
    check(KSPGetPC(factor_, &pc), "make a solver");
    check(PCSetType(pc, PCCHOLESKY), "make a solver");
    check(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS), "find MUMPS");
    check(KSPSetFromOptions(factor_), "take options");
  }
  if (!factorised_) {
    const Stopwatch watch(report_->seconds.factorisation);
    PC pc = nullptr;
    Mat factor = nullptr;
    PetscInt negative = 0, info = 0;
    check(KSPSetOperators(factor_, A_, A_), "factorise a matrix");
    check(KSPSetUp(factor_), "factorise a matrix");
    check(KSPGetPC(factor_, &pc), "factorise a matrix");
    check(PCFactorGetMatrix(pc, &factor), "factorise a matrix");
    check(MatMumpsGetInfog(factor, 1, &info), "ask MUMPS");
    check(MatMumpsGetInfog(factor, 12, &negative), "ask MUMPS");
    ++report_->factorisations;
    factorised_ = Factorisation::ldlt;  // which is one of positive definite matrices, too
    if (info < 0) {
      failure_ = fmt::format("MUMPS ended with INFOG(1) = {}", info);
      ++report_->failed_factorisations;
      return info == -10 ? FactorStatus::not_positive_definite : FactorStatus::not_finite;
    }
    if (negative > 0 && kind == Factorisation::llt) {
      ++report_->failed_factorisations;
      return FactorStatus::not_positive_definite;
    }
  }
  const Stopwatch watch(report_->seconds.solve);
  linear_residual_ = 0;
  check(KSPSolve(factor_, b_, x_), "solve a system");
  return FactorStatus::ok;
}

void PetscSystem::set_up(KSP solver, Method method) {
  PC pc = nullptr;
  check(KSPGetPC(solver, &pc), "make a solver");
  switch (method) {
    case Method::whole:
    case Method::factor:
    case Method::blocks:
      check(PCSetType(pc, PCPBJACOBI), "make a preconditioner");
      break;
    case Method::incomplete: {
      check(PCSetType(pc, PCBJACOBI), "make a preconditioner");
      check(PetscOptionsSetValue(nullptr, "-incomplete_sub_pc_type", "icc"), "set options");
      check(PetscOptionsSetValue(nullptr, "-incomplete_sub_pc_factor_shift_type", "positive_definite"), "set options");
      check(PCSetOptionsPrefix(pc, "incomplete_"), "make a preconditioner");
      break;
    }
    case Method::multigrid:
      multigrid_.attach(pc);
      check(PCSetOptionsPrefix(pc, ""), "make a preconditioner");
      break;
  }
}

/// Once for each matrix, and not where options have put another preconditioner in its place.
void PetscSystem::set_up_multigrid() {
  PC pc = nullptr;
  PetscBool is_ours = PETSC_FALSE;
  check(KSPGetPC(iteration_, &pc), "make a solver");
  check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCSHELL, &is_ours), "make a preconditioner");
  if (is_ours && multigrid_.empty()) multigrid_.set(A_, own_positions_);
}

FactorStatus PetscSystem::iterate(Method method, double tolerance, int most) {
  if (iteration_ && set_up_for_ != method) KSPDestroy(&iteration_);
  if (!iteration_) {
    check(KSPCreate(sharing_.team().comm(), &iteration_), "make a solver");
    check(KSPSetType(iteration_, KSPCG), "make a solver");
    check(KSPSetNormType(iteration_, KSP_NORM_UNPRECONDITIONED), "make a solver");
    set_up(iteration_, method);
    check(KSPSetFromOptions(iteration_), "take options");
    set_up_for_ = method;
  }
  {
    const Stopwatch watch(report_->seconds.factorisation);
    if (method == Method::multigrid) set_up_multigrid();
    check(KSPSetOperators(iteration_, A_, A_), "set up a solver");
    check(KSPSetUp(iteration_), "set up a preconditioner");
    check(KSPSetUpOnBlocks(iteration_), "set up a preconditioner");
  }
  const Stopwatch watch(report_->seconds.solve);
  check(KSPSetTolerances(iteration_, std::max(tolerance, 1e-14), 0, 1e20, most), "solve a system");
  check(KSPSolve(iteration_, b_, x_), "solve a system");
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt iterations = 0;
  PetscScalar curvature = 0;
  check(KSPGetConvergedReason(iteration_, &reason), "solve a system");
  check(KSPGetIterationNumber(iteration_, &iterations), "solve a system");
  report_->linear_iterations += static_cast<int>(iterations);
  check(KSPGetResidualNorm(iteration_, &linear_residual_), "solve a system");
  switch (reason) {
    case KSP_DIVERGED_INDEFINITE_MAT:
    case KSP_DIVERGED_INDEFINITE_PC:
    case KSP_DIVERGED_PC_FAILED:
      return FactorStatus::not_positive_definite;
    case KSP_DIVERGED_NANORINF:
      return FactorStatus::not_finite;
    default:
      break;
  }
  // PETSc compares the curvatures of two directions, and so takes a first one that is negative for granted.
  check(VecDot(b_, x_, &curvature), "multiply vectors");
  return curvature > 0 ? FactorStatus::ok : FactorStatus::not_positive_definite;
}

}  // namespace pliant
