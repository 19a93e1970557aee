#pragma once

#include <span>
#include <vector>

#include "pliant/sim/model.hpp"

namespace pliant {

/// The rest state of `to` with the nodes of bodies that both models have, by name and number of nodes, as they are in
/// `state`, its time and its activations.
State carry_over(const Model& from, const State& state, const Model& to);

/// For each node of a model in which one body was cut, the node of the model before that it was or is a copy of.
std::vector<Index> node_origins(const Model& before, const Model& after, std::size_t cut_body);

/// The state over the nodes of a model after a cut.
State carry_over_cut(const State& state, std::span<const Index> origin);

}  // namespace pliant
