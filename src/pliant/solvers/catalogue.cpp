#include "pliant/solvers/catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pliant/base/error.hpp"
#include "pliant/base/nearest.hpp"
#include "pliant/solvers/conjac/conjac_catalogue.hpp"
#include "pliant/solvers/newton/newton_catalogue.hpp"
#include "pliant/solvers/pxpbd/pxpbd_catalogue.hpp"
#include "pliant/solvers/quasi_newton/quasi_newton_catalogue.hpp"
#include "pliant/solvers/warp_canceling/warp_canceling_catalogue.hpp"

namespace pliant {

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
  throw InputError(fmt::format("there is no solver '{}'; {}", name,
                               close.empty() ? fmt::format("choose one of {}", fmt::join(names, ", "))
                                             : fmt::format("did you mean '{}'?", close)));
}

ParameterMap complete_parameters(const SolverEntry& solver, const ParameterMap& given) {
  return complete_settings(given, solver.parameters);
}

ParameterMap checked_parameters(const SolverEntry& solver, Value table) {
  return complete_settings(std::move(table), solver.parameters);
}

std::unique_ptr<Stepper> make_stepper(std::shared_ptr<const Model> model, std::string_view solver,
                                      const ParameterMap& given, const SceneDemands& demands) {
  const SolverEntry& entry = find_solver(solver);
  const ParameterMap parameters = complete_parameters(entry, given);
  check_support(entry, *model, parameters, demands);
  return entry.make(std::move(model), parameters);
}

}  // namespace pliant
