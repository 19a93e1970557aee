#pragma once

#include "pliant/energies/assembler.hpp"
#include "pliant/sim/model.hpp"

namespace pliant {

/// Overwrites D with the model's damping alpha M + beta K(x), body by body, with lumped M and projected K. The
/// assembler's first energies are the model's; `energies` is how many it has in all.
void assemble_rayleigh(const Model& model, Assembler& assembler, std::size_t energies, const State& state,
                       BlockMatrix& D);

}  // namespace pliant
