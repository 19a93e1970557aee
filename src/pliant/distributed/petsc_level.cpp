#include "pliant/distributed/petsc_level.hpp"

#include <cmath>
#include <utility>

#include "pliant/distributed/petsc_check.hpp"
#include "pliant/linalg/multigrid/diagonal_block.hpp"

namespace pliant {

using multigrid::Real;

namespace {

constexpr double kThreshold = 0.3;  // of strong couplings, as on one machine; so are the following
constexpr double kSmoothed = 10;    // the smoother is for [largest / kSmoothed, largest]
constexpr double kProlongationDamping = 1.6;

/// The part of a matrix in this process's rows whose columns are its own, too, and the others.
struct LocalParts {
  Mat own = nullptr, other = nullptr;

  explicit LocalParts(Mat A) {
    PetscBool is_parallel = PETSC_FALSE;
    check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(A), MATMPIAIJ, &is_parallel), "look at a matrix");
    if (is_parallel)
      check(MatMPIAIJGetSeqAIJ(A, &own, &other, nullptr), "look at a matrix");
    else
      own = A;
  }
};

/// Rows of a sequential matrix, as PETSc keeps them.
class Rows {
 public:
  explicit Rows(Mat A) : A_(A) {
    PetscBool done = PETSC_FALSE;
    check(MatGetRowIJ(A_, 0, PETSC_FALSE, PETSC_FALSE, &count_, &start_, &columns_, &done), "look at a matrix");
    check(MatSeqAIJGetArray(A_, &values_), "look at a matrix");
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() {
    PetscBool done = PETSC_FALSE;
    MatSeqAIJRestoreArray(A_, &values_);
    MatRestoreRowIJ(A_, 0, PETSC_FALSE, PETSC_FALSE, &count_, &start_, &columns_, &done);
  }
  PetscInt begin(PetscInt row) const { return start_[row]; }
  PetscInt end(PetscInt row) const { return start_[row + 1]; }
  PetscInt column(PetscInt k) const { return columns_[k]; }
  double& value(PetscInt k) { return values_[k]; }

 private:
  Mat A_;
  PetscInt count_ = 0;
  const PetscInt *start_ = nullptr, *columns_ = nullptr;
  double* values_ = nullptr;
};

/// A number in [-1, 1) for each unknown, the same for any number of processes.
double scattered(std::uint64_t unknown) {
  std::uint64_t z = (unknown + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return static_cast<double>((z ^ (z >> 31U)) >> 11U) / static_cast<double>(1ULL << 52U) - 1;
}

}  // namespace

PetscLevel::PetscLevel(Mat A, int b, bool is_owner) : A_(A), is_owner_(is_owner), b_(b) {
  PetscInt rows = 0;
  check(MatGetLocalSize(A_, &rows, nullptr), "look at a matrix");
  check(MatGetOwnershipRange(A_, &first_row_, nullptr), "look at a matrix");
  nodes_ = rows / b_;
  check(MatCreateVecs(A_, &x, &f), "make vectors");
  for (Vec* v : {&r_, &d_, &y_}) check(VecDuplicate(x, v), "make vectors");
}

PetscLevel::PetscLevel(PetscLevel&& other) noexcept
    : f(std::exchange(other.f, nullptr)),
      x(std::exchange(other.x, nullptr)),
      A_(std::exchange(other.A_, nullptr)),
      P_(std::exchange(other.P_, nullptr)),
      R_(std::exchange(other.R_, nullptr)),
      is_owner_(other.is_owner_),
      b_(other.b_),
      nodes_(other.nodes_),
      first_row_(other.first_row_),
      rows_(std::move(other.rows_)),
      groups_(std::move(other.groups_)),
      modes_(std::move(other.modes_)),
      inverse_(std::move(other.inverse_)),
      largest_(other.largest_),
      r_(std::exchange(other.r_, nullptr)),
      d_(std::exchange(other.d_, nullptr)),
      y_(std::exchange(other.y_, nullptr)) {}

PetscLevel::~PetscLevel() {
  if (petsc_is_over()) return;
  for (Vec* v : {&f, &x, &r_, &d_, &y_}) VecDestroy(v);
  MatDestroy(&P_);
  MatDestroy(&R_);
  if (is_owner_) MatDestroy(&A_);
}

/// An unknown that couples to no other node is held.
void PetscLevel::set_positions(const VecX& own) {
  modes_.centre.resize(at(nodes_));
  modes_.length.assign(at(nodes_), 0);
  modes_.fixed.assign(at(3 * std::int64_t(nodes_)), 1);
  for (Index i = 0; i < nodes_; ++i) modes_.centre[at(i)] = node(own, i);
  const LocalParts parts(A_);
  for (Mat part : {parts.own, parts.other}) {
    if (!part) continue;
    Rows rows(part);
    for (PetscInt row = 0; row < b_ * nodes_; ++row)
      for (PetscInt k = rows.begin(row); k < rows.end(row); ++k)
        if (rows.value(k) != 0 && (part == parts.other || rows.column(k) / b_ != row / b_)) modes_.fixed[at(row)] = 0;
  }
}

/// Which nodes of this process are coupled, and how strongly.
void PetscLevel::follow_pattern(std::vector<Real>& norms) {
  Rows rows(LocalParts(A_).own);
  rows_ = multigrid::collect_rows(nodes_, nodes_, [&](Index i, auto&& add) {
    for (PetscInt row = b_ * i; row < b_ * (i + 1); ++row)
      for (PetscInt k = rows.begin(row); k < rows.end(row); ++k) add(rows.column(k) / b_);
  });
  std::vector<double> squares(rows_.columns.size(), 0);
  std::vector<std::int64_t> place(at(nodes_), 0);
  for (Index i = 0; i < nodes_; ++i) {
    for (std::int64_t k = rows_.start[at(i)]; k < rows_.start[at(i) + 1]; ++k) place[at(rows_.columns[at(k)])] = k;
    for (PetscInt row = b_ * i; row < b_ * (i + 1); ++row)
      for (PetscInt k = rows.begin(row); k < rows.end(row); ++k)
        squares[at(place[at(rows.column(k) / b_)])] += rows.value(k) * rows.value(k);
  }
  norms.clear();
  for (double square : squares) norms.push_back(static_cast<Real>(std::sqrt(square)));
}

void PetscLevel::group() {
  std::vector<Real> norms;
  follow_pattern(norms);
  groups_ = multigrid::aggregate(rows_, norms, kThreshold);
}

void PetscLevel::prepare() {
  inverse_.assign(at(nodes_) * at(b_ * b_), 0);
  Rows rows(LocalParts(A_).own);
  Eigen::MatrixXd block(b_, b_);
  for (Index i = 0; i < nodes_; ++i) {
    block.setZero();
    for (int r = 0; r < b_; ++r)
      for (PetscInt k = rows.begin(b_ * i + r); k < rows.end(b_ * i + r); ++k)
        if (rows.column(k) / b_ == i) block(r, rows.column(k) % b_) = rows.value(k);
    double* to = inverse_.data() + at(i) * at(b_ * b_);
    if (b_ == 3)
      Eigen::Map<Mat3>{to} = multigrid::inverse_of_diagonal<3>(block);
    else
      Eigen::Map<multigrid::Mat6>{to} = multigrid::inverse_of_diagonal<6>(block);
  }
  estimate_largest_eigenvalue();
}

/// to = D^{-1} from
void PetscLevel::scale(Vec from, Vec to) const {
  const double* in = nullptr;
  double* out = nullptr;
  check(VecGetArrayRead(from, &in), "read a vector");
  check(VecGetArrayWrite(to, &out), "write a vector");
  const auto scale_by = [&]<int B>() {
    using Vector = Eigen::Matrix<double, B, 1>;
    for (std::ptrdiff_t i = 0; i < nodes_; ++i)
      Eigen::Map<Vector>(out + B * i).noalias() =
          Eigen::Map<const Eigen::Matrix<double, B, B>>(inverse_.data() + B * B * i) *
          Eigen::Map<const Vector>(in + B * i);
  };
  b_ == 3 ? scale_by.operator()<3>() : scale_by.operator()<6>();
  check(VecRestoreArrayWrite(to, &out), "write a vector");
  check(VecRestoreArrayRead(from, &in), "read a vector");
}

/// As multigrid::Level: the largest Ritz value of a few steps of Lanczos's method, by way of conjugate gradients.
void PetscLevel::estimate_largest_eigenvalue() {
  constexpr int kSteps = 8;
  constexpr double kSafety = 1.1;
  Vec r = r_, z = d_, p = x, q = y_;
  double* random = nullptr;
  check(VecGetArrayWrite(r, &random), "write a vector");
  for (PetscInt i = 0; i < b_ * nodes_; ++i) random[i] = scattered(static_cast<std::uint64_t>(first_row_ + i));
  check(VecRestoreArrayWrite(r, &random), "write a vector");
  VecX diagonal(kSteps), off(kSteps);
  double rz = 0, last_alpha = 0;
  int steps = 0;
  for (; steps < kSteps; ++steps) {
    scale(r, z);
    const double last_rz = rz;
    check(VecDot(r, z, &rz), "multiply vectors");
    const double beta = steps == 0 ? 0 : rz / last_rz;
    if (steps == 0)
      check(VecCopy(z, p), "copy a vector");
    else
      check(VecAYPX(p, beta, z), "add vectors");
    check(MatMult(A_, p, q), "multiply a matrix");
    double curvature = 0;
    check(VecDot(p, q, &curvature), "multiply vectors");
    if (!(curvature > 0) || !(rz > 0)) break;
    const double alpha = rz / curvature;
    diagonal[steps] = 1 / alpha + (steps == 0 ? 0 : beta / last_alpha);
    if (steps > 0) off[steps - 1] = std::sqrt(beta) / last_alpha;
    last_alpha = alpha;
    check(VecAXPY(r, -alpha, q), "add vectors");
  }
  largest_ = 4;  // a bound for tetrahedra
  if (steps > 0) {
    const double found = largest_tridiagonal_eigenvalue(diagonal.head(steps), off.head(steps - 1));
    if (std::isfinite(found) && found > 0) largest_ = kSafety * found;
  }
}

PetscLevel PetscLevel::make_coarse() {
  multigrid::SparseRows owner;
  for (Index i = 0; i < nodes_; ++i) {
    if (groups_.of[at(i)] >= 0) owner.columns.push_back(groups_.of[at(i)]);
    owner.start.push_back(static_cast<std::int64_t>(owner.columns.size()));
  }
  std::vector<Real> Q;
  multigrid::RigidModes modes;
  multigrid::tentative_prolongation(modes_, groups_, multigrid::SparseColumns(owner, groups_.count), Q, modes);
  smooth_prolongation(Q);
  // Not MatPtAP, which adds what processes make for each other in the order of arrival: not twice the same bits.
  Mat AP = nullptr, coarse = nullptr;
  check(MatMatMult(A_, P_, MAT_INITIAL_MATRIX, 2, &AP), "make a coarse matrix");
  MatDestroy(&R_);
  check(MatTranspose(P_, MAT_INITIAL_MATRIX, &R_), "make a restriction");
  check(MatMatMult(R_, AP, MAT_INITIAL_MATRIX, 2, &coarse), "make a coarse matrix");
  check(MatProductClear(coarse), "make a coarse matrix");
  MatDestroy(&AP);
  check(MatSetOption(coarse, MAT_SYMMETRIC, PETSC_TRUE), "make a coarse matrix");
  hold_empty_unknowns(coarse);
  PetscLevel next(coarse, 6, true);
  next.modes_ = std::move(modes);
  return next;
}

/// P = (I - w D^{-1} A) Q
void PetscLevel::smooth_prolongation(const std::vector<Real>& Q) {
  const PetscInt columns = 6 * groups_.count;
  PetscInt first_column = 0;
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(A_));
  MPI_Exscan(&columns, &first_column, 1, MPIU_INT, MPI_SUM, comm);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) first_column = 0;

  Mat tentative = nullptr;
  check(MatCreateAIJ(comm, b_ * nodes_, columns, PETSC_DETERMINE, PETSC_DETERMINE, 6, nullptr, 0, nullptr, &tentative),
        "make a prolongation");
  for (Index i = 0; i < nodes_; ++i) {
    if (groups_.of[at(i)] < 0) continue;
    for (int r = 0; r < b_; ++r) {
      const PetscInt row = first_row_ + b_ * i + r;
      PetscInt at_columns[6];
      double values[6];
      for (int c = 0; c < 6; ++c) {
        at_columns[c] = first_column + 6 * groups_.of[at(i)] + c;
        values[c] = static_cast<double>(Q[at(i) * at(6 * b_) + at(6 * r + c)]);
      }
      check(MatSetValues(tentative, 1, &row, 6, at_columns, values, INSERT_VALUES), "make a prolongation");
    }
  }
  check(MatAssemblyBegin(tentative, MAT_FINAL_ASSEMBLY), "make a prolongation");
  check(MatAssemblyEnd(tentative, MAT_FINAL_ASSEMBLY), "make a prolongation");
  MatDestroy(&P_);
  check(MatMatMult(A_, tentative, MAT_INITIAL_MATRIX, 2, &P_), "make a prolongation");
  check(MatProductClear(P_), "make a prolongation");
  MatDestroy(&tentative);

  // A Q becomes Q - w D^{-1} A Q in its place: its rows have room for Q, as the diagonal of A is not zero.
  const double omega = kProlongationDamping / largest_;
  const LocalParts parts(P_);
  Eigen::MatrixXd block, inverse(b_, b_);
  for (Mat part : {parts.own, parts.other}) {
    if (!part) continue;
    Rows rows(part);
    for (Index i = 0; i < nodes_; ++i) {
      const PetscInt count = rows.end(b_ * i) - rows.begin(b_ * i);
      inverse = Eigen::Map<const Eigen::MatrixXd>(inverse_.data() + at(i) * at(b_ * b_), b_, b_);
      block.resize(b_, count);
      for (int r = 0; r < b_; ++r) {
        if (rows.end(b_ * i + r) - rows.begin(b_ * i + r) != count)
          throw std::runtime_error("the rows of a node's unknowns have different patterns");
        for (PetscInt k = 0; k < count; ++k) block(r, k) = rows.value(rows.begin(b_ * i + r) + k);
      }
      block = (-omega * inverse * block).eval();
      for (int r = 0; r < b_; ++r)
        for (PetscInt k = 0; k < count; ++k) {
          const PetscInt entry = rows.begin(b_ * i + r) + k, column = rows.column(entry);
          rows.value(entry) = block(r, k);
          if (part == parts.own && column / 6 == groups_.of[at(i)])
            rows.value(entry) += static_cast<double>(Q[at(i) * at(6 * b_) + at(6 * r + column % 6)]);
        }
    }
  }
  check(MatAssemblyBegin(P_, MAT_FINAL_ASSEMBLY), "make a prolongation");
  check(MatAssemblyEnd(P_, MAT_FINAL_ASSEMBLY), "make a prolongation");
}

