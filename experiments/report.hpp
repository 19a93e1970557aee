#pragma once

#include <string>

#include "experiments/archive.hpp"

namespace pliant::experiments {

/// One page of HTML, whole in itself (drawings and pictures are inside, nothing is fetched): how many claims hold, fail
/// and are undecided; by paper every claim with its verdict, published beside measured, and the reason; by experiment
/// its charts, pictures, rows and checks.
std::string report(const Archive& archive);

}  // namespace pliant::experiments
