#pragma once

#include "pliant/solvers/catalogue.hpp"

namespace pliant {

/// corotational, corotational-cg, stiffness-warping, warp-canceling.
std::vector<SolverEntry> warp_canceling_solvers();

}  // namespace pliant
