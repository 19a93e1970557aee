#pragma once

#include <memory>
#include <vector>

#include "pliant/linalg/sparse_cholesky.hpp"

namespace pliant {

/// Who factorises. Everything in Pliant uses its own; the others are there for comparison, when they were built in.
enum class DirectBackend { pliant, cholmod, mumps };
std::string_view to_string(DirectBackend backend);

/// What direct solvers have in common: analyze once per pattern, factor, solve in place.
class DirectSolver {
 public:
  virtual ~DirectSolver() = default;
  /// Throws std::bad_alloc.
  virtual void analyze(std::shared_ptr<const BlockPattern> pattern, int block_size) = 0;
  /// A must have the analysed pattern and finite entries. After anything but `ok` there is no factor to solve with.
  virtual FactorStatus factor(const BlockMatrix& A, Factorisation kind) = 0;
  virtual void solve(Eigen::Ref<Eigen::MatrixXd> b) = 0;
  virtual SparseCholesky::Statistics statistics() const = 0;
};

/// The backends of this build: pliant first, cholmod with PLIANT_CHOLMOD=ON, mumps with PLIANT_MUMPS=ON.
std::vector<DirectBackend> direct_backends();
/// Throws InputError when the backend is not part of this build.
std::unique_ptr<DirectSolver> make_direct_solver(DirectBackend backend);

}  // namespace pliant
