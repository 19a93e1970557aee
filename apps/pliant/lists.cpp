#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "pliant/io/catalogue_json.hpp"
#include "pliant/materials/fibre.hpp"
#include "pliant/materials/law.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::app {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const LawInfo& law) {
  return {{"name", law.name},
          {"summary", law.summary},
          {"formula", law.formula},
          {"reference", law.reference},
          {"survives_inversion", law.survives_inversion}};
}

void print_parameter(const Setting& parameter) {
  fmt::print("  {:<18} {:<16} {}{}\n", parameter.name, parameter.fallback, parameter.summary,
             parameter.unit.empty() ? "" : fmt::format(" ({})", parameter.unit));
  if (!parameter.choices.empty())
    fmt::print("  {:<18} {:<16} one of: {}\n", "", "", fmt::join(parameter.choices, ", "));
}

/// Parameters that the same solvers have, alike to the last word.
struct ParameterGroup {
  std::vector<std::string> solvers;
  std::vector<const Setting*> parameters;
};

std::vector<ParameterGroup> group_parameters(const std::vector<const SolverEntry*>& solvers) {
  struct Shared {
    std::string print;
    const Setting* parameter;
    std::vector<std::string> solvers;
  };
  std::vector<Shared> all;
  for (const SolverEntry* solver : solvers)
    for (const Setting& parameter : solver->parameters.keys) {
      const std::string print = to_json(parameter).dump();
      auto found = std::find_if(all.begin(), all.end(), [&](const Shared& s) { return s.print == print; });
      if (found == all.end()) found = all.insert(found, {print, &parameter, {}});
      found->solvers.push_back(solver->name);
    }
  std::vector<ParameterGroup> groups;
  for (const Shared& shared : all) {
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const ParameterGroup& g) { return g.solvers == shared.solvers; });
    if (found == groups.end()) found = groups.insert(found, {shared.solvers, {}});
    found->parameters.push_back(shared.parameter);
  }
  return groups;
}

/// A row for each solver and a column for each feature; materials, which take most space, last.
void print_features(const std::vector<const SolverEntry*>& solvers) {
  const auto features = solver_features();
  std::vector<std::vector<std::string>> rows = {{"what they can do"}};
  for (const SolverFeature& feature : features) rows.front().push_back(feature.name);
  const auto add = [&](const std::string& name, const SolverSupport& supports) {
    std::vector<std::string>& row = rows.emplace_back(1, name);
    for (const SolverFeature& feature : features) {
      const std::string mark = feature.mark(supports);
      row.push_back(mark.empty() ? "-" : mark);
    }
  };
  for (const SolverEntry* solver : solvers) {
    add(solver->name, solver->supports);
    for (const SupportVariant& variant : solver->variants) add("  " + variant.value, variant.supports);
  }
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  fmt::print("\n");
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) line += fmt::format("{:<{}}  ", row[c], widths[c]);
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

/// Names first; then what they can do; then the parameters, once for all solvers that have them.
void print_solvers(const std::vector<const SolverEntry*>& solvers) {
  for (const SolverEntry* solver : solvers)
    fmt::print("{:<18} {} [{}]\n", solver->name, solver->summary, solver->paper);
  print_features(solvers);
  for (const ParameterGroup& group : group_parameters(solvers)) {
    fmt::print("\nParameters of {}, with their defaults:\n", fmt::join(group.solvers, ", "));
    for (const Setting* parameter : group.parameters) print_parameter(*parameter);
  }
  fmt::print(
      "\nIn a scene: [solver] name = \"{0}\", tolerance = 0.1; on the command line: --solver {0} --set "
      "solver.tolerance=0.1\n",
      solvers.front()->name);
}

void print_materials() {
  for (const auto& law : laws()) {
    const LawInfo& info = law->info();
    fmt::print("{}: {}\n", info.name, info.summary);
    fmt::print("  Psi = {}\n", info.formula);
    for (const LawConstant& constant : info.constants)
      fmt::print("  {} = {} ({} to {}): {}\n", constant.name, constant.fallback, constant.lowest, constant.highest,
                 constant.summary);
    fmt::print("  {}; {}\n\n",
               info.survives_inversion ? "finite for inverted elements" : "infinite for inverted elements",
               info.reference);
  }
  fmt::print("Fibres, in addition to a law, with l the stretch along them:\n\n");
  for (const auto& law : fibre_laws()) {
    const FibreLawInfo& info = law->info();
    fmt::print("{}: {}\n  psi = {}\n  stiffness (Pa): {}\n", info.name, info.summary, info.formula, info.stiffness);
    if (!info.shape.empty()) fmt::print("  shape = {}: {}\n", info.shape_fallback, info.shape);
    fmt::print("  {}\n\n", info.reference);
  }
  fmt::print(
      "Parameters: young (E, Pa) and poisson (nu), or mu and lambda (Pa). In a scene: [[body]] material = \"{}\"\n",
      laws().front()->info().name);
}

}  // namespace

void add_solvers(CLI::App& app, int& exit_code) {
  struct Arguments {
    std::string name;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("solvers", "List the solvers with their parameters");
  command->add_option("NAME", arguments->name, "Only this solver");
  command->add_flag("--json", arguments->json, "For programs");
  command->callback([arguments, &exit_code] {
    std::vector<const SolverEntry*> chosen;
    if (!arguments->name.empty())
      chosen.push_back(&find_solver(arguments->name));
    else
      for (const SolverEntry& solver : solver_catalogue()) chosen.push_back(&solver);
    if (arguments->json) {
      Json list = Json::array();
      for (const SolverEntry* solver : chosen) list.push_back(to_json(*solver));
      fmt::print("{}\n", list.dump(2));
    } else {
      print_solvers(chosen);
    }
    exit_code = kSuccess;
  });
}

void add_materials(CLI::App& app, int& exit_code) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("materials", "List the material laws");
  command->add_flag("--json", *json, "For programs");
  command->callback([json, &exit_code] {
    if (*json) {
      Json list = Json::array();
      for (const auto& law : laws()) list.push_back(to_json(law->info()));
      for (const auto& law : fibre_laws()) {
        const FibreLawInfo& info = law->info();
        list.push_back({{"name", info.name},
                        {"fibre", true},
                        {"summary", info.summary},
                        {"formula", info.formula},
                        {"reference", info.reference},
                        {"shape", info.shape_fallback}});
      }
      fmt::print("{}\n", list.dump(2));
    } else {
      print_materials();
    }
    exit_code = kSuccess;
  });
}

}  // namespace pliant::app
