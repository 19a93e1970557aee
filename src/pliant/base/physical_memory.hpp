#pragma once

#include <unistd.h>

namespace pliant {

/// Bytes of this machine; infinity where it does not tell.
inline double physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && size > 0 ? static_cast<double>(pages) * static_cast<double>(size) : 1e300;
}

}  // namespace pliant
