#pragma once

#include "pliant/solvers/catalogue.hpp"

namespace pliant {

/// quasi-newton, projective-dynamics, chebyshev.
std::vector<SolverEntry> quasi_newton_solvers();

}  // namespace pliant