/// Motions that a group cannot make leave nothing on the diagonal.
void PetscLevel::hold_empty_unknowns(Mat coarse) const {
  Vec diagonal = nullptr;
  double* values = nullptr;
  PetscInt count = 0;
  check(MatCreateVecs(coarse, &diagonal, nullptr), "make vectors");
  check(MatGetDiagonal(coarse, diagonal), "look at a matrix");
  check(VecGetLocalSize(diagonal, &count), "look at a vector");
  check(VecGetArray(diagonal, &values), "write a vector");
  for (PetscInt i = 0; i < count; ++i)
    if (values[i] == 0) values[i] = 1;
  check(VecRestoreArray(diagonal, &values), "write a vector");
  check(MatDiagonalSet(coarse, diagonal, INSERT_VALUES), "make a coarse matrix");
  VecDestroy(&diagonal);
}

/// Chebyshev's polynomial of degree 2 in D^{-1} A.
void PetscLevel::smooth_from_zero() {
  check(VecSet(x, 0), "write a vector");
  check(VecCopy(f, r_), "copy a vector");
  const double upper = largest_, lower = largest_ / kSmoothed;
  const double centre = (upper + lower) / 2, radius = (upper - lower) / 2;
  scale(r_, d_);
  check(VecScale(d_, 1 / centre), "scale a vector");
  check(VecCopy(d_, x), "copy a vector");
  const double rho = radius / centre, next = 1 / (2 * centre / radius - rho);
  check(MatMult(A_, x, r_), "multiply a matrix");
  check(VecAYPX(r_, -1, f), "add vectors");
  scale(r_, y_);
  check(VecAXPBY(d_, 2 * next / radius, next * rho, y_), "add vectors");
  check(VecAXPY(x, 1, d_), "add vectors");
}

void PetscLevel::smooth_on() {
  const double upper = largest_, lower = largest_ / kSmoothed;
  const double centre = (upper + lower) / 2, radius = (upper - lower) / 2;
  const double rho = radius / centre, next = 1 / (2 * centre / radius - rho);
  for (int k = 0; k < 2; ++k) {
    check(MatMult(A_, x, r_), "multiply a matrix");
    check(VecAYPX(r_, -1, f), "add vectors");
    scale(r_, y_);
    if (k == 0) {
      check(VecCopy(y_, d_), "copy a vector");
      check(VecScale(d_, 1 / centre), "scale a vector");
    } else {
      check(VecAXPBY(d_, 2 * next / radius, next * rho, y_), "add vectors");
    }
    check(VecAXPY(x, 1, d_), "add vectors");
  }
}

void PetscLevel::restrict_residual(PetscLevel& coarse) {
  check(MatMult(A_, x, r_), "multiply a matrix");
  check(VecAYPX(r_, -1, f), "add vectors");
  check(MatMult(R_, r_, coarse.f), "restrict a vector");
}

void PetscLevel::add_correction(const PetscLevel& coarse) { check(MatMultAdd(P_, coarse.x, x, x), "prolong a vector"); }

}  // namespace pliant
