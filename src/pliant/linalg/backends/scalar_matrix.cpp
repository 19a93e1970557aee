#include "pliant/linalg/backends/scalar_matrix.hpp"

#include <cassert>

namespace pliant {

ScalarMatrix::ScalarMatrix(std::shared_ptr<const BlockPattern> pattern, int block_size) {
  const int b = block_size;
  column_start.push_back(0);
  for (Index j = 0; j < pattern->rows(); ++j) {
    for (int c = 0; c < b; ++c) {
      for (const auto& [k, i] : pattern->lower_row(j)) {
        for (int r = 0; r < b; ++r) {
          rows.push_back(b * i + r);
          source.push_back((k * b + c) * b + r);
        }
      }
      for (int r = 0; r <= c; ++r) {
        rows.push_back(b * j + r);
        source.push_back((pattern->diagonal(j) * b + c) * b + r);
      }
      column_start.push_back(static_cast<int>(rows.size()));
    }
  }
  values.assign(rows.size(), 0.0);
}

void ScalarMatrix::set(const BlockMatrix& A) {
  const auto from = A.values();
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = from[static_cast<std::size_t>(source[k])];
}

}  // namespace pliant
