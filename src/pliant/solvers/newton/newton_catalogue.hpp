#pragma once

#include "pliant/solvers/catalogue.hpp"

namespace pliant {

/// newton, projected-newton, pod-newton, kinetic-newton.
std::vector<SolverEntry> newton_solvers();

}  // namespace pliant
