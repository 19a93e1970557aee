#pragma once

#include "pliant/solvers/catalogue.hpp"

namespace pliant {

/// xpbd, b-pxpbd, fp-pxpbd, grid-b-pxpbd.
std::vector<SolverEntry> pxpbd_solvers();

}  // namespace pliant
