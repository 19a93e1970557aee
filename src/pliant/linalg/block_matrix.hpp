#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

/// The sparsity of a symmetric matrix in node blocks: upper triangle by rows, each row sorted and beginning with its
/// diagonal block. A value that assemblers, matrices and factorisations share.
class BlockPattern {
 public:
  BlockPattern() = default;

  /// The union of cliques: every two nodes of a stencil are coupled. A stencil list is flat, `size` nodes each, of
  /// which -1 is none. Diagonal blocks are always present.
  struct Cliques {
    std::span<const Index> nodes;
    int size;
  };
  BlockPattern(Index rows, std::span<const Cliques> cliques);

  Index rows() const { return rows_; }
  /// Blocks in the upper triangle, diagonal included.
  std::int64_t blocks() const { return static_cast<std::int64_t>(columns_.size()); }
  std::span<const std::int64_t> row_start() const { return row_start_; }
  std::span<const Index> columns() const { return columns_; }
  std::int64_t diagonal(Index row) const { return row_start_[static_cast<std::size_t>(row)]; }
  /// Position of block (row, column) with row <= column, or -1.
  std::int64_t find(Index row, Index column) const;

  /// A block above the diagonal as seen from the row of its column: block `k` transposed couples to node `column`.
  struct Transposed {
    std::int64_t k;
    Index column;
    bool operator==(const Transposed&) const = default;
  };
  /// The part of a row left of the diagonal, by ascending column.
  std::span<const Transposed> lower_row(Index row) const;

  bool operator==(const BlockPattern&) const = default;

 private:
  Index rows_ = 0;
  std::vector<std::int64_t> row_start_;
  std::vector<Index> columns_;
  std::vector<std::int64_t> lower_start_;
  std::vector<Transposed> lower_;
};

/// A symmetric matrix on a BlockPattern with blocks of size 1 or 3, upper triangle only. A 3x3 block is nine doubles,
/// column by column; block (i, j) with i <= j multiplies node j's values into node i's.
class BlockMatrix {
 public:
  BlockMatrix() = default;
  BlockMatrix(std::shared_ptr<const BlockPattern> pattern, int block_size);

  const BlockPattern& pattern() const { return *pattern_; }
  std::shared_ptr<const BlockPattern> shared_pattern() const { return pattern_; }
  int block_size() const { return block_size_; }
  std::span<double> values() { return values_; }
  std::span<const double> values() const { return values_; }
  double* block(std::int64_t k) { return values_.data() + k * block_size_ * block_size_; }
  const double* block(std::int64_t k) const { return values_.data() + k * block_size_ * block_size_; }

  void set_zero();
  /// y = A x with x and y of block_size() * rows() entries; for block size 1, also of 3 * rows(): the matrix then acts
  /// on x, y and z alike.
  void multiply(const VecX& x, VecX& y) const;
  /// Rows and columns of the marked unknowns become those of the identity (the decoupled form of elimination).
  void eliminate(std::span<const std::uint8_t> fixed);

 private:
  std::shared_ptr<const BlockPattern> pattern_;
  int block_size_ = 3;
  std::vector<double> values_;
};

}  // namespace pliant
