#include "pliant/solvers/quasi_newton/quasi_newton_catalogue.hpp"

#include "pliant/solvers/quasi_newton/quasi_newton_stepper.hpp"
#include "pliant/solvers/shared_settings.hpp"

namespace pliant {

namespace {

const ChoiceNames<LaplacianMatrix::Precision> kPrecisions = {{"float", LaplacianMatrix::Precision::single_precision},
                                                             {"double", LaplacianMatrix::Precision::double_precision}};
const ChoiceNames<InitialHessianKind> kHessians = {{"laplacian", InitialHessianKind::laplacian},
                                                   {"scaled-identity", InitialHessianKind::scaled_identity},
                                                   {"rest-pose", InitialHessianKind::rest_pose},
                                                   {"warped-rest-pose", InitialHessianKind::warped_rest_pose},
                                                   {"frame-start", InitialHessianKind::frame_start}};
const ChoiceNames<HessianSolve> kHessianSolves = {{"auto", HessianSolve::automatic},
                                                  {"direct", HessianSolve::direct},
                                                  {"pcg", HessianSolve::gradients},
                                                  {"multigrid", HessianSolve::multigrid}};
const ChoiceNames<InitialPreconditioner> kHessianPreconditioners = {{"laplacian", InitialPreconditioner::laplacian},
                                                                    {"rest-pose", InitialPreconditioner::rest_pose},
                                                                    {"jacobi", InitialPreconditioner::jacobi}};

SolverSupport quasi_newton_support() {
  return {.integrators = {Integrator::implicit_euler, Integrator::implicit_midpoint, Integrator::quasistatic},
          .contact = {Integrator::implicit_euler}};
}

/// `own`: what a single solver of the family has, after the integrator.
BoundSettings<QuasiNewtonOptions> quasi_newton_settings(const BoundSettings<QuasiNewtonOptions>& own) {
  using O = QuasiNewtonOptions;
  BoundSettings<O> settings;
  settings
      .add_choice({.name = "integrator",
                   .summary = "time integration; implicit-midpoint does not damp, quasistatic drops inertia"},
                  integrator_names(quasi_newton_support().integrators), &O::integrator)
      .add(own)
      .add({.name = "iterations",
            .summary = "iterations of every step; fewer when a tolerance is met before, more where contact has not "
                       "settled by then",
            .limits = {1, 1e6}},
           &O::iterations)
      .add({.name = "time_limit",
            .summary = "no iteration is begun that would end later, and Newton's method does not end steps, but for "
                       "prescribed motion that runs into a body and for bodies that block each other; results then "
                       "depend on the machine; 0: no limit",
            .unit = "s",
            .limits = {0, 1e6}},
           &O::time_limit)
      .add(early_end_setting(), &O::criterion, &CriterionOptions::tolerance)
      .add_choice(criterion_setting(), kCriterionNames, &O::criterion, &CriterionOptions::kind)
      .add_choice(line_search_setting(), kLineSearchNames, &O::line_search, &LineSearchOptions::kind)
      .add(armijo_setting(), &O::line_search, &LineSearchOptions::decrease)
      .add_choice({.name = "factor", .summary = "how the constant factor is stored: float halves the bytes of a solve"},
                  kPrecisions, &O::hessian, &InitialHessianOptions::laplacian, &LaplacianMatrix::Options::precision)
      .add_choice(
          {.name = "hessian",
           .summary = "what the direction is made with: a constant matrix for x, y and z alike, or one of those "
                      "that the paper compares it with"},
          kHessians, &O::hessian, &InitialHessianOptions::kind)
      .add_choice({.name = "linear",
                   .summary = "how systems with that matrix are solved; auto: by a factor, or where that is slower or "
                              "does not fit into memory, by multigrid; pcg goes with the hessians laplacian and "
                              "frame-start, multigrid with laplacian"},
                  kHessianSolves, &O::hessian, &InitialHessianOptions::linear)
      .add_choice({.name = "preconditioner",
                   .summary = "preconditioner of pcg: an incomplete factorisation of the laplacian or of the rest-pose "
                              "Hessian, or the diagonal"},
                  kHessianPreconditioners, &O::hessian, &InitialHessianOptions::preconditioner)
      .add({.name = "linear_iterations",
            .summary = "pcg takes this many iterations for every system",
            .limits = {1, 1e6}},
           &O::hessian, &InitialHessianOptions::linear_iterations)
      .add({.name = "smallest_stretch",
            .summary = "the stiffness of the laplacian is fitted to the law from this stretch on",
            .limits = {0.01, 0.999}},
           &O::hessian, &InitialHessianOptions::laplacian, &LaplacianMatrix::Options::stretches, &StretchRange::low)
      .add({.name = "largest_stretch", .summary = "and up to this one", .limits = {1.001, 100}}, &O::hessian,
           &InitialHessianOptions::laplacian, &LaplacianMatrix::Options::stretches, &StretchRange::high)
      .add(history_setting(), &O::history);
  return settings;
}

SolverEntry quasi_newton_solver(SolverEntry entry, const BoundSettings<QuasiNewtonOptions>& own,
                                QuasiNewtonOptions defaults) {
  entry.paper = "quasi-newton";
  entry.supports = quasi_newton_support();
  entry.has_cheap_history = true;
  defaults.name = entry.name;
  defaults.criterion.tolerance = 0;  // real-time methods spend the iterations they are given
  return bound_solver<QuasiNewtonStepper, QuasiNewtonOptions>(
      std::move(entry), quasi_newton_settings(own), defaults,
      [](QuasiNewtonOptions& options) { options.stops_early = options.criterion.tolerance > 0; });
}

}  // namespace

std::vector<SolverEntry> quasi_newton_solvers() {
  using O = QuasiNewtonOptions;
  BoundSettings<O> window, acceleration;
  window.add({.name = "window",
              .summary = "pairs that L-BFGS remembers; with 0 it is projective-dynamics",
              .limits = {0, 100}},
             &O::window);
  acceleration
      .add({.name = "start", .summary = "plain iterations before acceleration begins", .limits = {1, 1e6}},
           &O::chebyshev_start)
      .add({.name = "spectral_radius",
            .summary = "rho of Chebyshev's method; 0: estimated at rest by power iteration",
            .limits = {0, 0.99999}},
           &O::spectral_radius);
  O without_window, chebyshev;
  without_window.window = 0;
  chebyshev.method = QuasiNewtonMethod::chebyshev;
  return {
      quasi_newton_solver(
          {.name = "quasi-newton",
           .summary = "one constant matrix for all steps, accelerated by L-BFGS: any material in real time"},
          window, {}),
      quasi_newton_solver(
          {.name = "projective-dynamics",
           .summary = "the same constant matrix without L-BFGS; local/global steps for ARAP and springs"},
          {}, without_window),
      quasi_newton_solver({.name = "chebyshev", .summary = "projective-dynamics with Chebyshev's acceleration"},
                          acceleration, chebyshev),
  };
}

}  // namespace pliant
