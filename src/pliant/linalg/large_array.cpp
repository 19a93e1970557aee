#include "pliant/linalg/large_array.hpp"

#include <cstdlib>
#include <limits>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace pliant {

void LargeArrayDeleter::operator()(double* numbers) const { std::free(numbers); }

LargeArray make_large_array(std::size_t size) {
  if (size == 0) return {};
  constexpr std::size_t huge_page = std::size_t{1} << 21, line = 64;
  if (size > std::numeric_limits<std::size_t>::max() / (2 * sizeof(double))) throw std::bad_alloc();
  const bool large = size * sizeof(double) >= 2 * huge_page;
  const std::size_t alignment = large ? huge_page : line;
  const std::size_t bytes = (size * sizeof(double) + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, bytes);
  if (!memory) throw std::bad_alloc();
#ifdef __linux__
  if (large) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: nothing is lost when it is refused
#endif
  return LargeArray(static_cast<double*>(memory));
}

}  // namespace pliant
