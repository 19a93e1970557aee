// Large arrays of the program in huge pages. A mesh of a million vertices takes gigabytes, a page of 4 kB at a time
// more than a million interruptions of the program, which took as long as all of its set-up. Systems give huge pages to
// those who ask; where they do not, nothing changes. The library leaves the allocation of those who embed it alone.
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

void* allocate(std::size_t size, std::size_t alignment) {
  constexpr std::size_t kHugePage = std::size_t{1} << 21U;
  const bool is_large = size >= 4 * kHugePage;
  if (is_large) alignment = std::max(alignment, kHugePage);
  const std::size_t whole = (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment;
  if (whole < size) return nullptr;  // beyond what can be counted
  void* memory = std::aligned_alloc(alignment, whole);
  if (memory && is_large) madvise(memory, whole, MADV_HUGEPAGE);
  return memory;
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  for (;;) {
    if (void* memory = alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__ || size >= (std::size_t{1} << 23U)
                           ? allocate(size, alignment)
                           : std::malloc(std::max<std::size_t>(size, 1)))
      return memory;
    const std::new_handler handler = std::get_new_handler();
    if (!handler) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

// All other forms of new and delete, of arrays too, come down to these.
void* operator new(std::size_t size) { return allocate_or_throw(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif
