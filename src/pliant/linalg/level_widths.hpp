#pragma once

#include "pliant/linalg/block_matrix.hpp"

namespace pliant {

/// A low guess at the operations of a factorisation, without an order of elimination, which takes a hundred times as
/// long: from the widths of the levels of a breadth-first search. Separators of a long body are its levels, eliminated
/// one after the other; those of a compact or flat one grow smaller from split to split, and the first few have all the
/// work.
double least_factor_flops(const BlockPattern& pattern, int block_size);

}  // namespace pliant
