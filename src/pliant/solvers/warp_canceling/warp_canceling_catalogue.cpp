#include "pliant/solvers/warp_canceling/warp_canceling_catalogue.hpp"

#include "pliant/base/error.hpp"
#include "pliant/solvers/parameter_names.hpp"
#include "pliant/solvers/warp_canceling/warp_canceling_stepper.hpp"

namespace pliant {

namespace {

const ParameterNames<ScheduleKind> kSchedules = {{"target-quality", ScheduleKind::target_quality},
                                                 {"target-time", ScheduleKind::target_time},
                                                 {"hybrid", ScheduleKind::hybrid},
                                                 {"periodic", ScheduleKind::periodic}};
const ParameterNames<CostKind> kCosts = {{"measured", CostKind::measured}, {"flops", CostKind::flops}};
const ParameterNames<NodeRotationKind> kRotations = {
    {"auto", NodeRotationKind::automatic}, {"ring", NodeRotationKind::ring}, {"identity", NodeRotationKind::identity}};
const ParameterNames<WarpUnknown> kUnknowns = {{"change", WarpUnknown::change}, {"velocity", WarpUnknown::velocity}};
const ParameterNames<PreconditionerKind> kPcgPreconditioners = {
    {"jacobi", PreconditionerKind::jacobi},
    {"block-jacobi", PreconditionerKind::block_jacobi},
    {"incomplete-cholesky", PreconditionerKind::incomplete_cholesky},
    {"none", PreconditionerKind::none}};
const ParameterNames<bool> kResiduals = {{"relative", false}, {"absolute", true}};

const ParameterNames<BodyContactKind> kContacts = {
    {"none", BodyContactKind::none}, {"bodies", BodyContactKind::bodies}, {"self", BodyContactKind::self}};

double number(const ParameterMap& values, const std::string& key) { return std::get<double>(values.at(key)); }

std::vector<Parameter> contact_parameters() {
  const BodyContactOptions defaults;
  return {choice_parameter("contact", kContacts, "which surfaces push each other apart; self: other bodies too"),
          {"contact_distance", 0.0, "m", "at which they begin to; 0: a fifth of the mean surface edge", {}, 0.0},
          {"contact_stiffness", defaults.stiffness, "1/s^2", "as of colliders; at most 0.5/dt^2 takes effect", {}, 0.0},
          {"contact_friction", 0.0, "", "Coulomb's coefficient between surfaces", {}, 0.0}};
}

SolverEntry entry(std::string name, std::string summary, std::vector<Parameter> parameters,
                  std::function<void(const ParameterMap&, WarpCancelingOptions&)> apply) {
  SolverEntry entry{name, "warp-canceling", std::move(summary), std::move(parameters), nullptr};
  for (Parameter& p : contact_parameters()) entry.parameters.push_back(std::move(p));
  entry.make = [name, apply](std::shared_ptr<const Model> model, const ParameterMap& values) {
    WarpCancelingOptions options;
    options.name = name;
    options.contact = {chosen_value(values, "contact", kContacts), number(values, "contact_distance"),
                       number(values, "contact_stiffness"), number(values, "contact_friction")};
    apply(values, options);
    return std::make_unique<WarpCancelingStepper>(std::move(model), options);
  };
  return entry;
}

std::vector<Parameter> warping_parameters(double damp_above) {
  return {choice_parameter("node_rotations", kRotations,
                           "what carries stale parts along; auto: identity for bodies of flat elements"),
          choice_parameter("unknown", kUnknowns, "what is solved for; velocity: as the paper has it"),
          {"damp_above",
           damp_above,
           "m/s",
           "error of a supernode left alone above which it is drawn to its rigid motion; 0: never",
           {},
           0.0}};
}

void apply_warping(const ParameterMap& values, WarpCancelingOptions& options) {
  options.rotations = chosen_value(values, "node_rotations", kRotations);
  options.unknown = chosen_value(values, "unknown", kUnknowns);
  if (const double limit = number(values, "damp_above"); limit > 0) options.damp_above = limit;
}

SolverEntry warp_canceling() {
  const ScheduleOptions defaults;
  std::vector<Parameter> parameters = {
      choice_parameter("schedule", kSchedules, "which parts of the factor a step refreshes"),
      {"tau", defaults.tau, "m/s", "error of an element below which it is left alone; 0: corotational", {}, 0.0},
      {"must", defaults.must, "m/s", "hybrid: error above which it is refreshed whatever it costs", {}, 0.0},
      {"budget_ms", 0.0, "ms", "of a step's refactorisation, for target-time and hybrid; 0: budget_share", {}, 0.0},
      {"budget_share", defaults.budget_share, "", "budget as a share of a whole factorisation", {}, 0.0, 1.0},
      choice_parameter("costs", kCosts, "of supernodes; flops makes target-time the same on every day"),
      {"period", std::int64_t{defaults.period}, "steps", "of the schedule periodic", {}, 1.0, 1e9}};
  for (Parameter& p : warping_parameters(0)) parameters.push_back(std::move(p));
  return entry("warp-canceling", "corotated elasticity on a factor that is refreshed in parts, where it matters",
               std::move(parameters), [](const ParameterMap& values, WarpCancelingOptions& options) {
                 ScheduleOptions& schedule = options.schedule;
                 schedule.kind = chosen_value(values, "schedule", kSchedules);
                 schedule.tau = number(values, "tau");
                 schedule.must = number(values, "must");
                 schedule.budget_ms = number(values, "budget_ms");
                 schedule.budget_share = number(values, "budget_share");
                 schedule.costs = chosen_value(values, "costs", kCosts);
                 schedule.period = static_cast<int>(std::get<std::int64_t>(values.at("period")));
                 if (schedule.costs == CostKind::flops && schedule.budget_ms > 0)
                   throw InputError(
                       "solver 'warp-canceling': a budget in ms needs costs = \"measured\"; use budget_share with "
                       "costs = \"flops\"");
                 apply_warping(values, options);
               });
}

}  // namespace

std::vector<SolverEntry> warp_canceling_solvers() {
  return {
      entry(
          "corotational", "corotated linear elasticity, linearly implicit: one factorisation a step", {},
          [](const ParameterMap&, WarpCancelingOptions& options) { options.schedule.kind = ScheduleKind::everything; }),
      entry("corotational-cg", "the same system by preconditioned conjugate gradients",
            {choice_parameter("preconditioner", kPcgPreconditioners, "of conjugate gradients"),
             {"tolerance", 1e-4, "1 or N s", "residual at which the iteration ends", {}, 0.0},
             choice_parameter("residual", kResiduals, "relative to the right-hand side, or absolute in N s"),
             {"max_iterations", std::int64_t{10000}, "", "of a step", {}, 1.0, 1e9}},
            [](const ParameterMap& values, WarpCancelingOptions& options) {
              options.solve = LinearSolve::conjugate_gradients;
              options.schedule.kind = ScheduleKind::everything;
              options.preconditioner = chosen_value(values, "preconditioner", kPcgPreconditioners);
              options.pcg.tolerance = number(values, "tolerance");
              options.pcg.max_iterations = static_cast<int>(std::get<std::int64_t>(values.at("max_iterations")));
              options.absolute_residual = chosen_value(values, "residual", kResiduals);
            }),
      entry("stiffness-warping", "one factor of the rest shape for ever, carried along by rotations of the nodes",
            warping_parameters(2),
            [](const ParameterMap& values, WarpCancelingOptions& options) {
              options.schedule.kind = ScheduleKind::never;
              apply_warping(values, options);
            }),
      warp_canceling(),
  };
}

}  // namespace pliant
