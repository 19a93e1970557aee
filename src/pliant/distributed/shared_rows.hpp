#pragma once

#include <functional>
#include <span>
#include <vector>

#include "pliant/distributed/process_sharing.hpp"

namespace pliant {

/// The rows of a matrix that is a sum over processes: each process has a share of those at its nodes, and the owner of
/// a node adds them up. Shares are added in the order of ranks, always the same, which PETSc's own way to send them
/// does not promise.
class SharedRows {
 public:
  /// For shares on this pattern, whose rows are the process's nodes.
  SharedRows(ProcessSharing& sharing, const BlockPattern& pattern);

  /// Blocks in each row of this process, in columns of its own and of others.
  const std::vector<Index>& own_blocks() const { return own_blocks_; }
  const std::vector<Index>& other_blocks() const { return other_blocks_; }

  /// Calls add(row, columns, values), with the numbers of rows over all processes and a block of 3 rows, row by row,
  /// for all that is to be added up to the rows of this process. All processes call it together.
  using Add = std::function<void(Index row, std::span<const Index> columns, const double* values)>;
  void for_rows(const BlockMatrix& share, const Add& add);

 private:
  void row_of(const BlockMatrix& share, Index i, std::vector<double>& values) const;
  void columns_of(const BlockPattern& pattern, Index i, std::vector<Index>& columns) const;
  bool is_own(Index row) const { return row >= first_ && row < end_; }

  ProcessSharing& sharing_;
  Index first_, end_;
  std::vector<Index> own_blocks_, other_blocks_;
  std::vector<Index> sent_nodes_;                     ///< nodes whose rows are others', by their owners
  std::vector<int> out_, out_begin_, in_, in_begin_;  ///< blocks sent to and got from each process
  /// What is got, by ascending rank: rows, how many columns each has, and these.
  std::vector<Index> got_rows_, got_sizes_, got_columns_;
};

}  // namespace pliant
