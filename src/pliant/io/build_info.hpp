#pragma once

#include <string>

namespace pliant {

/// The version of this build, for example "0.1.0".
std::string version();
/// The commit it was built from, with "+" when the tree had changes; "unknown" outside a checkout.
std::string commit();

/// The machine, for reports.
struct Machine {
  std::string processor;
  unsigned cores = 0;
};
Machine this_machine();

}  // namespace pliant
