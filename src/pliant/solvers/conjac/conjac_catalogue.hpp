#pragma once

#include "pliant/solvers/catalogue.hpp"

namespace pliant {

/// linearly-implicit, conjac.
std::vector<SolverEntry> conjac_solvers();

/// Names the dynamic nodes of a solver by number, for the same solver on a model that was cut: `origin` has for each of
/// its nodes the one of `before` that it was or is a copy of. Placing them anew would move them to other places; pieces
/// that lose theirs are to go quasistatic. Does nothing to solvers without dynamic nodes.
void carry_dynamic_nodes(const Model& before, std::span<const Index> origin, ParameterMap& parameters);

}  // namespace pliant
