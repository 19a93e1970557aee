#pragma once

#include <nlohmann/json.hpp>

#include "pliant/solvers/catalogue.hpp"

namespace pliant {

/// A solver as programs read it: name, paper, summary and parameters, each with key, kind, default, unit and summary,
/// and where they have them choices or bounds.
nlohmann::ordered_json to_json(const SolverEntry& solver);
nlohmann::ordered_json to_json(const Parameter& parameter);

}  // namespace pliant
