#include "pliant/linalg/aligned_array.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstdlib>
#include <limits>
#include <new>

namespace pliant {

void AlignedArrayDeleter::operator()(double* numbers) const { std::free(numbers); }

AlignedArray make_aligned_array(std::size_t size) {
  if (size == 0) return {};
  constexpr std::size_t line = 64, huge_page = std::size_t{1} << 21;
  if (size > std::numeric_limits<std::size_t>::max() / (2 * sizeof(double))) throw std::bad_alloc();
  const std::size_t alignment = size * sizeof(double) >= 4 * huge_page ? huge_page : line;
  const std::size_t bytes = (size * sizeof(double) + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, bytes);
  if (!memory) throw std::bad_alloc();
#ifdef __linux__
  if (alignment == huge_page) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: refused, nothing changes
#endif
  return AlignedArray(static_cast<double*>(memory));
}

}  // namespace pliant
