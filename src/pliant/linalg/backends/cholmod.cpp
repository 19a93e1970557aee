// CHOLMOD (Chen, Davis, Hager, Rajamanickam 2008). Its supernodal module is GPL: built only on request, for comparison.
#ifdef PLIANT_HAS_CHOLMOD
#include <cholmod.h>

#include <algorithm>
#include <cassert>
#include <new>

#include "pliant/linalg/backends/backends.hpp"
#include "pliant/linalg/backends/scalar_matrix.hpp"

namespace pliant {
namespace {

class CholmodSolver final : public DirectSolver {
 public:
  CholmodSolver() {
    cholmod_start(&common_);
    common_.supernodal = CHOLMOD_SUPERNODAL;
    common_.nmethods = 1;
    common_.method[0].ordering = CHOLMOD_METIS;
    common_.print = 0;
    common_.error_handler = nullptr;
  }
  ~CholmodSolver() override {
    release_factor();
    cholmod_free_dense(&solution_, &common_);
    cholmod_free_dense(&y_, &common_);
    cholmod_free_dense(&e_, &common_);
    cholmod_finish(&common_);
  }
  CholmodSolver(const CholmodSolver&) = delete;
  CholmodSolver& operator=(const CholmodSolver&) = delete;

  void analyze(std::shared_ptr<const BlockPattern> pattern, int block_size) override {
    release_factor();
    scalar_ = ScalarMatrix(std::move(pattern), block_size);
    cholmod_sparse A = view();
    factor_ = cholmod_analyze(&A, &common_);
    if (!factor_) throw std::bad_alloc();
    statistics_ = {static_cast<std::int64_t>(common_.lnz), common_.fl};
  }

  FactorStatus factor(const BlockMatrix& A, Factorisation kind) override {
    if (kind == Factorisation::ldlt) return FactorStatus::not_positive_definite;
    scalar_.set(A);
    cholmod_sparse sparse = view();
    cholmod_factorize(&sparse, factor_, &common_);
    if (common_.status == CHOLMOD_OK) return FactorStatus::ok;
    return common_.status == CHOLMOD_NOT_POSDEF ? FactorStatus::not_positive_definite : FactorStatus::out_of_memory;
  }

  void solve(Eigen::Ref<Eigen::MatrixXd> b) override {
    if (b.size() == 0) return;
    cholmod_dense given{};
    given.nrow = static_cast<std::size_t>(b.rows());
    given.ncol = static_cast<std::size_t>(b.cols());
    given.d = static_cast<std::size_t>(b.outerStride());
    given.nzmax = given.d * given.ncol;
    given.x = b.data();
    given.xtype = CHOLMOD_REAL;
    given.dtype = CHOLMOD_DOUBLE;
    if (!cholmod_solve2(CHOLMOD_A, factor_, &given, nullptr, &solution_, nullptr, &y_, &e_, &common_))
      throw std::bad_alloc();
    b = Eigen::Map<const Eigen::MatrixXd>(static_cast<const double*>(solution_->x), b.rows(), b.cols());
  }

  SparseCholesky::Statistics statistics() const override { return statistics_; }

 private:
  void release_factor() {
    if (factor_) cholmod_free_factor(&factor_, &common_);
  }

  /// The upper triangle by columns, as CHOLMOD sees it.
  cholmod_sparse view() {
    cholmod_sparse A{};
    A.nrow = A.ncol = static_cast<std::size_t>(scalar_.size());
    A.nzmax = scalar_.values.size();
    A.p = scalar_.column_start.data();
    A.i = scalar_.rows.data();
    A.x = scalar_.values.data();
    A.stype = 1;
    A.itype = CHOLMOD_INT;
    A.xtype = CHOLMOD_REAL;
    A.dtype = CHOLMOD_DOUBLE;
    A.sorted = 1;
    A.packed = 1;
    return A;
  }

  cholmod_common common_{};
  cholmod_factor* factor_ = nullptr;
  cholmod_dense* solution_ = nullptr;
  cholmod_dense* y_ = nullptr;
  cholmod_dense* e_ = nullptr;
  ScalarMatrix scalar_;
  SparseCholesky::Statistics statistics_;
};

}  // namespace

std::unique_ptr<DirectSolver> make_cholmod_solver() { return std::make_unique<CholmodSolver>(); }

}  // namespace pliant
#endif
