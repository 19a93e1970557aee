#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pliant/settings/bound_settings.hpp"
#include "pliant/sim/stepper.hpp"
#include "pliant/solvers/support.hpp"

namespace pliant {

using ParameterValue = SettingValue;
/// Key and value as a user gave them, for one solver.
using ParameterMap = SettingMap;

/// A solver by name: what it is, what it can do, its parameters, and how to make one.
struct SolverEntry {
  std::string name;
  std::string paper = {};  ///< short name as in docs/: the family
  std::string summary = {};
  SolverSupport supports = {};
  std::vector<SupportVariant> variants = {};
  /// Residuals by iteration are at hand in each, so that recording them costs next to nothing.
  bool has_cheap_history = false;
  Section parameters = {};
  /// `values` has every parameter of the entry with the right type.
  std::function<std::unique_ptr<Stepper>(std::shared_ptr<const Model>, const ParameterMap& values)> make = nullptr;
};

/// A solver whose parameters are bound to the options of its stepper, and begin as `defaults` has them. `finish` sees
/// the options before the stepper does.
template <class SolverStepper, class Options>
SolverEntry bound_solver(SolverEntry entry, BoundSettings<Options> settings, const Options& defaults,
                         std::function<void(Options&)> finish = nullptr) {
  entry.parameters = {"[solver]", "of solver '" + entry.name + "'", entry.summary, settings.describe(defaults)};
  entry.make = [settings = std::move(settings), defaults, finish = std::move(finish)](
                   std::shared_ptr<const Model> model, const ParameterMap& values) -> std::unique_ptr<Stepper> {
    Options options = settings.apply(values, defaults);
    if (finish) finish(options);
    return std::make_unique<SolverStepper>(std::move(model), options);
  };
  return entry;
}

/// Every solver, in the order `pliant solvers` prints them.
std::span<const SolverEntry> solver_catalogue();
/// Throws InputError naming the nearest solver when there is none of this name.
const SolverEntry& find_solver(std::string_view name);

/// Fills in defaults and checks keys, types, choices and limits, as check_table does. An integer is accepted where a
/// number is asked for.
ParameterMap complete_parameters(const SolverEntry& solver, const ParameterMap& given);
/// The same for values with an origin, which messages then begin with.
ParameterMap checked_parameters(const SolverEntry& solver, Value table);

/// Throws InputError where the solver cannot run the model: with every reason, and the solvers that can.
std::unique_ptr<Stepper> make_stepper(std::shared_ptr<const Model> model, std::string_view solver,
                                      const ParameterMap& given = {}, const SceneDemands& demands = {});

}  // namespace pliant
