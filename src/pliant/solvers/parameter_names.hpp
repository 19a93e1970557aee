#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/criteria.hpp"
#include "pliant/solvers/line_search.hpp"

// Names of settings that several families of solvers share, as users write them.
namespace pliant {

template <class E>
using ParameterNames = std::vector<std::pair<std::string, E>>;

inline const ParameterNames<Integrator> kIntegratorNames = {{"implicit-euler", Integrator::implicit_euler},
                                                            {"quasistatic", Integrator::quasistatic}};
/// Of solvers that minimise the incremental potential and leave the rest to it.
inline const ParameterNames<Integrator> kMinimisingIntegratorNames = {
    {"implicit-euler", Integrator::implicit_euler},
    {"implicit-midpoint", Integrator::implicit_midpoint},
    {"quasistatic", Integrator::quasistatic}};
inline const ParameterNames<Criterion> kCriterionNames = {{"acceleration", Criterion::acceleration},
                                                          {"residual", Criterion::residual},
                                                          {"reference-force", Criterion::reference_force},
                                                          {"characteristic", Criterion::characteristic},
                                                          {"step-length", Criterion::step_length}};
inline const ParameterNames<AccelerationMass> kAccelerationMassNames = {{"diagonal", AccelerationMass::diagonal},
                                                                        {"factorised", AccelerationMass::factorised}};
inline const ParameterNames<LineSearchKind> kLineSearchNames = {{"robust", LineSearchKind::robust},
                                                                {"armijo", LineSearchKind::armijo},
                                                                {"wolfe", LineSearchKind::wolfe},
                                                                {"none", LineSearchKind::none}};
inline constexpr const char* kLineSearchSummary =
    "robust survives rounding in the energy, armijo is the textbook one, wolfe also bounds the slope, none takes every "
    "step whole";

/// A parameter that takes one of the names; the first is the default.
template <class E>
Parameter choice_parameter(std::string key, const ParameterNames<E>& names, std::string summary) {
  Parameter parameter{std::move(key), names.front().first, "", std::move(summary), {}};
  for (const auto& [name, value] : names) parameter.choices.push_back(name);
  return parameter;
}

template <class E>
E chosen_value(const ParameterMap& values, const std::string& key, const ParameterNames<E>& names) {
  const auto& text = std::get<std::string>(values.at(key));
  for (const auto& [name, value] : names)
    if (name == text) return value;
  return names.front().second;
}

}  // namespace pliant
