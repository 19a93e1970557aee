#pragma once

#include <set>
#include <string>

#include "experiments/archive.hpp"

namespace pliant::experiments {

/// Where the results of an archive come from.
struct Provenance {
  std::set<std::string> commits, machines, sizes;
  int runs = 0, unfinished = 0;
};
Provenance provenance(const Archive& archive);

/// In Markdown, for docs/experiments.md: how many claims hold, fail and are undecided at which size, what a run at full
/// size has not judged and the hours it would take, and by paper which claims, the failing and undecided ones with
/// their reasons.
std::string summary(const Archive& archive);

}  // namespace pliant::experiments
