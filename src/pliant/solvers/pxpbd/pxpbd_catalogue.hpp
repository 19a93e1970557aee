#pragma once

#include "pliant/solvers/catalogue.hpp"

namespace pliant {

/// xpbd, b-pxpbd, fp-pxpbd.
std::vector<SolverEntry> pxpbd_solvers();

}  // namespace pliant
