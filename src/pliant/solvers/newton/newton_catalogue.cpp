#include "pliant/solvers/newton/newton_catalogue.hpp"

#include "pliant/solvers/newton/newton_stepper.hpp"

namespace pliant {

namespace {

/// Names of an enumeration's values, as users write them.
template <class E>
using Names = std::vector<std::pair<std::string, E>>;

const Names<Integrator> kIntegrators = {{"implicit-euler", Integrator::implicit_euler},
                                        {"quasistatic", Integrator::quasistatic}};
const Names<Criterion> kCriteria = {{"acceleration", Criterion::acceleration},
                                    {"residual", Criterion::residual},
                                    {"reference-force", Criterion::reference_force},
                                    {"characteristic", Criterion::characteristic},
                                    {"step-length", Criterion::step_length}};
const Names<AccelerationMass> kAccelerationMasses = {{"diagonal", AccelerationMass::diagonal},
                                                     {"factorised", AccelerationMass::factorised}};
const Names<LineSearchKind> kLineSearches = {{"robust", LineSearchKind::robust}, {"armijo", LineSearchKind::armijo}};
const Names<Projection> kProjections = {{"analytic", Projection::analytic}, {"numerical", Projection::numerical}};

/// A parameter that takes one of the names; the first is the default.
template <class E>
Parameter choice(std::string key, const Names<E>& names, std::string summary) {
  Parameter parameter{std::move(key), names.front().first, "", std::move(summary), {}};
  for (const auto& [name, value] : names) parameter.choices.push_back(name);
  return parameter;
}

template <class E>
E chosen(const ParameterMap& values, const std::string& key, const Names<E>& names) {
  const auto& text = std::get<std::string>(values.at(key));
  for (const auto& [name, value] : names)
    if (name == text) return value;
  return names.front().second;
}

std::vector<Parameter> common_parameters() {
  return {
      choice("integrator", kIntegrators, "time integration; quasistatic drops inertia"),
      choice("criterion", kCriteria, "what tolerance is compared with"),
      {"tolerance",
       0.01,
       "m/s^2, N, 1 or m/s",
       "acceleration in m/s^2, residual in N, reference-force and characteristic as a fraction, step-length in m/s",
       {},
       0.0},
      choice("acceleration_mass", kAccelerationMasses,
             "mass matrix of the acceleration criterion, when mass is consistent"),
      choice("line_search", kLineSearches, "robust survives rounding in the energy, armijo is the textbook one"),
      {"armijo", 1e-4, "", "fraction of the predicted decrease that a step must achieve", {}, 0.0, 0.5},
      {"smallest_step", 1e-7, "", "step length below which the line search has failed", {}, 0.0, 1.0},
      {"max_iterations", std::int64_t{1000}, "", "iterations after which a step ends unconverged", {}, 0.0, 1e9},
      {"history", false, "", "record every iteration in the report", {}},
  };
}

SolverEntry entry(NewtonMethod method, std::string name, std::string summary) {
  SolverEntry entry{std::move(name), "pitfalls", std::move(summary), common_parameters(), nullptr};
  const bool projects = method == NewtonMethod::projected || method == NewtonMethod::on_demand;
  if (projects)
    entry.parameters.push_back(choice("projection", kProjections,
                                      "per quadrature point in closed form, or per element matrix by eigenvalues"));
  entry.make = [method, projects](std::shared_ptr<const Model> model, const ParameterMap& values) {
    NewtonOptions options;
    options.method = method;
    options.integrator = chosen(values, "integrator", kIntegrators);
    options.criterion.kind = chosen(values, "criterion", kCriteria);
    options.criterion.tolerance = std::get<double>(values.at("tolerance"));
    options.criterion.mass = chosen(values, "acceleration_mass", kAccelerationMasses);
    options.line_search.kind = chosen(values, "line_search", kLineSearches);
    options.line_search.decrease = std::get<double>(values.at("armijo"));
    options.line_search.smallest_step = std::get<double>(values.at("smallest_step"));
    options.max_iterations = static_cast<int>(std::get<std::int64_t>(values.at("max_iterations")));
    options.history = std::get<bool>(values.at("history"));
    if (projects) options.projection = chosen(values, "projection", kProjections);
    return std::make_unique<NewtonStepper>(std::move(model), options);
  };
  return entry;
}

}  // namespace

std::vector<SolverEntry> newton_solvers() {
  return {
      entry(NewtonMethod::on_demand, "pod-newton",
            "exact Hessian, projected only after it proved indefinite: the default, robust and fast"),
      entry(NewtonMethod::newton, "newton", "exact Hessian always, pivoted factorisation when it is indefinite"),
      entry(NewtonMethod::projected, "projected-newton", "every element Hessian projected to positive semidefinite"),
      entry(NewtonMethod::kinetic, "kinetic-newton", "exact Hessian with added inertia until it is positive definite"),
  };
}

}  // namespace pliant
