#pragma once

#include <span>

#include "pliant/linalg/front.hpp"

namespace pliant {

/// Adds the part of a child's update that belongs in the given node rows and columns of the parent's front. `to` are
/// the child's nodes as rows of the parent's front, ascending; they come in runs of consecutive ones, mostly long,
/// since they are pieces of few separators.
void extend_add(int block_size, std::span<const Index> to, std::span<const Index> runs, Range rows, Range columns,
                double* child, const Front& parent);

}  // namespace pliant
