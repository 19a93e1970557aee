#include "pliant/linalg/backends/low_rank.hpp"

#ifdef PLIANT_HAS_CHOLMOD
#include <cholmod.h>

#include <algorithm>
#include <ctime>

#include "pliant/linalg/backends/scalar_matrix.hpp"

namespace pliant {
namespace {

/// Processor time of the program, s: what else runs on the machine does not count.
double now() { return double(std::clock()) / CLOCKS_PER_SEC; }

cholmod_sparse view(int rows, int columns, const int* start, const int* row, const double* values, std::size_t count,
                    int stype) {
  cholmod_sparse A{};
  A.nrow = static_cast<std::size_t>(rows);
  A.ncol = static_cast<std::size_t>(columns);
  A.nzmax = count;
  A.p = const_cast<int*>(start);
  A.i = const_cast<int*>(row);
  A.x = const_cast<double*>(values);
  A.stype = stype;
  A.itype = CHOLMOD_INT;
  A.xtype = CHOLMOD_REAL;
  A.dtype = CHOLMOD_DOUBLE;
  A.sorted = 1;
  A.packed = 1;
  return A;
}

/// The columns with their rows in the order of elimination, ascending, as cholmod_updown wants them.
SparseColumns permuted(const SparseColumns& columns, const int* order, int size) {
  std::vector<int> position(static_cast<std::size_t>(size));
  for (int k = 0; k < size; ++k) position[static_cast<std::size_t>(order[k])] = k;
  SparseColumns result;
  result.start = columns.start;
  for (int c = 0; c < columns.columns(); ++c) {
    std::vector<std::pair<int, double>> column;
    for (int k = columns.start[static_cast<std::size_t>(c)]; k < columns.start[static_cast<std::size_t>(c) + 1]; ++k)
      column.emplace_back(position[static_cast<std::size_t>(columns.rows[static_cast<std::size_t>(k)])],
                          columns.values[static_cast<std::size_t>(k)]);
    std::sort(column.begin(), column.end());
    for (const auto& [row, value] : column) {
      result.rows.push_back(row);
      result.values.push_back(value);
    }
  }
  return result;
}

}  // namespace

std::optional<LowRankTimes> cholmod_low_rank(const BlockMatrix& A, const SparseColumns& up, const SparseColumns& down,
                                             const VecX& b, LowRankOrdering ordering) {
  cholmod_common common{};
  cholmod_start(&common);
  common.supernodal = CHOLMOD_SUPERNODAL;
  common.nmethods = 1;
  common.method[0].ordering = ordering == LowRankOrdering::minimum_degree ? CHOLMOD_AMD : CHOLMOD_METIS;
  common.print = 0;
  ScalarMatrix scalar(A.shared_pattern(), A.block_size());
  scalar.set(A);
  cholmod_sparse matrix = view(scalar.size(), scalar.size(), scalar.column_start.data(), scalar.rows.data(),
                               scalar.values.data(), scalar.values.size(), 1);
  std::optional<LowRankTimes> result;
  cholmod_factor* factor = cholmod_analyze(&matrix, &common);
  LowRankTimes times;
  const double begin = now();
  if (factor && cholmod_factorize(&matrix, factor, &common) && common.status == CHOLMOD_OK) {
    times.factorisation = now() - begin;
    // Modifications work on a simplicial LDL^T; turning the factor into one is not counted.
    bool good = cholmod_change_factor(CHOLMOD_REAL, 0, 0, 1, 1, factor, &common);
    const auto* order = static_cast<const int*>(factor->Perm);
    for (bool upward : {true, false}) {
      const SparseColumns columns = permuted(upward ? up : down, order, scalar.size());
      if (columns.columns() == 0) continue;
      cholmod_sparse C = view(scalar.size(), columns.columns(), columns.start.data(), columns.rows.data(),
                              columns.values.data(), columns.values.size(), 0);
      const double start = now();
      good = good && cholmod_updown(upward, &C, factor, &common);
      times.modification += now() - start;
    }
    cholmod_dense given{};
    given.nrow = given.d = given.nzmax = static_cast<std::size_t>(b.size());
    given.ncol = 1;
    given.x = const_cast<double*>(b.data());
    given.xtype = CHOLMOD_REAL;
    given.dtype = CHOLMOD_DOUBLE;
    if (cholmod_dense* x = good ? cholmod_solve(CHOLMOD_A, factor, &given, &common) : nullptr) {
      times.solution = Eigen::Map<const VecX>(static_cast<const double*>(x->x), b.size());
      cholmod_free_dense(&x, &common);
      result = std::move(times);
    }
  }
  if (factor) cholmod_free_factor(&factor, &common);
  cholmod_finish(&common);
  return result;
}

}  // namespace pliant
#else
namespace pliant {

std::optional<LowRankTimes> cholmod_low_rank(const BlockMatrix&, const SparseColumns&, const SparseColumns&,
                                             const VecX&, LowRankOrdering) {
  return std::nullopt;
}

}  // namespace pliant
#endif
