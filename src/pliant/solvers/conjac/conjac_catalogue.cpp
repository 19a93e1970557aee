#include "pliant/solvers/conjac/conjac_catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pliant/solvers/conjac/conjac_stepper.hpp"
#include "pliant/solvers/parameter_names.hpp"

namespace pliant {

namespace {

const ParameterNames<StiffnessKind> kStiffnessNames = {
    {"on-demand", StiffnessKind::on_demand}, {"projected", StiffnessKind::projected}, {"exact", StiffnessKind::exact}};

Parameter beta(double fallback) {
  return {"beta", fallback, "", "weight of the stiffness; 0.5 damps least, more is more stable and more damped",
          {},     0.0,      1e6};
}
Parameter stiffness() {
  return choice_parameter("stiffness", kStiffnessNames,
                          "on-demand projects elements only where Cholesky fails; exact uses LDL^T there");
}
Parameter tangential() {
  return {"tangential", 0.0, "", "share of the colliders' stiffness that resists sliding; the paper's alpha",
          {},           0.0, 1.0};
}

DynamicNodeOptions dynamic_options(const ParameterMap& values) {
  return {std::get<std::string>(values.at("dynamic")),
          static_cast<int>(std::get<std::int64_t>(values.at("dynamic_nodes"))),
          std::get<std::int64_t>(values.at("seed"))};
}

SolverEntry linearly_implicit() {
  SolverEntry entry{"linearly-implicit",
                    "conjac",
                    "one linear system a step and nothing else: fast, and damped",
                    {beta(1.0), stiffness(), tangential()},
                    nullptr};
  entry.make = [](std::shared_ptr<const Model> model, const ParameterMap& values) {
    LinearlyImplicitOptions options;
    options.beta = std::get<double>(values.at("beta"));
    options.stiffness = chosen_value(values, "stiffness", kStiffnessNames);
    options.tangential = std::get<double>(values.at("tangential"));
    return std::make_unique<LinearlyImplicitStepper>(std::move(model), options);
  };
  return entry;
}

SolverEntry conjac() {
  SolverEntry entry{
      "conjac",
      "conjac",
      "a few dynamic nodes, all others follow at rest: large steps, lively, exact once it rests",
      {beta(0.5),
       {"dynamic",
        std::string(),
        "",
        "dynamic nodes: names of vertex sets, numbers, all or none, separated by commas; "
        "empty: placed, dynamic_nodes of them",
        {}},
       {"dynamic_nodes", std::int64_t{8}, "", "how many to place, well apart and deep inside", {}, 0.0, 2000.0},
       {"seed", std::int64_t{0}, "", "another one places them elsewhere", {}, 0.0, 1e9},
       {"gamma", 1.0 / 3, "", "share of a Newton correction that pulls the others back into balance", {}, 0.0, 1.0},
       {"corrections", std::int64_t{1}, "", "a step, all with the same factor", {}, 0.0, 1000.0},
       {"gamma_search", false, "", "corrections in full, halved until the energy falls, in place of gamma", {}},
       {"initial_solve", false, "", "balance the others before the first step", {}},
       stiffness(),
       tangential()},
      nullptr};
  entry.make = [](std::shared_ptr<const Model> model, const ParameterMap& values) {
    ConjacOptions options;
    options.beta = std::get<double>(values.at("beta"));
    options.stiffness = chosen_value(values, "stiffness", kStiffnessNames);
    options.tangential = std::get<double>(values.at("tangential"));
    options.dynamic = dynamic_options(values);
    options.stabilisation.gamma = std::get<double>(values.at("gamma"));
    options.stabilisation.corrections = static_cast<int>(std::get<std::int64_t>(values.at("corrections")));
    options.stabilisation.line_search = std::get<bool>(values.at("gamma_search"));
    options.initial_solve = std::get<bool>(values.at("initial_solve"));
    return std::make_unique<ConjacStepper>(std::move(model), options);
  };
  return entry;
}

}  // namespace

void carry_dynamic_nodes(const Model& before, std::span<const Index> origin, ParameterMap& parameters) {
  const auto named = parameters.find("dynamic");
  if (named == parameters.end()) return;
  std::vector<std::uint8_t> is_dynamic(static_cast<std::size_t>(before.nodes()), 0);
  for (Index i : dynamic_nodes(before, dynamic_options(parameters))) is_dynamic[static_cast<std::size_t>(i)] = 1;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < origin.size(); ++i)
    if (is_dynamic[static_cast<std::size_t>(origin[i])]) numbers.push_back(i);
  named->second = numbers.empty() ? std::string("none") : fmt::format("{}", fmt::join(numbers, ","));
}

std::vector<SolverEntry> conjac_solvers() { return {linearly_implicit(), conjac()}; }

}  // namespace pliant
