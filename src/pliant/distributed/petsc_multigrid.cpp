#include "pliant/distributed/petsc_multigrid.hpp"

#include <numeric>

#include "pliant/distributed/petsc_check.hpp"

namespace pliant {

namespace {

/// Nodes of the last level, which every process factorises for itself: the same bits for all, in hardly any time.
constexpr double kMostCoarsest = 100;
constexpr std::size_t kMostLevels = 12;
constexpr double kLeastGain = 0.8;  ///< groups over nodes beyond which another level is worth nothing

double sum_over_all(Mat A, double own) {
  double sum = own;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm(reinterpret_cast<PetscObject>(A)));
  return sum;
}

}  // namespace

PetscMultigrid::~PetscMultigrid() { clear(); }

void PetscMultigrid::clear() {
  levels_.clear();
  if (!petsc_is_over()) KSPDestroy(&coarsest_);
}

void PetscMultigrid::set(Mat A, const VecX& positions) {
  clear();
  levels_.reserve(kMostLevels);
  levels_.emplace_back(A, 3, false);
  levels_.front().set_positions(positions);
  for (;;) {
    PetscLevel& level = levels_.back();
    const double nodes = sum_over_all(A, level.nodes());
    if (nodes <= kMostCoarsest || levels_.size() == kMostLevels) break;
    level.prepare();
    level.group();
    if (sum_over_all(A, level.groups()) > kLeastGain * nodes) break;
    levels_.push_back(level.make_coarse());
  }
  PC pc = nullptr;
  KSP inner = nullptr;
  const Mat last = levels_.back().matrix();
  check(KSPCreate(PetscObjectComm(reinterpret_cast<PetscObject>(A)), &coarsest_), "make a solver");
  check(KSPSetOptionsPrefix(coarsest_, "coarsest_"), "make a solver");
  check(KSPSetType(coarsest_, KSPPREONLY), "make a solver");
  check(KSPSetOperators(coarsest_, last, last), "make a solver");
  check(KSPGetPC(coarsest_, &pc), "make a solver");
  check(PCSetType(pc, PCREDUNDANT), "make a solver");
  check(PCRedundantGetKSP(pc, &inner), "make a solver");
  check(KSPSetType(inner, KSPPREONLY), "make a solver");
  check(KSPGetPC(inner, &pc), "make a solver");
  check(PCSetType(pc, PCCHOLESKY), "make a solver");
  // A body that nothing holds leaves six motions without a pivot.
  check(PCFactorSetShiftType(pc, MAT_SHIFT_POSITIVE_DEFINITE), "make a solver");
  check(KSPSetUp(coarsest_), "factorise a coarse matrix");
}

void PetscMultigrid::cycle(std::size_t l) {
  if (l + 1 == levels_.size()) {
    check(KSPSolve(coarsest_, levels_[l].f, levels_[l].x), "solve a coarse system");
    return;
  }
  PetscLevel &fine = levels_[l], &coarse = levels_[l + 1];
  fine.smooth_from_zero();
  fine.restrict_residual(coarse);
  cycle(l + 1);
  fine.add_correction(coarse);
  fine.smooth_on();
}

PetscErrorCode PetscMultigrid::apply(PC preconditioner, Vec r, Vec z) {
  try {
    PetscMultigrid* self = nullptr;
    check(PCShellGetContext(preconditioner, &self), "apply a preconditioner");
    PetscLevel& finest = self->levels_.front();
    check(VecCopy(r, finest.f), "copy a vector");
    self->cycle(0);
    check(VecCopy(finest.x, z), "copy a vector");
  } catch (const std::exception&) {  // nothing may be thrown through PETSc's own functions, which are C
    return PETSC_ERR_LIB;
  }
  return 0;
}

void PetscMultigrid::attach(PC preconditioner) {
  check(PCSetType(preconditioner, PCSHELL), "make a preconditioner");
  check(PCShellSetContext(preconditioner, this), "make a preconditioner");
  check(PCShellSetApply(preconditioner, &PetscMultigrid::apply), "make a preconditioner");
  check(PCShellSetName(preconditioner, "multigrid of rigid motions"), "make a preconditioner");
}

PetscMultigrid::Statistics PetscMultigrid::statistics() const {
  Statistics statistics;
  std::vector<double> numbers;
  for (const PetscLevel& level : levels_) {
    MatInfo info{};
    check(MatGetInfo(level.matrix(), MAT_GLOBAL_SUM, &info), "look at a matrix");
    numbers.push_back(info.nz_used);
  }
  statistics.levels = static_cast<int>(levels_.size());
  if (levels_.size() > 1) statistics.nodes = sum_over_all(levels_[0].matrix(), levels_[1].nodes());
  if (!levels_.empty()) statistics.complexity = std::accumulate(numbers.begin(), numbers.end(), 0.0) / numbers.front();
  return statistics;
}

}  // namespace pliant
