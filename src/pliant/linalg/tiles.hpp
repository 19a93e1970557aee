#pragma once

#include <oneapi/tbb/task_arena.h>

#include "pliant/math/parallel.hpp"

namespace pliant {

/// for_chunks, on the calling thread alone unless `parallel`. Isolated: a thread that waits for a tile must not begin a
/// whole subtree meanwhile.
template <class Body>
void for_tiles(bool parallel, Index count, Index size, Body&& body) {
  if (parallel) {
    tbb::this_task_arena::isolate([&] { for_chunks(count, size, body); });
  } else {
    for (Index begin = 0; begin < count; begin += size) body(begin, std::min(count, begin + size));
  }
}

}  // namespace pliant
