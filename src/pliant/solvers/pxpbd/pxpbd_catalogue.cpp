#include "pliant/solvers/pxpbd/pxpbd_catalogue.hpp"

#include "pliant/solvers/parameter_names.hpp"
#include "pliant/solvers/pxpbd/grid_stepper.hpp"
#include "pliant/solvers/pxpbd/pxpbd_stepper.hpp"

namespace pliant {

namespace {

const ParameterNames<pbd::ConstraintForm> kConstraintForms = {{"split", pbd::ConstraintForm::split},
                                                              {"sqrt-energy", pbd::ConstraintForm::sqrt_energy}};
const ParameterNames<pbd::LocalForm> kLocalForms = {{"automatic", pbd::LocalForm::automatic},
                                                    {"full", pbd::LocalForm::full}};

const ParameterNames<pbd::Method> kMethods = {
    {"b-pxpbd", pbd::Method::blended}, {"xpbd", pbd::Method::xpbd}, {"fp-pxpbd", pbd::Method::first_piola}};

int whole(const ParameterMap& values, const std::string& key) {
  return static_cast<int>(std::get<std::int64_t>(values.at(key)));
}

std::vector<Parameter> pxpbd_parameters() {
  return {
      choice_parameter("integrator", kIntegratorNames, "time integration; quasistatic drops inertia"),
      {"iterations",
       std::int64_t{10},
       "",
       "sweeps over all elements of every substep or round; fewer when a tolerance is met before",
       {},
       1.0,
       1e9},
      {"substeps", std::int64_t{1}, "", "of equal length in every implicit step", {}, 1.0, 1e6},
      {"rounds",
       std::int64_t{10},
       "",
       "of a quasistatic step: each lets the body relax for the length of the step, without velocity",
       {},
       1.0,
       1e9},
      {"tolerance",
       0.0,
       "m/s^2, N, 1 or m/s",
       "stop before when the criterion is met; 0: always spend the iterations",
       {},
       0.0},
      choice_parameter("criterion", kCriterionNames, "what tolerance is compared with"),
      {"history", false, "", "record every iteration in the report, with primal and secondary residual", {}},
  };
}

PxpbdOptions common_options(std::string name, const ParameterMap& values) {
  PxpbdOptions options;
  options.name = std::move(name);
  options.integrator = chosen_value(values, "integrator", kIntegratorNames);
  options.iterations = whole(values, "iterations");
  options.substeps = whole(values, "substeps");
  options.rounds = whole(values, "rounds");
  options.criterion.kind = chosen_value(values, "criterion", kCriterionNames);
  options.criterion.tolerance = std::get<double>(values.at("tolerance"));
  options.stops_early = options.criterion.tolerance > 0;
  options.history = std::get<bool>(values.at("history"));
  return options;
}

SolverEntry entry(std::string name, std::string summary, std::vector<Parameter> more,
                  std::function<void(const ParameterMap&, pbd::LocalOptions&)> apply) {
  SolverEntry entry{name, "pxpbd", std::move(summary), pxpbd_parameters(), nullptr};
  entry.parameters.insert(entry.parameters.begin() + 1, more.begin(), more.end());
  entry.make = [name, apply](std::shared_ptr<const Model> model, const ParameterMap& values) {
    PxpbdOptions options = common_options(name, values);
    apply(values, options.local);
    return std::make_unique<PxpbdStepper>(std::move(model), options);
  };
  return entry;
}

std::vector<Parameter> blend_parameters() {
  return {{"zeta", 0.0, "", "share of XPBD: 1 is XPBD; 0: per element, from its stiffness number", {}, 0.0, 1.0},
          {"blend", 0.75, "", "where zeta is chosen: 1 - min(1, blend/(1 + stiffness number))", {}, 0.0, 1.0}};
}

SolverEntry grid_entry() {
  SolverEntry entry{
      "grid-b-pxpbd",
      "pxpbd",
      "b-pxpbd on the nodes of a background grid: bodies collide with each other and themselves through it",
      {{"spacing",
        0.0,
        "m",
        "of the grid; 0: the longest edge of a tetrahedron, on average; smaller ones leak",
        {},
        0.0},
       {"cfl", 0.4, "", "cells that a vertex may cross in a substep", {}, 0.01, 1.0},
       {"iterations", std::int64_t{20}, "", "sweeps over all elements of every substep", {}, 1.0, 1e9},
       choice_parameter("method", kMethods, "what a visit to an element does"),
       {"history", false, "", "record every iteration in the report", {}}},
      nullptr};
  const std::vector<Parameter> blend = blend_parameters();
  entry.parameters.insert(entry.parameters.end() - 1, blend.begin(), blend.end());
  entry.make = [](std::shared_ptr<const Model> model, const ParameterMap& values) {
    GridPxpbdOptions options;
    options.spacing = std::get<double>(values.at("spacing"));
    options.cfl = std::get<double>(values.at("cfl"));
    options.iterations = whole(values, "iterations");
    options.local.method = chosen_value(values, "method", kMethods);
    options.local.zeta = std::get<double>(values.at("zeta"));
    options.local.blend = std::get<double>(values.at("blend"));
    options.history = std::get<bool>(values.at("history"));
    return std::make_unique<GridPxpbdStepper>(std::move(model), options);
  };
  return entry;
}

}  // namespace

std::vector<SolverEntry> pxpbd_solvers() {
  return {
      entry("xpbd", "extended position-based dynamics: fast and stable, but stagnates short of the solution",
            {choice_parameter("constraints", kConstraintForms,
                              "split: one for shape, one for volume; sqrt-energy: any law, for comparison, unstable")},
            [](const ParameterMap& values, pbd::LocalOptions& local) {
              local.method = pbd::Method::xpbd;
              local.constraints = chosen_value(values, "constraints", kConstraintForms);
            }),
      entry("b-pxpbd", "XPBD blended with fixed-point steps on the primary residual, which let it converge",
            blend_parameters(),
            [](const ParameterMap& values, pbd::LocalOptions& local) {
              local.method = pbd::Method::blended;
              local.zeta = std::get<double>(values.at("zeta"));
              local.blend = std::get<double>(values.at("blend"));
            }),
      entry("fp-pxpbd", "position-based with stresses in place of multipliers: any material, and it converges",
            {{"inner", std::int64_t{1}, "", "Newton steps of an element at each visit", {}, 1.0, 100.0},
             choice_parameter("local", kLocalForms,
                              "automatic: Sherman-Morrison for corotated and Neo-Hookean laws; full: 9x9 systems")},
            [](const ParameterMap& values, pbd::LocalOptions& local) {
              local.method = pbd::Method::first_piola;
              local.inner = whole(values, "inner");
              local.form = chosen_value(values, "local", kLocalForms);
            }),
      grid_entry(),
  };
}

}  // namespace pliant
