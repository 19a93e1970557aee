#include "pliant/linalg/direct_solver.hpp"

#include <algorithm>
#include <string>

#include "pliant/base/error.hpp"
#include "pliant/linalg/backends/backends.hpp"

namespace pliant {
namespace {

class PliantSolver final : public DirectSolver {
 public:
  void analyze(std::shared_ptr<const BlockPattern> pattern, int block_size) override {
    cholesky_.analyze(std::move(pattern), block_size);
  }
  FactorStatus factor(const BlockMatrix& A, Factorisation kind) override { return cholesky_.factor(A, kind); }
  void solve(Eigen::Ref<Eigen::MatrixXd> b) override { cholesky_.solve(b); }
  SparseCholesky::Statistics statistics() const override { return cholesky_.statistics(); }

 private:
  SparseCholesky cholesky_;
};

}  // namespace

std::string_view to_string(DirectBackend backend) {
  switch (backend) {
    case DirectBackend::pliant:
      return "pliant";
    case DirectBackend::cholmod:
      return "cholmod";
    case DirectBackend::mumps:
      return "mumps";
  }
  return "unknown";
}

std::vector<DirectBackend> direct_backends() {
  std::vector<DirectBackend> all{DirectBackend::pliant};
#ifdef PLIANT_HAS_CHOLMOD
  all.push_back(DirectBackend::cholmod);
#endif
#ifdef PLIANT_HAS_MUMPS
  all.push_back(DirectBackend::mumps);
#endif
  return all;
}

std::unique_ptr<DirectSolver> make_direct_solver(DirectBackend backend) {
  if (backend == DirectBackend::pliant) return std::make_unique<PliantSolver>();
#ifdef PLIANT_HAS_CHOLMOD
  if (backend == DirectBackend::cholmod) return make_cholmod_solver();
#endif
#ifdef PLIANT_HAS_MUMPS
  if (backend == DirectBackend::mumps) return make_mumps_solver();
#endif
  std::string option(to_string(backend));
  std::transform(option.begin(), option.end(), option.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  throw InputError("the direct solver '" + std::string(to_string(backend)) +
                   "' is not part of this build; configure with -DPLIANT_" + option + "=ON");
}

}  // namespace pliant
