#include "pliant/solvers/catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "pliant/base/error.hpp"
#include "pliant/base/nearest.hpp"
#include "pliant/solvers/conjac/conjac_catalogue.hpp"
#include "pliant/solvers/newton/newton_catalogue.hpp"
#include "pliant/solvers/pxpbd/pxpbd_catalogue.hpp"
#include "pliant/solvers/quasi_newton/quasi_newton_catalogue.hpp"
#include "pliant/solvers/warp_canceling/warp_canceling_catalogue.hpp"

namespace pliant {

namespace {

std::string type_name(const ParameterValue& value) {
  switch (value.index()) {
    case 0:
      return "true or false";
    case 1:
      return "a whole number";
    case 2:
      return "a number";
    default:
      return "a text";
  }
}

/// The value with the parameter's type and within its limits.
ParameterValue checked(const SolverEntry& solver, const Parameter& parameter, ParameterValue value) {
  const std::string where = fmt::format("solver '{}': '{}'", solver.name, parameter.key);
  if (std::holds_alternative<double>(parameter.fallback) && std::holds_alternative<std::int64_t>(value))
    value = static_cast<double>(std::get<std::int64_t>(value));
  if (value.index() != parameter.fallback.index())
    throw InputError(fmt::format("{} takes {}", where, type_name(parameter.fallback)));
  if (const auto* text = std::get_if<std::string>(&value); text && !parameter.choices.empty()) {
    if (std::find(parameter.choices.begin(), parameter.choices.end(), *text) == parameter.choices.end())
      throw InputError(
          fmt::format("{} is \"{}\" but must be one of: {}", where, *text, fmt::join(parameter.choices, ", ")));
  }
  double number = parameter.least;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) number = static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) number = *real;
  if (std::isnan(number) || number < parameter.least || number > parameter.greatest)
    throw InputError(fmt::format("{} is {} but must lie in [{}, {}]{}", where, number, parameter.least,
                                 parameter.greatest, parameter.unit.empty() ? "" : " " + parameter.unit));
  return value;
}

}  // namespace

std::span<const SolverEntry> solver_catalogue() {
  static const std::vector<SolverEntry> entries = [] {
    std::vector<SolverEntry> all = newton_solvers();
    for (auto family : {quasi_newton_solvers, warp_canceling_solvers, conjac_solvers, pxpbd_solvers}) {
      const std::vector<SolverEntry> more = family();
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }();
  return entries;
}

const SolverEntry& find_solver(std::string_view name) {
  std::vector<std::string> names;
  for (const SolverEntry& entry : solver_catalogue()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  const std::string close = nearest(name, names);
  throw InputError(fmt::format(
      "there is no solver '{}'; {}", name,
      close.empty() ? fmt::format("known are: {}", fmt::join(names, ", ")) : fmt::format("did you mean '{}'?", close)));
}

ParameterMap complete_parameters(const SolverEntry& solver, const ParameterMap& given) {
  ParameterMap values;
  std::vector<std::string> keys;
  for (const Parameter& parameter : solver.parameters) {
    keys.push_back(parameter.key);
    const auto it = given.find(parameter.key);
    values[parameter.key] = it == given.end() ? parameter.fallback : checked(solver, parameter, it->second);
  }
  for (const auto& [key, value] : given)
    if (!values.count(key)) {
      const std::string close = nearest(key, keys);
      throw InputError(fmt::format(
          "solver '{}' has no parameter '{}'; {}", solver.name, key,
          close.empty() ? fmt::format("it has: {}", fmt::join(keys, ", ")) : fmt::format("did you mean '{}'?", close)));
    }
  return values;
}

std::unique_ptr<Stepper> make_stepper(std::shared_ptr<const Model> model, std::string_view solver,
                                      const ParameterMap& given) {
  const SolverEntry& entry = find_solver(solver);
  if (model->articulation() && entry.name != "conjac")
    throw InputError(fmt::format("the solver '{}' knows no rigid links; use conjac, which moves them", entry.name));
  if (model->contact() && entry.paper != "pitfalls")
    throw InputError(fmt::format(
        "solver '{}' has no contact between surfaces; use pod-newton, newton, projected-newton or kinetic-newton, or "
        "leave [contact] out",
        entry.name));
  return entry.make(std::move(model), complete_parameters(entry, given));
}

}  // namespace pliant
