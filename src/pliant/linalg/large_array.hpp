#pragma once

#include <cstddef>
#include <memory>

namespace pliant {

struct LargeArrayDeleter {
  void operator()(double* numbers) const;
};

/// Uninitialised doubles for factors and workspaces, aligned for SIMD. Large ones ask the system for huge pages where
/// it has them: the first touch of a factor is otherwise as dear as a factorisation, and dense products run out of TLB.
using LargeArray = std::unique_ptr<double[], LargeArrayDeleter>;

/// Throws std::bad_alloc.
LargeArray make_large_array(std::size_t size);

}  // namespace pliant
