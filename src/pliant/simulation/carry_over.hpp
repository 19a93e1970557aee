#pragma once

#include <optional>
#include <span>
#include <vector>

#include "pliant/sim/model.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant {

/// The rest state of `to` with the nodes of bodies that both models have, by name and number of nodes, as they are in
/// `state`, its time and its activations. Links that become rigid bodies, and the other way round, move on as they did.
State carry_over(const Model& from, const State& state, const Model& to);

/// For each node of a model in which one body was cut, the node of the model before that it was or is a copy of.
std::vector<Index> node_origins(const Model& before, const Model& after, std::size_t cut_body);

/// The state over the nodes of a model after a cut, which `origin` is of, with the grabs that are still possible.
State carry_over_cut(const Model& before, const State& state, const Model& after, std::span<const Index> origin);
/// A grab in a model after a cut; nothing where its triangle is no longer one.
std::optional<Grab> carry_over_cut(const Model& before, Grab grab, const Model& after);
/// What a solver's parameters say about nodes by number (conjac's `dynamic`), after a cut.
ParameterMap carry_over_cut(const Model& before, ParameterMap parameters, std::span<const Index> origin);

}  // namespace pliant
