#pragma once

#include <string>
#include <vector>

#include "pliant/solvers/catalogue.hpp"

namespace pliant {

/// The one parameter by which a solver does more or less work for a step, and values from little to much.
struct Effort {
  std::string parameter;
  std::vector<double> values;
};

/// What is swept to see how a solver's error falls with its time. Empty where a step always takes the same work, as it
/// does of methods that solve one linear system.
Effort effort_of(const SolverEntry& solver);

/// The solver's parameters changed so that it converges as far as it can: the reference of a comparison.
ParameterMap converged_parameters(const SolverEntry& solver, ParameterMap parameters);

}  // namespace pliant
