#include "pliant/linalg/aligned_array.hpp"

#include <cstdlib>
#include <limits>
#include <new>

namespace pliant {

void AlignedArrayDeleter::operator()(double* numbers) const { std::free(numbers); }

AlignedArray make_aligned_array(std::size_t size) {
  if (size == 0) return {};
  constexpr std::size_t line = 64;
  if (size > std::numeric_limits<std::size_t>::max() / (2 * sizeof(double))) throw std::bad_alloc();
  const std::size_t bytes = (size * sizeof(double) + line - 1) / line * line;
  void* memory = std::aligned_alloc(line, bytes);
  if (!memory) throw std::bad_alloc();
  return AlignedArray(static_cast<double*>(memory));
}

}  // namespace pliant
