#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "pliant/solvers/catalogue.hpp"

namespace pliant {

namespace {

std::string yes(bool can) { return can ? "yes" : ""; }

std::string joined(const std::vector<Integrator>& integrators) {
  std::vector<std::string_view> names;
  for (Integrator integrator : integrators) names.push_back(to_string(integrator));
  return fmt::format("{}", fmt::join(names, ", "));
}

bool has(const std::vector<Integrator>& integrators, Integrator one) {
  return std::find(integrators.begin(), integrators.end(), one) != integrators.end();
}

constexpr const char* kSolversPage = R"(# The solvers, and what each can do

One scene, and the solver by one word: `[solver] name = "..."` or `--solver NAME`. Most scenes run under most of them; where
one lacks something that a scene needs, it says so before the first step, and names the solvers that can. `pliant check SCENE`
lists which could run a scene, and why others could not. This page is generated from the catalogue that decides
(`pliant docs solvers`); do not edit it.

)";

/// Pipes end the cells of a table.
std::string cell_text(const std::string& text) {
  std::string escaped;
  for (char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

std::string feature_row(const std::string& name, const SolverSupport& supports) {
  std::string row = "| " + name;
  for (const SolverFeature& feature : solver_features()) row += " | " + feature.mark(supports);
  return row + " |\n";
}

std::string parameter_rows(const SolverEntry& solver) {
  std::string rows = "| parameter | takes | unit | default | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (Setting parameter : solver.parameters.keys) {
    const std::string unit = std::exchange(parameter.unit, "");
    rows += fmt::format("| `{}` | {} | {} | `{}` | {} |\n", parameter.name, cell_text(describe_type(parameter)), unit,
                        parameter.fallback, cell_text(parameter.summary));
  }
  return rows;
}

}  // namespace

std::span<const SolverFeature> solver_features() {
  using S = SolverSupport;
  static const std::array features = {
      SolverFeature{
          "contact",
          "yes: `[contact]`, surfaces that never pass through each other, themselves and obstacles; words: contact of "
          "the solver's own, without `[contact]`",
          [](const S& s) { return s.contact.empty() ? s.own_contact : std::string("yes"); }},
      SolverFeature{"colliders", "`[[collider]]`: rigid obstacles", [](const S& s) { return yes(s.colliders); }},
      SolverFeature{"friction", "with colliders, and in contact", [](const S& s) { return yes(s.friction); }},
      SolverFeature{"links", "`[[link]]`: in coordinates of their joints, or as rigid bodies",
                    [](const S& s) { return s.links ? "joints" : std::string(s.rigid ? "rigid" : ""); }},
      SolverFeature{"rigid bodies", "`[[rigid]]` and `[[joint]]`: rigid bodies that touch and are joined to others",
                    [](const S& s) { return yes(s.rigid); }},
      SolverFeature{"cloth", "shells, rods, cloth and other networks of springs",
                    [](const S& s) { return yes(s.cloth); }},
      SolverFeature{"fibres", "fibres and muscles", [](const S& s) { return yes(s.fibres); }},
      SolverFeature{"order", "the highest order of elements",
                    [](const S& s) { return fmt::format("{}", s.highest_order); }},
      SolverFeature{"consistent mass", "`mass = \"consistent\"`", [](const S& s) { return yes(s.consistent_mass); }},
      SolverFeature{"midpoint", "`integrator = \"implicit-midpoint\"`, not together with `[contact]`",
                    [](const S& s) { return yes(has(s.integrators, Integrator::implicit_midpoint)); }},
      SolverFeature{"quasistatic", "`integrator = \"quasistatic\"`",
                    [](const S& s) { return yes(has(s.integrators, Integrator::quasistatic)); }},
      SolverFeature{"damping", "which of `damping.mass` and `damping.stiffness`",
                    [](const S& s) {
                      return s.mass_damping ? std::string(s.stiffness_damping ? "both" : "mass")
                                            : std::string(s.stiffness_damping ? "stiffness" : "");
                    }},
      SolverFeature{"cuts", "`[[cut]]`; with `[contact]` only of bodies that do not touch themselves",
                    [](const S& s) { return yes(s.cuts); }},
      SolverFeature{"grabs", "points pulled by a hand, in the viewer and from code",
                    [](const S& s) { return yes(s.grabs); }},
      SolverFeature{
          "gas",
          "gas in a cavity (`[[load]]` with `gas`); in motion: not with `integrator = \"quasistatic\"`; all "
          "solvers take all other loads",
          [](const S& s) { return s.gas == GasSupport::in_motion ? "in motion" : yes(s.gas == GasSupport::always); }},
      SolverFeature{"energies", "further energies from code", [](const S& s) { return yes(s.energies); }},
      SolverFeature{"materials", "the laws of `pliant materials`",
                    [](const S& s) { return s.laws.empty() ? "all" : fmt::format("{}", fmt::join(s.laws, ", ")); }}};
  return features;
}

std::string solver_documentation() {
  std::string text = kSolversPage;
  std::string head = "| solver", rule = "| ---";
  for (const SolverFeature& feature : solver_features()) {
    head += " | " + feature.name;
    rule += " | ---";
  }
  text += head + " |\n" + rule + " |\n";
  for (const SolverEntry& solver : solver_catalogue()) {
    text += feature_row("`" + solver.name + "`", solver.supports);
    for (const SupportVariant& variant : solver.variants)
      text += feature_row(fmt::format("`{}` with `{} = \"{}\"`", solver.name, variant.parameter, variant.value),
                          variant.supports);
  }
  text += "\nAn empty cell: no. The columns:\n\n";
  for (const SolverFeature& feature : solver_features())
    text += fmt::format("- **{}**: {}.\n", feature.name, feature.summary);
  text += "\n`[contact]` goes with these integrators:\n\n";
  for (const SolverEntry& solver : solver_catalogue())
    if (!solver.supports.contact.empty())
      text += fmt::format("- `{}`: {}\n", solver.name, joined(solver.supports.contact));
  text += "\n## Parameters\n\nIn a scene they are keys of `[solver]`; on the command line, `--set solver.KEY=VALUE`.\n";
  for (const SolverEntry& solver : solver_catalogue())
    text += fmt::format("\n### `{}`\n\n{}{}. From the paper *{}*.\n\n{}", solver.name,
                        static_cast<char>(std::toupper(static_cast<unsigned char>(solver.summary.front()))),
                        solver.summary.substr(1), solver.paper, parameter_rows(solver));
  return text;
}

}  // namespace pliant
