#pragma once

#include <cstddef>
#include <memory>

namespace pliant {

struct AlignedArrayDeleter {
  void operator()(double* numbers) const;
};

/// Uninitialised doubles for factors and workspaces, beginning on a cache line. Plain pages on purpose: asking for huge
/// ones (MADV_HUGEPAGE) did not change the time of a repeated factorisation and made the first one slower.
using AlignedArray = std::unique_ptr<double[], AlignedArrayDeleter>;

/// Throws std::bad_alloc.
AlignedArray make_aligned_array(std::size_t size);

}  // namespace pliant
