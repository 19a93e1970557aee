#pragma once

#include <string>

namespace pliant::experiments {

/// What a run at full size takes, in hours of one core: under "hours" in the register, with where the figure is from.
struct FullCost {
  double hours = 0;
  std::string from;  ///< "measured: ..." or "estimated: ..."
};
/// Null where nothing is known of it.
const FullCost* full_cost(const std::string& experiment);

}  // namespace pliant::experiments
