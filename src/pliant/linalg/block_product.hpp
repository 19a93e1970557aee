#pragma once

#include <memory>
#include <vector>

#include "pliant/linalg/block_matrix.hpp"

namespace pliant {

template <class T>
using VectorOf = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// A symmetric block matrix laid out for products, in double or float: both triangles by rows, so that a product
/// streams through memory once with one writer per row (same bits for any number of threads), and vector instructions
/// work on the columns of 3x3 blocks.
template <class T>
class BlockProduct {
 public:
  BlockProduct() = default;
  BlockProduct(std::shared_ptr<const BlockPattern> pattern, int block_size);

  Index rows() const { return pattern_ ? pattern_->rows() : 0; }
  int block_size() const { return block_size_; }
  const BlockPattern& pattern() const { return *pattern_; }
  const std::shared_ptr<const BlockPattern>& shared_pattern() const { return pattern_; }
  /// A must have the pattern given.
  void set(const BlockMatrix& A);
  /// y = A x. Returns x^T y, summed in a fixed order.
  double multiply(const VectorOf<T>& x, VectorOf<T>& y) const;

  /// The blocks of a row, both triangles, by ascending column; column-major each.
  std::span<const Index> columns_of(Index row) const {
    return {
        columns_.data() + start_[static_cast<std::size_t>(row)],
        static_cast<std::size_t>(start_[static_cast<std::size_t>(row) + 1] - start_[static_cast<std::size_t>(row)])};
  }
  const T* blocks_of(Index row) const {
    return values_.data() + start_[static_cast<std::size_t>(row)] * block_size_ * block_size_;
  }

 private:
  std::shared_ptr<const BlockPattern> pattern_;
  int block_size_ = 3;
  std::vector<std::int64_t> start_;
  std::vector<Index> columns_;
  std::vector<T> values_;  ///< with room for one vector load past the end
  mutable std::vector<double> partial_;
};

}  // namespace pliant
