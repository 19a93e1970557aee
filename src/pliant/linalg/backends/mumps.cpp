// MUMPS (Amestoy, Duff, Koster, L'Excellent 2001) is Fortran behind one call on one struct, with state it shares
// between instances: every call is made under one lock for the whole process. Its parameters keep the manual's
// one-based numbers here, through icntl() and infog().
#ifdef PLIANT_HAS_MUMPS
#include <dmumps_c.h>

#include <mutex>
#include <new>

#include "pliant/linalg/backends/backends.hpp"
#include "pliant/linalg/backends/scalar_matrix.hpp"

namespace pliant {
namespace {

enum Job : MUMPS_INT { initialise = -1, finish = -2, analyse = 1, factorise = 2, solution = 3 };

void call(DMUMPS_STRUC_C& mumps, Job job) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  mumps.job = job;
  dmumps_c(&mumps);
}

class MumpsSolver final : public DirectSolver {
 public:
  ~MumpsSolver() override { release(); }
  MumpsSolver() = default;
  MumpsSolver(const MumpsSolver&) = delete;
  MumpsSolver& operator=(const MumpsSolver&) = delete;

  void analyze(std::shared_ptr<const BlockPattern> pattern, int block_size) override {
    scalar_ = ScalarMatrix(std::move(pattern), block_size);
    rows_.clear();
    columns_.clear();
    for (int j = 0; j < scalar_.size(); ++j) {
      for (int k = scalar_.column_start[static_cast<std::size_t>(j)];
           k < scalar_.column_start[static_cast<std::size_t>(j) + 1]; ++k) {
        rows_.push_back(scalar_.rows[static_cast<std::size_t>(k)] + 1);
        columns_.push_back(j + 1);
      }
    }
    prepare(Factorisation::llt);
  }

  FactorStatus factor(const BlockMatrix& A, Factorisation kind) override {
    if (kind != kind_) prepare(kind);
    scalar_.set(A);
    for (;;) {
      call(mumps_, factorise);
      const MUMPS_INT error = mumps_.infog[0];
      if (error >= 0) {
        if (kind == Factorisation::llt && mumps_.infog[11] > 0) return FactorStatus::not_positive_definite;
        return mumps_.infog[27] > 0 ? FactorStatus::singular : FactorStatus::ok;
      }
      if (error == -10 || error == -40)
        return kind == Factorisation::llt ? FactorStatus::not_positive_definite : FactorStatus::singular;
      // Workspace too small: more of it until the machine has no more.
      const bool too_small = error == -8 || error == -9 || error == -14 || error == -15;
      if (!too_small || icntl(14) > 3000) return FactorStatus::out_of_memory;
      icntl(14) *= 2;
    }
  }

  void solve(Eigen::Ref<Eigen::MatrixXd> b) override {
    if (b.size() == 0) return;
    mumps_.nrhs = static_cast<MUMPS_INT>(b.cols());
    mumps_.lrhs = static_cast<MUMPS_INT>(b.outerStride());
    mumps_.rhs = b.data();
    call(mumps_, solution);
    if (mumps_.infog[0] < 0) throw std::bad_alloc();  // the only failure of a solution with a complete factor
  }

  SparseCholesky::Statistics statistics() const override {
    // Counts above two thousand million are given in millions, with a minus sign.
    const std::int64_t entries = mumps_.infog[28];
    return {entries < 0 ? -entries * 1'000'000 : entries, mumps_.rinfog[2]};
  }

 private:
  MUMPS_INT& icntl(int i) { return mumps_.icntl[i - 1]; }

  void release() {
    if (started_) call(mumps_, finish);
    started_ = false;
  }

  void prepare(Factorisation kind) {
    release();
    kind_ = kind;
    mumps_ = DMUMPS_STRUC_C{};
    mumps_.sym = kind == Factorisation::llt ? 1 : 2;
    mumps_.par = 1;
    mumps_.comm_fortran = -987654;  // the manual's name for "all processes"; there is one
    call(mumps_, initialise);
    started_ = true;
    icntl(1) = icntl(2) = icntl(3) = -1;  // no output
    icntl(4) = 0;
    icntl(7) = 5;                             // METIS
    icntl(13) = 1;                            // no parallel root, whose negative pivots would not be counted
    icntl(14) = 40;                           // per cent of memory above the estimate, for delayed pivots
    icntl(24) = kind == Factorisation::ldlt;  // count null pivots instead of dividing by them
    mumps_.n = scalar_.size();
    mumps_.nnz = static_cast<MUMPS_INT8>(rows_.size());
    mumps_.irn = rows_.data();
    mumps_.jcn = columns_.data();
    mumps_.a = scalar_.values.data();
    call(mumps_, analyse);
    if (mumps_.infog[0] < 0) throw std::bad_alloc();  // the input is well formed: nothing else is left
  }

  DMUMPS_STRUC_C mumps_{};
  bool started_ = false;
  Factorisation kind_ = Factorisation::llt;
  ScalarMatrix scalar_;
  std::vector<MUMPS_INT> rows_, columns_;
};

}  // namespace

std::unique_ptr<DirectSolver> make_mumps_solver() { return std::make_unique<MumpsSolver>(); }

}  // namespace pliant
#endif
