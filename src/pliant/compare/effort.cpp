#include "pliant/compare/effort.hpp"

namespace pliant {

namespace {

bool has(const SolverEntry& solver, std::string_view name) { return solver.parameters.find(name) != nullptr; }

}  // namespace

Effort effort_of(const SolverEntry& solver) {
  // Newton's methods end by a tolerance, real-time methods by a number of iterations; a few have a knob of their own.
  if (has(solver, "iterations")) return {"iterations", {2, 5, 10, 20, 50}};
  if (has(solver, "tau")) return {"tau", {0.5, 0.1, 0.02, 0.004}};
  if (has(solver, "dynamic_nodes")) return {"dynamic_nodes", {4, 8, 16, 32}};
  if (has(solver, "residual")) return {"tolerance", {1e-1, 1e-2, 1e-4, 1e-6}};  // relative, of conjugate gradients
  if (has(solver, "max_iterations")) return {"tolerance", {10, 1, 1e-1, 1e-2, 1e-4}};
  return {};
}

ParameterMap converged_parameters(const SolverEntry& solver, ParameterMap parameters) {
  if (has(solver, "max_iterations") && has(solver, "criterion")) {
    parameters["criterion"] = std::string("auto");
    parameters["tolerance"] = 1e-6;
  } else if (has(solver, "iterations")) {
    parameters["iterations"] = std::int64_t{500};
  }
  return parameters;
}

}  // namespace pliant
