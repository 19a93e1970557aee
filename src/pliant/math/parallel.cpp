#include "pliant/math/parallel.hpp"

#include <oneapi/tbb/global_control.h>

namespace pliant {

void find_cores() {
  [[maybe_unused]] const std::size_t cores =
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
}

}  // namespace pliant
