#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pliant/sim/stepper.hpp"

namespace pliant {

using ParameterValue = std::variant<bool, std::int64_t, double, std::string>;
/// Key and value as a user gave them, for one solver.
using ParameterMap = std::map<std::string, ParameterValue>;

/// One documented setting of a solver; the type is that of the default.
struct Parameter {
  std::string key;
  ParameterValue fallback;
  std::string unit;  ///< empty when it has none
  std::string summary;
  std::vector<std::string> choices;                         ///< for strings; empty: anything
  double least = -std::numeric_limits<double>::infinity();  ///< for numbers
  double greatest = std::numeric_limits<double>::infinity();
};

/// A solver by name: what it is, its settings, and how to make one.
struct SolverEntry {
  std::string name;
  std::string paper;  ///< short name as in docs/
  std::string summary;
  std::vector<Parameter> parameters;
  /// `values` has every parameter of the entry with the right type.
  std::function<std::unique_ptr<Stepper>(std::shared_ptr<const Model>, const ParameterMap& values)> make;
};

/// Every solver, in the order `pliant solvers` prints them.
std::span<const SolverEntry> solver_catalogue();
/// Throws InputError naming the nearest solver when there is none of this name.
const SolverEntry& find_solver(std::string_view name);

/// Fills in defaults and checks keys, types, choices and limits. Throws InputError naming the key, what it takes and,
/// for an unknown key, the nearest one. An integer is accepted where a number is asked for.
ParameterMap complete_parameters(const SolverEntry& solver, const ParameterMap& given);

std::unique_ptr<Stepper> make_stepper(std::shared_ptr<const Model> model, std::string_view solver,
                                      const ParameterMap& given = {});

}  // namespace pliant
