#include "pliant/solvers/warp_canceling/warp_canceling_catalogue.hpp"

#include <cmath>
#include <limits>

#include "pliant/base/error.hpp"
#include "pliant/solvers/shared_settings.hpp"
#include "pliant/solvers/warp_canceling/warp_canceling_stepper.hpp"

namespace pliant {

namespace {

const ChoiceNames<ScheduleKind> kSchedules = {{"target-quality", ScheduleKind::target_quality},
                                              {"target-time", ScheduleKind::target_time},
                                              {"hybrid", ScheduleKind::hybrid},
                                              {"periodic", ScheduleKind::periodic}};
const ChoiceNames<CostKind> kCosts = {{"measured", CostKind::measured}, {"flops", CostKind::flops}};
const ChoiceNames<NodeRotationKind> kNodeRotations = {
    {"auto", NodeRotationKind::automatic}, {"ring", NodeRotationKind::ring}, {"identity", NodeRotationKind::identity}};
const ChoiceNames<WarpUnknown> kWarpUnknowns = {{"change", WarpUnknown::change}, {"velocity", WarpUnknown::velocity}};
const ChoiceNames<PreconditionerKind> kCorotationalPreconditioners = {
    {"jacobi", PreconditionerKind::jacobi},
    {"block-jacobi", PreconditionerKind::block_jacobi},
    {"incomplete-cholesky", PreconditionerKind::incomplete_cholesky},
    {"none", PreconditionerKind::none}};
const ChoiceNames<WarpMeasure> kWarpMeasures = {{"velocity", WarpMeasure::velocity}, {"impulse", WarpMeasure::impulse}};
const ChoiceNames<bool> kPcgResiduals = {{"relative", false}, {"absolute", true}};
const ChoiceNames<BodyContactKind> kBodyContacts = {
    {"none", BodyContactKind::none}, {"bodies", BodyContactKind::bodies}, {"self", BodyContactKind::self}};

const ChoiceNames<ColliderTreatment> kColliderTreatments = {{"implicit", ColliderTreatment::in_matrix},
                                                            {"explicit", ColliderTreatment::as_forces}};

using WarpSettings = BoundSettings<WarpCancelingOptions>;

WarpSettings body_contact_settings() {
  using O = BodyContactOptions;
  BoundSettings<O> settings;
  settings
      .add_choice({.name = "contact", .summary = "which surfaces push each other apart; self: other bodies too"},
                  kBodyContacts, &O::kind)
      .add({.name = "contact_distance",
            .summary = "distance at which surfaces begin to push; 0: a fifth of the mean surface edge",
            .unit = "m",
            .limits = kNotNegative},
           &O::distance)
      .add({.name = "contact_stiffness",
            .summary = "stiffness of that push per mass, as colliders have it; at most 0.5/dt^2 takes effect",
            .unit = "1/s^2",
            .limits = kNotNegative},
           &O::stiffness)
      .add({.name = "contact_friction", .summary = "Coulomb's coefficient between surfaces", .limits = kNotNegative},
           &O::friction);
  WarpSettings all;
  all.add_choice({.name = "colliders",
                  .summary = "implicit: colliders are part of the linear system, with the penalty of all solvers; "
                             "explicit: forces of the step's start, as in the paper"},
                 kColliderTreatments, &WarpCancelingOptions::colliders);
  return all.add_inside(settings, &WarpCancelingOptions::contact);
}

WarpSettings warping_settings() {
  using O = WarpCancelingOptions;
  WarpSettings settings;
  settings
      .add_choice({.name = "node_rotations",
                   .summary = "rotations that carry stale parts along; auto: identity for bodies of flat elements"},
                  kNodeRotations, &O::rotations)
      .add_choice({.name = "unknown", .summary = "what is solved for; velocity: as the paper has it"}, kWarpUnknowns,
                  &O::unknown)
      .add_choice(
          {.name = "measure",
           .summary = "unit of errors: velocity does not depend on the mesh; impulse, of an element in N s, is the "
                      "paper's"},
          kWarpMeasures, &O::measure)
      .add_converted(
          {.name = "damp_above",
           .summary = "error of a supernode left alone above which it is drawn to its rigid motion; 0: never",
           .unit = "m/s",
           .limits = kNotNegative},
          [](const O& options) { return std::isfinite(options.damp_above) ? options.damp_above : 0.0; },
          [](O& options, const SettingValue& value) {
            const double limit = std::get<double>(value);
            options.damp_above = limit > 0 ? limit : std::numeric_limits<double>::infinity();
          });
  return settings;
}

WarpSettings schedule_settings() {
  using O = ScheduleOptions;
  BoundSettings<O> settings;
  settings
      .add_choice({.name = "schedule", .summary = "which parts of the factor a step refreshes"}, kSchedules, &O::kind)
      .add({.name = "tau",
            .summary = "error of an element below which it is left alone; 0: corotational",
            .unit = "m/s",
            .limits = kNotNegative},
           &O::tau)
      .add({.name = "must",
            .summary = "error of an element above which the schedule hybrid refreshes it whatever it costs",
            .unit = "m/s",
            .limits = kNotNegative},
           &O::must)
      .add({.name = "budget_ms",
            .summary = "time for a step's refactorisation, with target-time and hybrid; 0: by budget_share",
            .unit = "ms",
            .limits = kNotNegative},
           &O::budget_ms)
      .add({.name = "budget_share", .summary = "budget as a share of a whole factorisation", .limits = {0, 1}},
           &O::budget_share)
      .add_choice({.name = "costs",
                   .summary = "how costs of supernodes are known; with flops, results do not depend on the machine"},
                  kCosts, &O::costs)
      .add({.name = "period",
            .summary = "steps from one refresh of everything to the next, with the schedule periodic",
            .unit = "steps",
            .limits = {1, kLargestCount}},
           &O::period);
  return WarpSettings().add_inside(settings, &WarpCancelingOptions::schedule);
}

WarpSettings pcg_settings() {
  using O = WarpCancelingOptions;
  WarpSettings settings;
  settings
      .add_choice({.name = "preconditioner", .summary = "preconditioner of conjugate gradients"},
                  kCorotationalPreconditioners, &O::preconditioner)
      .add({.name = "tolerance",
            .summary = "residual at which the iteration ends",
            .unit = "1 or N s",
            .limits = kNotNegative},
           &O::pcg, &PcgOptions::tolerance)
      .add_choice({.name = "residual",
                   .summary = "whether the residual is relative to the right-hand side, or absolute in N s"},
                  kPcgResiduals, &O::absolute_residual)
      .add({.name = "max_iterations",
            .summary = "iterations after which a step ends unconverged",
            .limits = {1, kLargestCount}},
           &O::pcg, &PcgOptions::max_iterations);
  return settings;
}

void check_budget(WarpCancelingOptions& options) {
  if (options.schedule.costs == CostKind::flops && options.schedule.budget_ms > 0)
    throw InputError(
        "solver 'warp-canceling': a budget in ms needs costs = \"measured\"; use budget_share with costs = \"flops\"");
}

SolverEntry corotational_solver(SolverEntry entry, WarpSettings settings, WarpCancelingOptions defaults) {
  entry.paper = "warp-canceling";
  entry.supports = {.contact = {Integrator::implicit_euler},
                    .own_contact = "parameter `contact`",
                    .cloth = false,
                    .fibres = false,
                    .highest_order = 1,
                    .consistent_mass = false,
                    .energies = false};
  defaults.name = entry.name;
  return bound_solver<WarpCancelingStepper, WarpCancelingOptions>(
      std::move(entry),
      settings.add(body_contact_settings())
          .add_inside(contact_solve_settings(), &WarpCancelingOptions::contact_solve)
          .add_choice(turning_setting(), kTurnings, &WarpCancelingOptions::turning)
          .add_choice(safeguard_setting(), kSafeguards, &WarpCancelingOptions::safeguard),
      defaults, check_budget);
}

}  // namespace

std::vector<SolverEntry> warp_canceling_solvers() {
  WarpCancelingOptions exact, by_gradients, warping;
  exact.schedule.kind = by_gradients.schedule.kind = ScheduleKind::everything;
  by_gradients.solve = LinearSolve::conjugate_gradients;
  warping.schedule.kind = ScheduleKind::never;
  warping.damp_above = 2;
  return {
      corotational_solver({.name = "corotational",
                           .summary = "corotated linear elasticity, linearly implicit: one factorisation a step"},
                          {}, exact),
      corotational_solver(
          {.name = "corotational-cg", .summary = "the same system by preconditioned conjugate gradients"},
          pcg_settings(), by_gradients),
      corotational_solver(
          {.name = "stiffness-warping", .summary = "one factor of the rest shape for all steps, turned with the nodes"},
          warping_settings(), warping),
      corotational_solver({.name = "warp-canceling",
                           .summary = "corotated elasticity on a factor that is refreshed in parts, where it matters"},
                          schedule_settings().add(warping_settings()), {}),
  };
}

}  // namespace pliant
