#include "pliant/linalg/sparse_rows.hpp"

#include <cmath>

#include "pliant/math/parallel.hpp"

namespace pliant {

SparseRows transposed(const SparseRows& A) {
  SparseRows T;
  T.columns = A.rows();
  T.start.assign(at(A.columns) + 1, 0);
  for (Index j : A.column) ++T.start[at(j) + 1];
  for (std::size_t j = 1; j < T.start.size(); ++j) T.start[j] += T.start[j - 1];
  T.column.resize(A.column.size());
  T.value.resize(A.value.size());
  std::vector<std::int64_t> next(T.start.begin(), T.start.end() - 1);
  for (Index i = 0; i < A.rows(); ++i)
    for (std::int64_t k = A.begin(i); k < A.end(i); ++k) {
      const auto to = at(next[at(A.column[at(k)])]++);
      T.column[to] = i;
      T.value[to] = A.value[at(k)];
    }
  return T;
}

SparseRows product(const SparseRows& A, const SparseRows& B) {
  constexpr Index kGrain = 4096;
  struct Part {
    std::vector<std::int64_t> length;
    std::vector<Index> column;
    std::vector<double> value;
  };
  std::vector<Part> parts(at((A.rows() + kGrain - 1) / kGrain));
  for_chunks(A.rows(), kGrain, [&](Index begin, Index end) {
    Part& part = parts[at(begin / kGrain)];
    std::vector<std::int64_t> place(at(B.columns), -1);  // in this part, of a column of the row at hand
    for (Index i = begin; i < end; ++i) {
      const auto first = static_cast<std::int64_t>(part.column.size());
      for (std::int64_t k = A.begin(i); k < A.end(i); ++k) {
        const Index j = A.column[at(k)];
        for (std::int64_t l = B.begin(j); l < B.end(j); ++l) {
          std::int64_t& p = place[at(B.column[at(l)])];
          if (p < first) {
            p = static_cast<std::int64_t>(part.column.size());
            part.column.push_back(B.column[at(l)]);
            part.value.push_back(0);
          }
          part.value[at(p)] += A.value[at(k)] * B.value[at(l)];
        }
      }
      part.length.push_back(static_cast<std::int64_t>(part.column.size()) - first);
    }
  });
  SparseRows C;
  C.columns = B.columns;
  C.start.reserve(at(A.rows()) + 1);
  for (Part& part : parts) {
    for (std::int64_t length : part.length) C.start.push_back(C.start.back() + length);
    C.column.insert(C.column.end(), part.column.begin(), part.column.end());
    C.value.insert(C.value.end(), part.value.begin(), part.value.end());
    part = {};
  }
  return C;
}

std::vector<std::uint8_t> strong_entries(const SparseRows& A, std::span<const double> diagonal, double share) {
  constexpr Index kGrain = 4096;
  constexpr double kNegligible = 5e-3;  // where a positive diagonal rules, neighbours do not matter
  std::vector<double> largest(at(A.rows()), 0.0);
  std::vector<std::uint8_t> strong(A.value.size(), 0);
  for_chunks(A.rows(), kGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (std::int64_t k = A.begin(i); k < A.end(i); ++k)
        if (A.column[at(k)] != i) largest[at(i)] = std::max(largest[at(i)], std::abs(A.value[at(k)]));
  });
  for_chunks(A.rows(), kGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (std::int64_t k = A.begin(i); k < A.end(i); ++k) {
        const Index j = A.column[at(k)];
        const double square = A.value[at(k)] * A.value[at(k)];
        strong[at(k)] = j != i && square > share * share * largest[at(i)] * largest[at(j)] &&
                        square > kNegligible * kNegligible * diagonal[at(i)] * diagonal[at(j)];
      }
  });
  return strong;
}

Aggregates aggregate(const SparseRows& A, std::span<const std::uint8_t> strong) {
  const Index n = A.rows();
  Aggregates groups{std::vector<Index>(at(n), -1), 0};
  std::vector<Index>& of = groups.of_node;
  const auto for_strong = [&](Index i, auto&& visit) {
    for (std::int64_t k = A.begin(i); k < A.end(i); ++k) {
      if (strong[at(k)]) visit(A.column[at(k)], std::abs(A.value[at(k)]));
    }
  };
  // Nodes all of whose neighbours are free begin a group.
  for (Index i = 0; i < n; ++i) {
    if (of[at(i)] >= 0) continue;
    bool free = true, any = false;
    for_strong(i, [&](Index j, double) {
      any = true;
      free = free && of[at(j)] < 0;
    });
    if (!free || !any) continue;
    of[at(i)] = groups.count;
    for_strong(i, [&](Index j, double) { of[at(j)] = groups.count; });
    ++groups.count;
  }
  // Others join the group they are coupled to most strongly, as groups were so far.
  const std::vector<Index> begun = of;
  for (Index i = 0; i < n; ++i) {
    if (begun[at(i)] >= 0) continue;
    double strongest = 0;
    for_strong(i, [&](Index j, double a) {
      if (begun[at(j)] >= 0 && a > strongest) {
        strongest = a;
        of[at(i)] = begun[at(j)];
      }
    });
  }
  // What is left are neighbours of each other.
  for (Index i = 0; i < n; ++i) {
    if (of[at(i)] >= 0) continue;
    bool any = false;
    for_strong(i, [&](Index j, double) {
      if (of[at(j)] >= 0) return;
      any = true;
      of[at(j)] = groups.count;
    });
    if (any) of[at(i)] = groups.count++;
  }
  return groups;
}

}  // namespace pliant
