#pragma once

#include <nlohmann/json.hpp>

#include "pliant/solvers/catalogue.hpp"

namespace pliant {

/// A solver as programs read it: name, paper, summary, what it supports, and parameters, each with key, kind, default,
/// unit and summary, and where they have them choices or bounds.
nlohmann::ordered_json to_json(const SolverEntry& solver);
nlohmann::ordered_json to_json(const Setting& parameter);
/// Without laws where it takes them all.
nlohmann::ordered_json to_json(const SolverSupport& supports);
/// Per solver: its name, and why it cannot run a scene; null where it can.
nlohmann::ordered_json to_json(const std::vector<SolverFit>& fits);

}  // namespace pliant
