#include "pliant/solvers/conjac/conjac_catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pliant/solvers/conjac/conjac_stepper.hpp"
#include "pliant/solvers/shared_settings.hpp"

namespace pliant {

namespace {

const ChoiceNames<StiffnessKind> kStiffnessNames = {
    {"on-demand", StiffnessKind::on_demand}, {"projected", StiffnessKind::projected}, {"exact", StiffnessKind::exact}};

Setting beta_setting() {
  return {.name = "beta",
          .summary = "weight of the stiffness; 0.5 damps least, more is more stable and more damped",
          .limits = {0, 1e6}};
}
Setting stiffness_setting() {
  return {.name = "stiffness",
          .summary = "on-demand projects elements only where Cholesky fails; exact uses LDL^T there"};
}
Setting tangential_setting() {
  return {.name = "tangential",
          .summary = "share of the colliders' stiffness that resists sliding; the paper's alpha",
          .limits = {0, 1}};
}

BoundSettings<DynamicNodeOptions> dynamic_node_settings() {
  using O = DynamicNodeOptions;
  BoundSettings<O> settings;
  settings
      .add({.name = "dynamic",
            .summary = "dynamic nodes: names of vertex sets, comparisons, numbers, all or none, separated by commas; "
                       "empty: as many as dynamic_nodes says are placed"},
           &O::named)
      .add({.name = "dynamic_nodes",
            .summary = "how many dynamic nodes to place, well apart and deep inside",
            .limits = {0, 2000}},
           &O::count)
      .add({.name = "seed", .summary = "another number places them elsewhere", .limits = {0, 1e9}}, &O::seed);
  return settings;
}

BoundSettings<LinearlyImplicitOptions> linearly_implicit_settings() {
  using O = LinearlyImplicitOptions;
  BoundSettings<O> settings;
  settings.add(beta_setting(), &O::beta)
      .add_choice(stiffness_setting(), kStiffnessNames, &O::stiffness)
      .add(tangential_setting(), &O::tangential)
      .add_choice(turning_setting(), kTurnings, &O::turning)
      .add_choice(safeguard_setting(), kSafeguards, &O::safeguard)
      .add_inside(contact_solve_settings(), &O::contact);
  return settings;
}

BoundSettings<ConjacOptions> conjac_settings() {
  using O = ConjacOptions;
  using Stabilisation = StabilisationOptions;
  BoundSettings<O> settings;
  settings.add(beta_setting(), &O::beta)
      .add_inside(dynamic_node_settings(), &O::dynamic)
      .add({.name = "gamma",
            .summary = "share of a Newton correction that pulls the other nodes back into balance",
            .limits = {0, 1}},
           &O::stabilisation, &Stabilisation::gamma)
      .add({.name = "corrections",
            .summary = "how many such corrections a step makes, all with the same factor",
            .limits = {0, 1000}},
           &O::stabilisation, &Stabilisation::corrections)
      .add({.name = "gamma_search",
            .summary = "make corrections in full, halved until the energy falls, in place of gamma"},
           &O::stabilisation, &Stabilisation::line_search)
      .add({.name = "initial_solve", .summary = "bring the other nodes into balance before the first step"},
           &O::initial_solve)
      .add_choice(stiffness_setting(), kStiffnessNames, &O::stiffness)
      .add(tangential_setting(), &O::tangential)
      .add_choice(turning_setting(), kTurnings, &O::turning)
      .add_choice(safeguard_setting(), kSafeguards, &O::safeguard)
      .add_inside(contact_solve_settings(), &O::contact);
  return settings;
}

}  // namespace

void carry_dynamic_nodes(const Model& before, std::span<const Index> origin, ParameterMap& parameters) {
  const auto named = parameters.find("dynamic");
  if (named == parameters.end()) return;
  const DynamicNodeOptions options = dynamic_node_settings().apply(parameters, {});
  std::vector<std::uint8_t> is_dynamic(static_cast<std::size_t>(before.nodes()), 0);
  for (Index i : dynamic_nodes(before, options)) is_dynamic[static_cast<std::size_t>(i)] = 1;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < origin.size(); ++i)
    if (is_dynamic[static_cast<std::size_t>(origin[i])]) numbers.push_back(i);
  named->second = numbers.empty() ? std::string("none") : fmt::format("{}", fmt::join(numbers, ","));
}

std::vector<SolverEntry> conjac_solvers() {
  return {
      bound_solver<LinearlyImplicitStepper>({.name = "linearly-implicit",
                                             .paper = "conjac",
                                             .summary = "one linear system a step and nothing else: fast, and damped",
                                             .supports = {.contact = {Integrator::implicit_euler}}},
                                            linearly_implicit_settings(), LinearlyImplicitOptions{}),
      bound_solver<ConjacStepper>(
          {.name = "conjac",
           .paper = "conjac",
           .summary = "a few dynamic nodes, all others follow at rest: large steps, lively, exact once it rests",
           .supports = {.contact = {Integrator::implicit_euler}, .links = true}},
          conjac_settings(), ConjacOptions{}),
  };
}

}  // namespace pliant
