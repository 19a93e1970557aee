#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "pliant/math/parallel.hpp"

namespace pliant::multigrid {

/// Numbers of the hierarchy. It is a preconditioner: what reads half the bytes is worth more than digits.
using Real = float;
/// Numbers that vector instructions may read past the end of an array.
inline constexpr std::size_t kSlack = 8;

/// Where the blocks of a sparse matrix are: rows of ascending columns.
struct SparseRows {
  std::vector<std::int64_t> start = {0};
  std::vector<Index> columns;

  Index rows() const { return static_cast<Index>(start.size()) - 1; }
  std::int64_t blocks() const { return static_cast<std::int64_t>(columns.size()); }
  std::span<const Index> row(Index i) const {
    return {columns.data() + start[at(i)], at(start[at(i) + 1] - start[at(i)])};
  }
};

/// Rows of what `visit(i, add)` adds, in any order and any number of times each.
template <class Visit>
SparseRows collect_rows(Index rows, Index column_count, Visit&& visit) {
  constexpr Index kGrain = 4096;
  SparseRows result;
  result.start.assign(at(rows) + 1, 0);
  std::vector<std::vector<Index>> chunks(at((rows + kGrain - 1) / kGrain));
  for_chunks(rows, kGrain, [&](Index begin, Index end) {
    std::vector<Index>& found = chunks[at(begin / kGrain)];
    std::vector<Index> last_row(at(column_count), -1);
    for (Index i = begin; i < end; ++i) {
      const auto first = static_cast<std::ptrdiff_t>(found.size());
      visit(i, [&](Index column) {
        if (last_row[at(column)] == i) return;
        last_row[at(column)] = i;
        found.push_back(column);
      });
      std::sort(found.begin() + first, found.end());
      result.start[at(i) + 1] = static_cast<std::int64_t>(found.size()) - first;
    }
  });
  for (Index i = 0; i < rows; ++i) result.start[at(i) + 1] += result.start[at(i)];
  result.columns.reserve(at(result.start.back()));
  for (const auto& found : chunks) result.columns.insert(result.columns.end(), found.begin(), found.end());
  return result;
}

/// The blocks of every column, by ascending row.
struct SparseColumns {
  struct Entry {
    Index row;
    std::int64_t block;
  };
  std::vector<std::int64_t> start;
  std::vector<Entry> entries;

  SparseColumns() = default;
  SparseColumns(const SparseRows& matrix, Index columns) : start(at(columns) + 1, 0), entries(matrix.columns.size()) {
    for (Index c : matrix.columns) ++start[at(c) + 1];
    for (Index c = 0; c < columns; ++c) start[at(c) + 1] += start[at(c)];
    std::vector<std::int64_t> next(start.begin(), start.end() - 1);
    for (Index i = 0; i < matrix.rows(); ++i)
      for (std::int64_t k = matrix.start[at(i)]; k < matrix.start[at(i) + 1]; ++k)
        entries[at(next[at(matrix.columns[at(k)])]++)] = {i, k};
  }
  std::span<const Entry> column(Index c) const {
    return {entries.data() + start[at(c)], at(start[at(c) + 1] - start[at(c)])};
  }
};

}  // namespace pliant::multigrid
