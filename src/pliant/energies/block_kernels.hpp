#pragma once

#include <cstddef>
#include <cstdint>

namespace pliant {

/// Adds `count` blocks of nine numbers each to the places that their words name (BlockPlaces::words).
void add_blocks(const double* from, const std::uint32_t* words, std::ptrdiff_t count, double* places);

/// What a chunk has at its places, times `scale`: added to the blocks that the targets name, or, for targets below
/// zero, put into the block ~target of `shared`.
void leave_blocks(const double* places, const std::int64_t* targets, std::ptrdiff_t count, double scale, double* blocks,
                  double* shared);

}  // namespace pliant
