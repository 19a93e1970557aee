#include "pliant/solvers/pxpbd/pxpbd_catalogue.hpp"

#include "pliant/solvers/pxpbd/grid_stepper.hpp"
#include "pliant/solvers/pxpbd/pxpbd_stepper.hpp"
#include "pliant/solvers/shared_settings.hpp"

namespace pliant {

namespace {

const ChoiceNames<pbd::ConstraintForm> kConstraintForms = {{"split", pbd::ConstraintForm::split},
                                                           {"sqrt-energy", pbd::ConstraintForm::sqrt_energy}};
const ChoiceNames<pbd::LocalForm> kLocalForms = {{"automatic", pbd::LocalForm::automatic},
                                                 {"full", pbd::LocalForm::full}};
const ChoiceNames<pbd::Method> kPositionMethods = {
    {"b-pxpbd", pbd::Method::blended}, {"xpbd", pbd::Method::xpbd}, {"fp-pxpbd", pbd::Method::first_piola}};

const ChoiceNames<pbd::CorrectionKind> kCorrectionNames = {{"none", pbd::CorrectionKind::none},
                                                           {"rescue", pbd::CorrectionKind::rescue},
                                                           {"contact", pbd::CorrectionKind::contact},
                                                           {"automatic", pbd::CorrectionKind::automatic}};

/// Nodes are moved one by one, by tetrahedra alone. Stresses as unknowns take anything an element may be made of.
SolverSupport stress_support() {
  return {.integrators = {Integrator::implicit_euler, Integrator::quasistatic},
          .contact = {Integrator::implicit_euler},
          .cloth = false,
          .highest_order = 1,
          .consistent_mass = false,
          .gas = GasSupport::in_motion,  // nothing ends what quasistatic sweeps leave over, and gas is stiff
          .energies = false};
}
/// Constraints take laws that can be written as two of them.
SolverSupport constraint_support() {
  SolverSupport supports = stress_support();
  supports.fibres = false;
  supports.stiffness_damping = false;
  supports.laws = pbd::laws_of_two_constraints();
  return supports;
}
SolverSupport any_law(SolverSupport supports) {
  supports.laws.clear();
  return supports;
}
SolverSupport on_grid(SolverSupport supports) {
  supports.integrators = {Integrator::implicit_euler};
  supports.own_contact = "through the grid";
  supports.gas = GasSupport::none;  // the unknowns are nodes of a grid, which has no walls
  return supports;
}

using LocalSettings = BoundSettings<pbd::LocalOptions>;

LocalSettings constraint_settings() {
  return LocalSettings().add_choice(
      {.name = "constraints",
       .summary = "split: one for shape, one for volume; sqrt-energy: any law, for comparison, unstable"},
      kConstraintForms, &pbd::LocalOptions::constraints);
}

LocalSettings blend_settings() {
  LocalSettings settings;
  settings
      .add({.name = "zeta",
            .summary = "share of XPBD: 1 is XPBD; 0: chosen for each element from its stiffness number; with any other "
                       "there is no "
                       "correction",
            .limits = {0, 1}},
           &pbd::LocalOptions::zeta)
      .add({.name = "blend",
            .summary = "where zeta is chosen, it is 1 - blend/(1 + stiffness number), more where elements are "
                       "flattened or pressed",
            .limits = {0, 1}},
           &pbd::LocalOptions::blend);
  return settings;
}

LocalSettings stress_settings() {
  LocalSettings settings;
  settings
      .add({.name = "inner", .summary = "Newton steps of an element at each visit", .limits = {1, 100}},
           &pbd::LocalOptions::inner)
      .add_choice({.name = "local",
                   .summary = "automatic: Sherman-Morrison for corotated and Neo-Hookean laws; full: 9x9 systems"},
                  kLocalForms, &pbd::LocalOptions::form);
  return settings;
}

BoundSettings<pbd::CorrectionOptions> correction_settings() {
  using O = pbd::CorrectionOptions;
  BoundSettings<O> settings;
  settings
      .add_choice({.name = "correction",
                   .summary = "when steps of Newton's method by conjugate gradients end an implicit step; none: sweeps "
                              "alone; rescue: where these fail or invert elements; contact: and, in models with "
                              "contact, rigid bodies or gas, where their residual may move bodies by more than "
                              "correction_tolerance; "
                              "automatic: the same in any model"},
                  kCorrectionNames, &O::kind)
      .add({.name = "correction_tolerance",
            .summary =
                "share of the smallest body's size; Newton's method ends when it moves nothing by more; in models "
                "with contact a hundredth of it counts, and in steps shorter than 1/60 s less by the square of how "
                "much shorter they are",
            .limits = {1e-12, 1}},
           &O::tolerance);
  return settings;
}

BoundSettings<PxpbdOptions> pxpbd_settings(const LocalSettings& local) {
  using O = PxpbdOptions;
  Setting history = history_setting();
  history.summary += ", with primal and secondary residual";
  BoundSettings<O> settings;
  settings
      .add_choice({.name = "integrator", .summary = "time integration; quasistatic drops inertia"},
                  integrator_names(stress_support().integrators), &O::integrator)
      .add_inside(local, &O::local)
      .add({.name = "iterations",
            .summary = "sweeps over all elements in every substep or round; fewer when a tolerance is met before",
            .limits = {1, kLargestCount}},
           &O::iterations)
      .add({.name = "substeps", .summary = "substeps of equal length in every implicit step", .limits = {1, 1e6}},
           &O::substeps)
      .add({.name = "rounds",
            .summary = "rounds of a quasistatic step: each lets the body relax for the length of the step, without "
                       "velocity",
            .limits = {1, kLargestCount}},
           &O::rounds)
      .add(early_end_setting(), &O::criterion, &CriterionOptions::tolerance)
      .add_choice(criterion_setting(), kCriterionNames, &O::criterion, &CriterionOptions::kind)
      .add_inside(correction_settings(), &O::correction)
      .add(history, &O::history);
  return settings;
}

SolverEntry pxpbd_solver(SolverEntry entry, pbd::Method method, const LocalSettings& local) {
  entry.paper = "pxpbd";
  PxpbdOptions defaults;
  defaults.name = entry.name;
  defaults.local.method = method;
  defaults.criterion.tolerance = 0;  // real-time methods spend the iterations they are given
  // XPBD stagnates short of the solution by design; only where bodies touch does that let them slide and fall over.
  if (method == pbd::Method::xpbd) defaults.correction.kind = pbd::CorrectionKind::contact;
  return bound_solver<PxpbdStepper, PxpbdOptions>(
      std::move(entry), pxpbd_settings(local), defaults, [](PxpbdOptions& options) {
        options.stops_early = options.criterion.tolerance > 0;
        if (options.local.method == pbd::Method::blended && options.local.zeta > 0)
          options.correction.kind = pbd::CorrectionKind::none;  // who chooses zeta wants to see what it does
      });
}

BoundSettings<GridPxpbdOptions> grid_settings() {
  using O = GridPxpbdOptions;
  BoundSettings<O> settings;
  settings
      .add({.name = "spacing",
            .summary = "spacing of the grid; 0: the longest edge of a tetrahedron, on average; bodies leak "
                       "through a finer grid",
            .unit = "m",
            .limits = kNotNegative},
           &O::spacing)
      .add({.name = "cfl", .summary = "cells that a vertex may cross in a substep", .limits = {0.01, 1}}, &O::cfl)
      .add({.name = "iterations", .summary = "sweeps over all elements in every substep", .limits = {1, kLargestCount}},
           &O::iterations)
      .add_choice({.name = "method", .summary = "what a visit to an element does"}, kPositionMethods, &O::local,
                  &pbd::LocalOptions::method)
      .add_inside(blend_settings(), &O::local)
      .add_inside(correction_settings(), &O::correction)
      .add(history_setting(), &O::history);
  return settings;
}

}  // namespace

std::vector<SolverEntry> pxpbd_solvers() {
  return {
      pxpbd_solver({.name = "xpbd",
                    .summary = "extended position-based dynamics: fast and stable, but stagnates short of the solution",
                    .supports = constraint_support(),
                    .variants = {{"constraints", "sqrt-energy", any_law(constraint_support())}}},
                   pbd::Method::xpbd, constraint_settings()),
      pxpbd_solver({.name = "b-pxpbd",
                    .summary = "XPBD blended with fixed-point steps on the primary residual, which let it converge",
                    .supports = constraint_support()},
                   pbd::Method::blended, blend_settings()),
      pxpbd_solver({.name = "fp-pxpbd",
                    .summary = "position-based with stresses in place of multipliers: any material, and it converges",
                    .supports = stress_support()},
                   pbd::Method::first_piola, stress_settings()),
      bound_solver<GridPxpbdStepper>(
          {.name = "grid-b-pxpbd",
           .paper = "pxpbd",
           .summary =
               "b-pxpbd on the nodes of a background grid: bodies collide with each other and themselves through it",
           .supports = on_grid(constraint_support()),
           .variants = {{"method", "fp-pxpbd", on_grid(stress_support())}}},
          grid_settings(), GridPxpbdOptions{}),
  };
}

}  // namespace pliant
