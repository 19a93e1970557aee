#pragma once

#include <span>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

/// A sparse matrix of numbers by rows, and what the set-up of multigrid does with such matrices. Rows are computed in
/// parallel and each by itself: same bits for any number of threads.
struct SparseRows {
  Index columns = 0;
  std::vector<std::int64_t> start{0};
  std::vector<Index> column;  ///< in no particular order within a row, but always in the same
  std::vector<double> value;

  Index rows() const { return static_cast<Index>(start.size()) - 1; }
  std::int64_t begin(Index row) const { return start[static_cast<std::size_t>(row)]; }
  std::int64_t end(Index row) const { return start[static_cast<std::size_t>(row) + 1]; }
};

SparseRows transposed(const SparseRows& A);
SparseRows product(const SparseRows& A, const SparseRows& B);

/// Whether each entry off the diagonal is strong: among the largest of its row and of its column, by a share of the
/// geometric mean of both largest, and not negligible beside the diagonal.
std::vector<std::uint8_t> strong_entries(const SparseRows& A, std::span<const double> diagonal, double share);

/// Disjoint groups of strongly coupled neighbours, a number for each node and -1 for nodes without any (Vanek, Mandel,
/// Brezina 1996, algorithm 5.1).
struct Aggregates {
  std::vector<Index> of_node;
  Index count = 0;
};
Aggregates aggregate(const SparseRows& A, std::span<const std::uint8_t> strong);

}  // namespace pliant
