#pragma once

#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"

namespace pliant::experiments {

/// A scene of Table V under warp-canceling without a limit, and under full Cholesky.
struct RowOfTableFive {
  std::string name;
  Frames full, wc;
};
RowOfTableFive trampoline_row(Context& context, Index cells, int frames);

}  // namespace pliant::experiments
