#pragma once

#include <cstddef>
#include <memory>

namespace pliant {

struct AlignedArrayDeleter {
  void operator()(double* numbers) const;
};

/// Uninitialised doubles for factors and workspaces, beginning on a cache line. Large ones ask for huge pages: a factor
/// of tens of megabytes is read front by front, and small pages cost 5 to 10% of that.
using AlignedArray = std::unique_ptr<double[], AlignedArrayDeleter>;

/// Throws std::bad_alloc.
AlignedArray make_aligned_array(std::size_t size);

}  // namespace pliant
