// MUMPS (Amestoy, Duff, Koster, L'Excellent 2001) is Fortran behind one call on one struct, with state it shares
// between instances: every call is made under one lock for the whole process. Its parameters keep the manual's
// one-based numbers here, through icntl(), cntl() and infog().
#include "pliant/linalg/mumps_ldlt.hpp"

#include <dmumps_c.h>

#include <limits>
#include <mutex>
#include <new>

#include "pliant/linalg/dense_kernels.hpp"

namespace pliant {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

enum Job : MUMPS_INT { initialise = -1, finish = -2, analyse = 1, factorise = 2, solution = 3 };

void call(DMUMPS_STRUC_C& mumps, Job job) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  mumps.job = job;
  dmumps_c(&mumps);
}

/// Relative residual above which a solution is refined, and how often: solutions at rounding level gain nothing.
constexpr double refinement_residual = 1e-14;
constexpr int most_refinements = 2;

}  // namespace

struct MumpsLdlt::Implementation {
  DMUMPS_STRUC_C mumps{};
  std::shared_ptr<const BlockPattern> pattern;
  int block_size;
  std::vector<MUMPS_INT> rows, columns, positions;  ///< one-based scalars
  std::vector<double> values;
  BlockMatrix matrix;  ///< the factored one, for residuals
  bool analysed = false;

  MUMPS_INT& icntl(int i) { return mumps.icntl[i - 1]; }
  MUMPS_INT infog(int i) const { return mumps.infog[i - 1]; }

  Implementation(std::shared_ptr<const BlockPattern> given, const SymbolicFactor& plan)
      : pattern(std::move(given)), block_size(plan.block_size) {
    dense::use_one_thread();
    mumps.sym = 2;  // symmetric, indefinite
    mumps.par = 1;
    mumps.comm_fortran = -987654;  // the manual's name for "all processes"; there is one
    call(mumps, initialise);
    icntl(1) = icntl(2) = icntl(3) = -1;  // no output
    icntl(4) = 0;
    icntl(6) = 0;  // no unsymmetric permutation: the order below is meant as it is
    icntl(7) = 1;  // order given in perm_in
    icntl(8) = 7;  // scaling by rows and columns at once: eliminated unknowns have a one beside stiffnesses of any size
    icntl(12) = 1;   // plain order, no compressed graph
    icntl(13) = 1;   // no parallel root, whose negative pivots would not be counted
    icntl(14) = 40;  // per cent of memory above the estimate, for delayed pivots
    icntl(24) = 1;   // count null pivots instead of dividing by them
    list_entries(plan);
  }
  ~Implementation() { call(mumps, finish); }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  /// Visits the scalar entries of the upper triangle as (row, column, place in the matrix' values).
  template <class Body>
  void for_entries(Body&& body) const {
    const int b = block_size;
    for (Index i = 0; i < pattern->rows(); ++i) {
      for (std::int64_t k = pattern->row_start()[at(i)]; k < pattern->row_start()[at(i) + 1]; ++k) {
        const Index j = pattern->columns()[at(k)];
        for (int c = 0; c < b; ++c) {
          for (int r = 0; r < (i == j ? c + 1 : b); ++r) body(b * i + r, b * j + c, (k * b + c) * b + r);
        }
      }
    }
  }

  void list_entries(const SymbolicFactor& plan) {
    const int b = block_size;
    for_entries([&](Index row, Index column, std::int64_t) {
      rows.push_back(row + 1);
      columns.push_back(column + 1);
    });
    values.resize(rows.size());
    positions.resize(at(b) * at(plan.nodes));
    for (Index i = 0; i < plan.nodes; ++i) {
      for (int d = 0; d < b; ++d) positions[at(b * i + d)] = b * plan.position[at(i)] + d + 1;
    }
    mumps.n = b * plan.nodes;
    mumps.nnz = static_cast<MUMPS_INT8>(rows.size());
    mumps.irn = rows.data();
    mumps.jcn = columns.data();
    mumps.a = values.data();
    mumps.perm_in = positions.data();
  }

  FactorStatus factor(const BlockMatrix& A) {
    matrix = A;
    std::size_t next = 0;
    for_entries([&](Index, Index, std::int64_t place) { values[next++] = A.values()[at(place)]; });
    if (!analysed) {
      call(mumps, analyse);
      if (infog(1) < 0) return FactorStatus::out_of_memory;  // the input is well formed: nothing else is left
      analysed = true;
    }
    for (;;) {
      call(mumps, factorise);
      const MUMPS_INT error = infog(1);
      if (error >= 0) return infog(28) > 0 ? FactorStatus::singular : FactorStatus::ok;
      if (error == -10) return FactorStatus::singular;
      // Workspace too small (integer, real, or for the solution): more of it until the machine has no more.
      const bool too_small = error == -8 || error == -9 || error == -14 || error == -15;
      if (!too_small || icntl(14) > 3000) return FactorStatus::out_of_memory;
      icntl(14) *= 2;
    }
  }

  void apply_inverse(Eigen::MatrixXd& b) {
    mumps.nrhs = static_cast<MUMPS_INT>(b.cols());
    mumps.lrhs = static_cast<MUMPS_INT>(b.rows());
    mumps.rhs = b.data();
    call(mumps, solution);
    if (infog(1) < 0) throw std::bad_alloc();  // the only failure of a solution with a complete factor
  }

  void solve(Eigen::Ref<Eigen::MatrixXd> b) {
    if (b.size() == 0) return;
    Eigen::MatrixXd x = b;
    apply_inverse(x);
    double last_norm = std::numeric_limits<double>::infinity();
    for (int refinement = 0;; ++refinement) {
      Eigen::MatrixXd residual(b.rows(), b.cols());
      VecX product;
      for (Eigen::Index c = 0; c < b.cols(); ++c) {
        matrix.multiply(x.col(c), product);
        residual.col(c) = b.col(c) - product;
      }
      const double norm = residual.norm();
      if (refinement == most_refinements || !(norm > refinement_residual * b.norm()) || !(norm < 0.5 * last_norm))
        break;
      last_norm = norm;
      apply_inverse(residual);
      x += residual;
    }
    b = x;
  }
};

MumpsLdlt::MumpsLdlt(std::shared_ptr<const BlockPattern> pattern, const SymbolicFactor& plan)
    : implementation_(std::make_unique<Implementation>(std::move(pattern), plan)) {}
MumpsLdlt::~MumpsLdlt() = default;

FactorStatus MumpsLdlt::factor(const BlockMatrix& A) {
  try {
    return implementation_->factor(A);
  } catch (const std::bad_alloc&) {
    return FactorStatus::out_of_memory;
  }
}

void MumpsLdlt::solve(Eigen::Ref<Eigen::MatrixXd> b) { implementation_->solve(b); }

SparseCholesky::Inertia MumpsLdlt::inertia() const { return {implementation_->infog(12), implementation_->infog(28)}; }

SparseCholesky::Statistics MumpsLdlt::statistics() const {
  // Counts above two thousand million are given in millions, with a minus sign.
  const std::int64_t entries = implementation_->infog(29);
  return {entries < 0 ? -entries * 1'000'000 : entries, implementation_->mumps.rinfog[2]};
}

}  // namespace pliant
