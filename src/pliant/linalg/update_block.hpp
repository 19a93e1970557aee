#pragma once

#include <cstddef>
#include <cstdint>

#include "pliant/math/types.hpp"

namespace pliant {

/// The lower triangle of a front's update, packed in strips of columns: a strip begins at its own diagonal and has one
/// stride. Little more than half of a square, and every tile of the kernels still lies in a single strided array.
namespace update_block {

constexpr Index strip = 48;  ///< columns; whole nodes and whole packed panels

constexpr std::int64_t padded(Index rows) { return (std::int64_t(rows) + 3) / 4 * 4; }
constexpr std::int64_t stride(Index rows, Index column) { return padded(rows) - column / strip * strip; }

/// Numbers in the block of so many scalar rows.
constexpr std::size_t size(Index rows) {
  const std::int64_t n = padded(rows), full = rows / strip, rest = rows % strip;
  return static_cast<std::size_t>(strip * (full * n - strip * full * (full - 1) / 2) + rest * (n - strip * full));
}

/// A pointer p such that p[i] is entry (i, column), for i from the first row of the strip on.
inline double* column(double* block, Index rows, Index column) {
  const std::int64_t s = column / strip, first = s * strip;
  const std::int64_t begin = strip * (s * padded(rows) - strip * s * (s - 1) / 2);
  return block + begin + (column - first) * (padded(rows) - first) - first;
}

}  // namespace update_block
}  // namespace pliant
