#include "pliant/solvers/newton/newton_catalogue.hpp"

#include "pliant/solvers/newton/newton_stepper.hpp"
#include "pliant/solvers/parameter_names.hpp"

namespace pliant {

namespace {

const ParameterNames<LinearSolver> kLinearSolvers = {{"direct", LinearSolver::direct}, {"pcg", LinearSolver::pcg}};
const ParameterNames<PreconditionerKind> kPreconditioners = {
    {"block-jacobi", PreconditionerKind::block_jacobi},
    {"jacobi", PreconditionerKind::jacobi},
    {"incomplete-cholesky", PreconditionerKind::incomplete_cholesky}};
const ParameterNames<bool> kStarts = {{"last-positions", false}, {"prediction", true}};
const ParameterNames<Projection> kProjections = {{"analytic", Projection::analytic},
                                                 {"numerical", Projection::numerical}};

std::vector<Parameter> newton_parameters() {
  return {
      choice_parameter("integrator", kMinimisingIntegratorNames,
                       "time integration; implicit-midpoint does not damp, quasistatic drops inertia"),
      choice_parameter("start", kStarts,
                       "where a step begins to search: where the last one ended, or where inertia alone would lead"),
      choice_parameter("criterion", kCriterionNames, "what tolerance is compared with"),
      {"tolerance",
       0.01,
       "m/s^2, N, 1 or m/s",
       "acceleration in m/s^2, residual in N, reference-force and characteristic as a fraction, step-length in m/s",
       {},
       0.0},
      choice_parameter("acceleration_mass", kAccelerationMassNames,
                       "mass matrix of the acceleration criterion, when mass is consistent"),
      choice_parameter("line_search", kLineSearchNames, kLineSearchSummary),
      {"armijo", 1e-4, "", "fraction of the predicted decrease that a step must achieve", {}, 0.0, 0.5},
      {"smallest_step", 1e-7, "", "step length below which the line search has failed", {}, 0.0, 1.0},
      choice_parameter("linear", kLinearSolvers,
                       "how systems are solved: a factorisation, or conjugate gradients as accurately as pays off"),
      choice_parameter("preconditioner", kPreconditioners, "of conjugate gradients"),
      {"linear_iterations",
       std::int64_t{0},
       "",
       "of pcg, always all of them; 0: as accurately as pays off",
       {},
       0.0,
       1e6},
      {"max_iterations", std::int64_t{1000}, "", "iterations after which a step ends unconverged", {}, 0.0, 1e9},
      {"history", false, "", "record every iteration in the report", {}},
  };
}

SolverEntry entry(NewtonMethod method, std::string name, std::string summary) {
  SolverEntry entry{std::move(name), "pitfalls", std::move(summary), newton_parameters(), nullptr};
  const bool projects = method == NewtonMethod::projected || method == NewtonMethod::on_demand;
  if (projects)
    entry.parameters.push_back(choice_parameter(
        "projection", kProjections, "per quadrature point in closed form, or per element matrix by eigenvalues"));
  entry.make = [method, projects](std::shared_ptr<const Model> model, const ParameterMap& values) {
    NewtonOptions options;
    options.method = method;
    options.integrator = chosen_value(values, "integrator", kMinimisingIntegratorNames);
    options.starts_at_prediction = chosen_value(values, "start", kStarts);
    options.criterion.kind = chosen_value(values, "criterion", kCriterionNames);
    options.criterion.tolerance = std::get<double>(values.at("tolerance"));
    options.criterion.mass = chosen_value(values, "acceleration_mass", kAccelerationMassNames);
    options.line_search.kind = chosen_value(values, "line_search", kLineSearchNames);
    options.line_search.decrease = std::get<double>(values.at("armijo"));
    options.line_search.smallest_step = std::get<double>(values.at("smallest_step"));
    options.linear.solver = chosen_value(values, "linear", kLinearSolvers);
    options.linear.preconditioner = chosen_value(values, "preconditioner", kPreconditioners);
    options.linear.fixed_iterations = static_cast<int>(std::get<std::int64_t>(values.at("linear_iterations")));
    options.max_iterations = static_cast<int>(std::get<std::int64_t>(values.at("max_iterations")));
    options.history = std::get<bool>(values.at("history"));
    if (projects) options.projection = chosen_value(values, "projection", kProjections);
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
