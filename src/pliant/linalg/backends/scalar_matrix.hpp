#pragma once

#include <memory>
#include <vector>

#include "pliant/linalg/block_matrix.hpp"

namespace pliant {

/// A block matrix as other libraries want it: the upper triangle in scalars, compressed by columns, rows ascending.
struct ScalarMatrix {
  ScalarMatrix() = default;
  /// The structure; values are zero.
  ScalarMatrix(std::shared_ptr<const BlockPattern> pattern, int block_size);

  int size() const { return static_cast<int>(column_start.size()) - 1; }
  void set(const BlockMatrix& A);

  std::vector<int> column_start, rows;
  std::vector<double> values;
  std::vector<std::int64_t> source;  ///< of each value, in the block matrix' values
};

}  // namespace pliant
