#pragma once

#include "pliant/solvers/catalogue.hpp"

namespace pliant {

/// linearly-implicit, conjac.
std::vector<SolverEntry> conjac_solvers();

}  // namespace pliant
