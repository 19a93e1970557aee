#pragma once

#include "pliant/linalg/block_matrix.hpp"

namespace pliant {

/// What a factor has and costs at least, about.
struct FactorGuess {
  double entries = 0, flops = 0;
};

/// Without an order of elimination, which takes a hundred times as long: from the widths of the levels of a
/// breadth-first search. Separators of a long body are its levels, eliminated one after the other; those of a compact
/// or flat one grow smaller from split to split, and the first few have all the work.
FactorGuess guess_factor(const BlockPattern& pattern, int block_size);

}  // namespace pliant
