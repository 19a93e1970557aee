#include "pliant/distributed/petsc_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "pliant/base/stopwatch.hpp"

namespace pliant {

namespace {

void check(PetscErrorCode code, const char* what) {
  if (code == 0) return;
  const char* text = nullptr;
  PetscErrorMessage(code, &text, nullptr);
  throw std::runtime_error(fmt::format("PETSc cannot {}: {}", what, text ? text : "no reason given"));
}

constexpr Index kFewNodes = LinearChoice::kFewNodes;
constexpr Index kMostToFactorise = 200'000;  ///< nodes of an indefinite system; beyond, its factor is too large
constexpr int kManyIterations = 300;

}  // namespace

PetscSystem::PetscSystem(SharedNodes& nodes, const LocalModel& local, const LinearOptions& options)
    : nodes_(nodes), local_(local), options_(options), share_(local.model->pattern(), 3) {
  const MPI_Comm comm = nodes_.team().comm();
  const BlockPattern& pattern = *local.model->pattern();
  const PetscInt own = 3 * local.owned_count;
  // Rows that multigrid makes for other processes are added in the order of ranks, not in that of arrival.
  check(PetscOptionsSetValue(nullptr, "-matstash_reproduce", "true"), "set options");
  check(MatCreate(comm, &A_), "make a matrix");
  check(MatSetSizes(A_, own, own, PETSC_DETERMINE, PETSC_DETERMINE), "make a matrix");
  check(MatSetBlockSize(A_, 3), "make a matrix");
  check(MatSetType(A_, MATAIJ), "make a matrix");  // GAMG refuses matrices that are stored by blocks
  {
    // Both triangles, entry by entry, with rows that other processes have; PETSc sums in an order that does not change.
    std::vector<PetscInt> rows, columns;
    const auto count = 18 * static_cast<std::size_t>(pattern.blocks());
    rows.reserve(count);
    columns.reserve(count);
    for (Index i = 0; i < pattern.rows(); ++i)
      for (std::int64_t k = pattern.diagonal(i); k < pattern.row_start()[at(i) + 1]; ++k) {
        const Index j = pattern.columns()[at(k)];
        for (int c = 0; c < 3; ++c)
          for (int r = 0; r < 3; ++r) {
            const PetscInt row = 3 * local.row[at(i)] + r, column = 3 * local.row[at(j)] + c;
            rows.push_back(row);
            columns.push_back(column);
            if (i == j) continue;
            rows.push_back(column);
            columns.push_back(row);
          }
      }
    entries_.resize(rows.size());
    check(MatSetPreallocationCOO(A_, static_cast<PetscCount>(rows.size()), rows.data(), columns.data()),
          "make the pattern of a matrix");
  }
  if (nodes_.team().size() >
      1) {  // PETSc 3.18 forgets the size of blocks in the part that couples a process's own rows
    Mat own_part = nullptr;
    check(MatMPIAIJGetSeqAIJ(A_, &own_part, nullptr, nullptr), "make a matrix");
    check(MatSetBlockSizes(own_part, 3, 3), "make a matrix");
  }
  check(MatSetOption(A_, MAT_SYMMETRIC, PETSC_TRUE), "make a matrix");
  check(MatSetOption(A_, MAT_SYMMETRY_ETERNAL, PETSC_TRUE), "make a matrix");
  check(MatCreateVecs(A_, &x_, &b_), "make vectors");
  // What multigrid must not lose: how bodies move as rigid ones, all of them at once, since no aggregate has nodes of
  // two bodies.
  Vec places = nullptr;
  MatNullSpace modes = nullptr;
  check(VecDuplicate(b_, &places), "make vectors");
  copy_in(local.model->rest());
  check(VecCopy(b_, places), "copy positions");
  check(VecScale(places, -1), "copy positions");
  check(MatNullSpaceCreateRigidBody(places, &modes), "make rigid modes");
  check(MatSetNearNullSpace(A_, modes), "set rigid modes");
  MatNullSpaceDestroy(&modes);
  VecDestroy(&places);
}

PetscSystem::~PetscSystem() {
  KSPDestroy(&factor_);
  KSPDestroy(&iteration_);
  VecDestroy(&b_);
  VecDestroy(&x_);
  MatDestroy(&A_);
}

void PetscSystem::begin_step(StepReport& report) {
  report_ = &report;
  prefers_multigrid_ = false;
  last_norm_ = last_forcing_ = 0;
}

void PetscSystem::assemble(IncrementalPotential& potential, const VecX& x, Projection projection,
                           double inertia_scale) {
  const Stopwatch watch(report_->seconds.assembly);
  potential.hessian(x, projection, inertia_scale, share_);
  const BlockPattern& pattern = share_.pattern();
  std::size_t entry = 0;
  for (Index i = 0; i < pattern.rows(); ++i)
    for (std::int64_t k = pattern.diagonal(i); k < pattern.row_start()[at(i) + 1]; ++k) {
      const bool is_diagonal = pattern.columns()[at(k)] == i;
      const double* block = share_.block(k);
      for (int a = 0; a < 9; ++a) {
        entries_[entry++] = block[a];
        if (!is_diagonal) entries_[entry++] = block[a];
      }
    }
  check(MatSetValuesCOO(A_, entries_.data(), INSERT_VALUES), "assemble a matrix");
  is_projected_ = projection != Projection::none;
  is_factorised_ = false;
  has_inertia_ = potential.problem().has_inertia();
  fixed_ = potential.problem().fixed;
}

PetscSystem::Method PetscSystem::choose(Factorisation kind) const {
  if (kind == Factorisation::ldlt && local_.all_nodes <= kMostToFactorise) return Method::factor;
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
  if (local_.all_nodes < kFewNodes) return Method::factor;
  return has_inertia_ && !prefers_multigrid_ ? Method::incomplete : Method::multigrid;
}

FactorStatus PetscSystem::solve(Factorisation kind, const VecX& g, double norm, VecX& dx) {
  failure_.clear();
  if (!std::isfinite(norm)) return FactorStatus::not_finite;
  if (norm == 0) {
    dx.setZero(g.size());
    return FactorStatus::ok;
  }
  copy_in(g);
  const Method method = choose(kind);
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
  for (std::size_t i = 0; i < local_.nodes.size(); ++i)
    if (local_.owned[i]) Eigen::Map<Vec3>(b + 3 * (local_.row[i] - local_.first_row)) = -node(g, static_cast<Index>(i));
  check(VecRestoreArrayWrite(b_, &b), "write a vector");
}

void PetscSystem::copy_out(VecX& dx) {
  const PetscScalar* x = nullptr;
  dx.setZero(3 * static_cast<Eigen::Index>(local_.nodes.size()));
  check(VecGetArrayRead(x_, &x), "read a vector");
  for (std::size_t i = 0; i < local_.nodes.size(); ++i)
    if (local_.owned[i])
      node(dx, static_cast<Index>(i)) = Eigen::Map<const Vec3>(x + 3 * (local_.row[i] - local_.first_row));
  check(VecRestoreArrayRead(x_, &x), "read a vector");
  nodes_.update_copies(dx);
  // Nothing pushes prescribed unknowns, but multigrid moves them with their neighbours.
  for (Index i : fixed_) dx[i] = 0;
}

/// MUMPS on several processes adds in the order in which messages arrive, which is not twice the same. A small system
/// is factorised by every process for itself, with the same bits for all; that takes no longer.
bool PetscSystem::is_redundant() const { return local_.all_nodes < kFewNodes; }

PC PetscSystem::factor_pc() {
  PC pc = nullptr;
  KSP solver = factor_;
  check(KSPGetPC(solver, &pc), "make a solver");
  if (!is_redundant()) return pc;
  check(PCRedundantGetKSP(pc, &solver), "make a solver");
  check(KSPGetPC(solver, &pc), "make a solver");
  return pc;
}

FactorStatus PetscSystem::factorise(Factorisation kind) {
  if (!factor_) {
    PC pc = nullptr;
    check(KSPCreate(nodes_.team().comm(), &factor_), "make a solver");
    check(KSPSetOptionsPrefix(factor_, "direct_"), "make a solver");
    check(KSPSetType(factor_, KSPPREONLY), "make a solver");
    check(KSPGetPC(factor_, &pc), "make a solver");
    if (is_redundant()) check(PCSetType(pc, PCREDUNDANT), "make a solver");
    pc = factor_pc();
    check(PCSetType(pc, PCCHOLESKY), "make a solver");
    check(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS), "find MUMPS");
    check(KSPSetFromOptions(factor_), "take options");
  }
  if (!is_factorised_) {
    const Stopwatch watch(report_->seconds.factorisation);
    Mat factor = nullptr;
    PetscInt negative = 0, info = 0;
    check(KSPSetOperators(factor_, A_, A_), "factorise a matrix");
    check(KSPSetUp(factor_), "factorise a matrix");
    check(PCFactorGetMatrix(factor_pc(), &factor), "factorise a matrix");
    check(MatMumpsGetInfog(factor, 1, &info), "ask MUMPS");
    check(MatMumpsGetInfog(factor, 12, &negative), "ask MUMPS");
    ++report_->factorisations;
    is_factorised_ = true;
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
  check(KSPSolve(factor_, b_, x_), "solve a system");
  return FactorStatus::ok;
}

void PetscSystem::set_up(KSP solver, Method method) {
  PC pc = nullptr;
  check(KSPGetPC(solver, &pc), "make a solver");
  switch (method) {
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
    case Method::multigrid: {
      PetscReal none = 0;  // couplings of prescribed nodes, which are zero, are none
      check(PCSetType(pc, PCGAMG), "make a preconditioner");
      check(PCSetOptionsPrefix(pc, ""), "make a preconditioner");
      check(PCGAMGSetNSmooths(pc, 1), "make a preconditioner");
      check(PCGAMGSetThreshold(pc, &none, 1), "make a preconditioner");
      break;
    }
  }
}

FactorStatus PetscSystem::iterate(Method method, double tolerance, int most) {
  if (iteration_ && set_up_for_ != method) KSPDestroy(&iteration_);
  if (!iteration_) {
    check(KSPCreate(nodes_.team().comm(), &iteration_), "make a solver");
    check(KSPSetType(iteration_, KSPCG), "make a solver");
    check(KSPSetNormType(iteration_, KSP_NORM_UNPRECONDITIONED), "make a solver");
    set_up(iteration_, method);
    check(KSPSetFromOptions(iteration_), "take options");
    set_up_for_ = method;
  }
  {
    const Stopwatch watch(report_->seconds.factorisation);
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

/// As NewtonSystem's: Eisenstat and Walker 1996, choice 2 with their safeguard.
double PetscSystem::forcing_term(double norm) {
  constexpr double gamma = 0.9, loosest = 0.1, tightest = 1e-3;
  if (norm == last_norm_) return last_forcing_;
  double term = loosest;
  if (last_norm_ > 0) {
    const double ratio = norm / last_norm_;
    term = gamma * ratio * ratio;
    const double kept = gamma * last_forcing_ * last_forcing_;
    if (kept > 0.1) term = std::max(term, kept);
  }
  last_norm_ = norm;
  last_forcing_ = std::clamp(term, tightest, loosest);
  return last_forcing_;
}

}  // namespace pliant
