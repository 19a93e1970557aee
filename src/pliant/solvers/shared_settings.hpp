#pragma once

#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/contact/contact_solve.hpp"
#include "pliant/solvers/criteria.hpp"
#include "pliant/solvers/free_parts.hpp"
#include "pliant/solvers/line_search.hpp"
#include "pliant/solvers/step_guard.hpp"

// Settings that several families of solvers share.
namespace pliant {

inline const ChoiceNames<Criterion> kCriterionNames = {{"auto", Criterion::automatic},
                                                       {"acceleration", Criterion::acceleration},
                                                       {"residual", Criterion::residual},
                                                       {"reference-force", Criterion::reference_force},
                                                       {"characteristic", Criterion::characteristic},
                                                       {"step-length", Criterion::step_length}};
inline const ChoiceNames<AccelerationMass> kAccelerationMassNames = {{"diagonal", AccelerationMass::diagonal},
                                                                     {"factorised", AccelerationMass::factorised}};
inline const ChoiceNames<LineSearchKind> kLineSearchNames = {{"robust", LineSearchKind::robust},
                                                             {"armijo", LineSearchKind::armijo},
                                                             {"wolfe", LineSearchKind::wolfe},
                                                             {"none", LineSearchKind::none}};

/// Integrators by the names that users write.
inline ChoiceNames<Integrator> integrator_names(const std::vector<Integrator>& integrators) {
  ChoiceNames<Integrator> names;
  for (Integrator integrator : integrators) names.push_back({std::string(to_string(integrator)), integrator});
  return names;
}

/// The unit of `tolerance` goes with the criterion.
inline constexpr const char* kToleranceUnit = "m/s^2, N, 1 or m/s";

inline Setting criterion_setting() {
  return {.name = "criterion",
          .summary =
              "what tolerance is compared with; auto: acceleration, or, where there is contact or a collider, "
              "step-length with a hundredth of the tolerance"};
}
/// The tolerance of solvers that are given a number of iterations; their options call it `stops_early`.
inline Setting early_end_setting() {
  return {.name = "tolerance",
          .summary = "ends a step early once the criterion is met; 0: never",
          .unit = kToleranceUnit,
          .limits = kNotNegative};
}
inline Setting line_search_setting() {
  return {.name = "line_search",
          .summary =
              "robust survives rounding in the energy, armijo is the textbook one, wolfe also bounds the slope, "
              "none takes every step whole"};
}
inline Setting armijo_setting() {
  return {
      .name = "armijo", .summary = "fraction of the predicted decrease that a step must achieve", .limits = {0, 0.5}};
}
/// Of the linearly implicit families.
inline BoundSettings<ContactSolveOptions> contact_solve_settings() {
  using O = ContactSolveOptions;
  BoundSettings<O> settings;
  settings
      .add({.name = "contact_tolerance",
            .summary = "with [contact]: corrections of the velocity smaller than this end the search for where bodies "
                       "touch",
            .unit = "m/s",
            .limits = kPositive},
           &O::tolerance)
      .add({.name = "contact_iterations",
            .summary = "with [contact]: corrections after which a step ends, without touching but out of balance",
            .limits = {1, 1e6}},
           &O::max_iterations);
  return settings;
}
inline const ChoiceNames<Safeguard> kSafeguards = {{"newton", Safeguard::newton}, {"none", Safeguard::none}};
/// Likewise.
inline Setting safeguard_setting() {
  return {.name = "safeguard",
          .summary =
              "what becomes of a step that fails or gains energy: it is solved by Newton's method instead, or, as "
              "in the papers, left as it is (none)"};
}
inline const ChoiceNames<Turning> kTurnings = {{"exact", Turning::exact}, {"linear", Turning::linear}};

inline Setting turning_setting() {
  return {.name = "turning",
          .summary =
              "how bodies that nothing holds turn over a step; linear: along tangents, as in the papers, which "
              "slows them"};
}
inline Setting history_setting() { return {.name = "history", .summary = "record every iteration in the report"}; }

}  // namespace pliant
