#include "pliant/solvers/newton/newton_catalogue.hpp"

#include "pliant/solvers/newton/newton_stepper.hpp"
#include "pliant/solvers/shared_settings.hpp"

namespace pliant {

namespace {

const ChoiceNames<LinearSolver> kNewtonSolves = {
    {"auto", LinearSolver::automatic}, {"direct", LinearSolver::direct}, {"pcg", LinearSolver::pcg}};
const ChoiceNames<PreconditionerKind> kNewtonPreconditioners = {
    {"block-jacobi", PreconditionerKind::block_jacobi},
    {"jacobi", PreconditionerKind::jacobi},
    {"incomplete-cholesky", PreconditionerKind::incomplete_cholesky},
    {"multigrid", PreconditionerKind::multigrid},
    {"rest-factor", PreconditionerKind::rest_factor}};
const ChoiceNames<LongSteps> kLongSteps = {{"where-concave", LongSteps::where_concave}, {"never", LongSteps::never}};
const ChoiceNames<NewtonStart> kNewtonStarts = {{"auto", NewtonStart::automatic},
                                                {"last-positions", NewtonStart::last_positions},
                                                {"prediction", NewtonStart::prediction}};
const ChoiceNames<bool> kAssemblies = {{"as-needed", true}, {"every-iteration", false}};
const ChoiceNames<Projection> kProjections = {
    {"analytic", Projection::analytic}, {"absolute", Projection::absolute}, {"numerical", Projection::numerical}};

SolverSupport newton_support() {
  return {.integrators = {Integrator::implicit_euler, Integrator::implicit_midpoint, Integrator::quasistatic},
          .contact = {Integrator::implicit_euler, Integrator::quasistatic}};
}

BoundSettings<NewtonOptions> newton_settings() {
  using O = NewtonOptions;
  BoundSettings<O> settings;
  settings
      .add_choice({.name = "integrator",
                   .summary = "time integration; implicit-midpoint does not damp, quasistatic drops inertia"},
                  integrator_names(newton_support().integrators), &O::integrator)
      .add_choice(
          {.name = "start",
           .summary = "where a step begins to search: where the last one ended, where inertia alone would lead, "
                      "or where the energy is lowest of those and of an explicit step (auto)"},
          kNewtonStarts, &O::start)
      .add_choice(criterion_setting(), kCriterionNames, &O::criterion, &CriterionOptions::kind)
      .add({.name = "tolerance",
            .summary = "acceleration in m/s^2, residual in N, reference-force and characteristic as a fraction, "
                       "step-length in m/s",
            .unit = kToleranceUnit,
            .limits = kNotNegative},
           &O::criterion, &CriterionOptions::tolerance)
      .add_choice({.name = "acceleration_mass",
                   .summary = "mass matrix of the acceleration criterion, when mass is consistent"},
                  kAccelerationMassNames, &O::criterion, &CriterionOptions::mass)
      .add_choice(line_search_setting(), kLineSearchNames, &O::line_search, &LineSearchOptions::kind)
      .add(armijo_setting(), &O::line_search, &LineSearchOptions::decrease)
      .add({.name = "smallest_step", .summary = "step length below which the line search has failed", .limits = {0, 1}},
           &O::line_search, &LineSearchOptions::smallest_step)
      .add_choice({.name = "turning",
                   .summary = "whether steps that are short along the line may turn bodies as rigid ones turn (exact), "
                              "or only along tangents, as in the paper (linear)"},
                  kTurnings, &O::turning)
      .add_choice({.name = "long_steps",
                   .summary = "whether a whole step along which the energy bends down, as where a body buckles, is "
                              "followed by more of it (where-concave), or not, as in the paper (never)"},
                  kLongSteps, &O::long_steps)
      .add_choice({.name = "linear",
                   .summary = "how systems are solved: by a factorisation, by conjugate gradients (pcg) as accurately "
                              "as pays off, or by whichever is cheaper (auto)"},
                  kNewtonSolves, &O::linear, &LinearOptions::solver)
      .add_choice({.name = "preconditioner", .summary = "preconditioner of pcg"}, kNewtonPreconditioners, &O::linear,
                  &LinearOptions::preconditioner)
      .add({.name = "linear_iterations",
            .summary = "pcg takes this many iterations for every system; 0: as many as pay off",
            .limits = {0, 1e6}},
           &O::linear, &LinearOptions::fixed_iterations)
      .add_choice({.name = "assembly",
                   .summary = "as-needed: with auto and pcg, the matrix is kept where a whole step has lowered the "
                              "residual tenfold; every-iteration: it is not"},
                  kAssemblies, &O::linear, &LinearOptions::keeps_matrix)
      .add({.name = "max_iterations",
            .summary = "iterations after which a step ends unconverged",
            .limits = {0, kLargestCount}},
           &O::max_iterations)
      .add(history_setting(), &O::history);
  return settings;
}

BoundSettings<NewtonOptions> projecting_settings() {
  return newton_settings().add_choice(
      {.name = "projection",
       .summary = "analytic: negative eigenvalues are clamped per quadrature point, in closed form; absolute: their "
                  "sign is turned; numerical: clamped per element matrix"},
      kProjections, &NewtonOptions::projection);
}

BoundSettings<NewtonOptions> kinetic_settings() {
  return newton_settings().add(
      {.name = "bounds_step_length",
       .summary =
           "with the criterion step-length: divide the length of a step by beta^2, since added inertia makes steps "
           "short far from the solution; false: as in the paper"},
      &NewtonOptions::bounds_kinetic_step);
}

SolverEntry newton_solver(NewtonMethod method, SolverEntry entry, const BoundSettings<NewtonOptions>& settings) {
  entry.paper = "pitfalls";
  entry.has_cheap_history = true;
  NewtonOptions defaults;
  defaults.method = method;
  return bound_solver<NewtonStepper>(std::move(entry), settings, defaults);
}

}  // namespace

std::vector<SolverEntry> newton_solvers() {
  // Added inertia is what kinetic-newton regularises by; quasistatics have none.
  SolverSupport kinetic = newton_support();
  kinetic.integrators = {Integrator::implicit_euler, Integrator::implicit_midpoint};
  kinetic.contact = {Integrator::implicit_euler};
  return {
      newton_solver(
          NewtonMethod::on_demand,
          {.name = "pod-newton",
           .summary = "exact Hessian, projected only after it proved indefinite: the default, robust and fast",
           .supports = newton_support()},
          projecting_settings()),
      newton_solver(NewtonMethod::newton,
                    {.name = "newton",
                     .summary = "exact Hessian always, pivoted factorisation when it is indefinite",
                     .supports = newton_support()},
                    newton_settings()),
      newton_solver(NewtonMethod::projected,
                    {.name = "projected-newton",
                     .summary = "every element Hessian projected to positive semidefinite",
                     .supports = newton_support()},
                    projecting_settings()),
      newton_solver(NewtonMethod::kinetic,
                    {.name = "kinetic-newton",
                     .summary = "exact Hessian with added inertia until it is positive definite",
                     .supports = kinetic},
                    kinetic_settings()),
  };
}

}  // namespace pliant
