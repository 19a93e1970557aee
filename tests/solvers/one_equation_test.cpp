// One scene, every solver, one residual: what a report says of the state that a step left behind is what an independent
// evaluation of backward Euler's equation finds there (support/backward_euler.hpp).
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <cstdlib>
#include <functional>

#include "pliant/base/error.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "support/backward_euler.hpp"
#include "support/models.hpp"
#include "support/solver_names.hpp"

namespace pliant {
namespace one_equation {
namespace {

using testing::BackwardEuler;
using testing::PenaltyScripts;
using testing::StepBalance;

constexpr double kStep = 0.01;  ///< s
constexpr int kSteps = 7;

/// A bar of the law, which is pinned at x-min unless it is free.
struct Bar {
  ModelBuilder builder;
  BodyOptions body;

  explicit Bar(const std::string& law) {
    builder.set_gravity({0, -9.81, 0});
    body.mesh = testing::box_mesh({1, 0.5, 0.5}, {4, 2, 2});
    body.material = testing::material(law, 2e5, 0.35);
    body.velocity = {0.1, 0.3, -0.5};
  }
  std::vector<Index> nodes(const std::string& set) const {
    return builder.body(0).elements->nodes_of(body.mesh->sets().at(set));
  }
  void pin() {
    builder.add_body(body);
    builder.add_pin({"wall", nodes("x-min")});
  }
  /// The far end is pulled and turned until `release`.
  void script(Imposition imposition, double release = std::numeric_limits<double>::infinity()) {
    Script script{"grip", nodes("x-max"), {}, imposition};
    script.motion.translation.keys = {{0, Vec3::Zero()}, {0.05, Vec3(0.04, 0.03, 0)}, {1, Vec3(0.2, 0, 0.1)}};
    script.motion.centre = {1, 0.25, 0.25};
    script.motion.angle.keys = {{0, 0.0}, {1, 3.0}};
    script.sigma = 1e6;
    script.release = release;
    builder.add_script(script);
  }
};

/// What a solver is put to; `steer` changes the state before step number s.
struct Scenario {
  std::string name;
  std::function<std::shared_ptr<const Model>(const std::string& law)> build;
  std::function<void(const Model&, State&, int s)> steer = [](const Model&, State&, int) {};
  bool is_for_all = false;  ///< no solver may refuse it
};

void grab_the_end(const Model& model, State& state, int s) {
  state.grabs.clear();
  if (s == 5) return;  // let go once
  const Triangle t = model.bodies()[0].mesh->surface().back();
  Grab grab{{t[0], t[1], t[2]}, {0.2, 0.5, 0.3}, Vec3::Zero(), 2e3};
  grab.target = grab.point(model.rest()) + Vec3(0.1 + 0.02 * s, 0.2, -0.1);
  state.grabs = {grab};
}

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = {
      {"pinned and swinging",
       [](const std::string& law) {
         Bar bar(law);
         bar.pin();
         return bar.builder.build();
       },
       [](const Model&, State&, int) {}, true},
      {"direct script",
       [](const std::string& law) {
         Bar bar(law);
         bar.pin();
         bar.script(Imposition::direct);
         return bar.builder.build();
       },
       [](const Model&, State&, int) {}, true},
      {"penalty script",
       [](const std::string& law) {
         Bar bar(law);
         bar.pin();
         bar.script(Imposition::penalty);
         return bar.builder.build();
       },
       [](const Model&, State&, int) {}, true},
      {"release of a direct script",
       [](const std::string& law) {
         Bar bar(law);
         bar.pin();
         bar.script(Imposition::direct, 3.5 * kStep);
         return bar.builder.build();
       },
       [](const Model&, State&, int) {}, true},
      {"grab",
       [](const std::string& law) {
         Bar bar(law);
         bar.pin();
         return bar.builder.build();
       },
       grab_the_end, true},
      {"release of a penalty script",
       [](const std::string& law) {
         Bar bar(law);
         bar.pin();
         bar.script(Imposition::penalty, 3.5 * kStep);
         return bar.builder.build();
       }},
      {"collider",
       [](const std::string& law) {
         Bar bar(law);
         bar.body.velocity = {0.3, -0.5, 0};
         bar.builder.add_body(bar.body);
         bar.builder.set_collider_law(ColliderLaw::penalty);
         bar.builder.add_collider({"floor", PlaneShape{Vec3(0, -0.01, 0), Vec3(0.1, 1, 0).normalized()}, {}, 1e4, 0});
         return bar.builder.build();
       }},
      {"damping by mass",
       [](const std::string& law) {
         Bar bar(law);
         bar.body.damping = {4, 0};
         bar.pin();
         return bar.builder.build();
       }},
      {"damping by stiffness",
       [](const std::string& law) {
         Bar bar(law);
         bar.body.damping = {0, 0.02};
         bar.pin();
         bar.script(Imposition::direct, 3.5 * kStep);
         return bar.builder.build();
       }},
      {"contact",
       [](const std::string& law) {
         Bar bar(law);
         bar.body.velocity = {0.3, -0.5, 0};
         bar.builder.add_body(bar.body);
         bar.builder.set_collider_law(ColliderLaw::penalty);
         bar.builder.add_collider({"floor", PlaneShape{Vec3(0, -0.006, 0), Vec3::UnitY()}, {}, 1e5, 0});
         bar.builder.set_contact({.dhat = 4e-3, .kappa = 1e4});
         return bar.builder.build();
       }},
  };
  return all;
}

/// Steps on and compares every report with the judge.
void expect_honest_reports(const std::shared_ptr<const Model>& model, Stepper& stepper, const Scenario& scenario,
                           PenaltyScripts scripts, double h = kStep) {
  const BackwardEuler judge(model);
  State state = model->rest_state();
  for (int s = 0; s < kSteps; ++s) {
    scenario.steer(*model, state, s);
    const State before = state;
    const StepReport report = stepper.step(state, h);
    ASSERT_TRUE(report.advanced()) << "step " << s << ": " << to_string(report.outcome) << ", " << report.detail;
    const StepBalance balance = judge.balance(before, state.x, h, scripts);
    const double force = 1e-8 * balance.largest_force, acceleration = 1e-8 * balance.largest_acceleration;
    EXPECT_NEAR(report.residuals.force, balance.force, force)
        << "step " << s << ", largest force " << balance.largest_force << " N";
    EXPECT_NEAR(report.residuals.acceleration, balance.acceleration, acceleration)
        << "step " << s << ", largest acceleration " << balance.largest_acceleration << " m/s^2";
    const bool agrees = std::abs(report.residuals.force - balance.force) <= force &&
                        std::abs(report.residuals.acceleration - balance.acceleration) <= acceleration;
    if (!agrees) return;  // one step tells enough
  }
}

/// The two solvers of conjac put all scripted nodes where they belong.
PenaltyScripts penalties_of(const std::string& solver) {
  return solver == "conjac" || solver == "linearly-implicit" ? PenaltyScripts::as_prescribed : PenaltyScripts::as_terms;
}

class OneEquation : public ::testing::TestWithParam<std::tuple<std::string, std::size_t>> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, OneEquation,
                         ::testing::Combine(::testing::ValuesIn(testing::solver_names()),
                                            ::testing::Range<std::size_t>(0, scenarios().size())),
                         [](const auto& instance) {
                           return testing::identifier(std::get<0>(instance.param) + " " +
                                                      scenarios()[std::get<1>(instance.param)].name);
                         });

TEST_P(OneEquation, TheReportedResidualIsTheIndependentOne) {
  const auto& [solver, number] = GetParam();
  const Scenario& scenario = scenarios()[number];
  const auto model = scenario.build(testing::law_for(solver));
  std::unique_ptr<Stepper> stepper;
  try {
    stepper = make_stepper(model, solver);
  } catch (const InputError& error) {
    ASSERT_FALSE(scenario.is_for_all) << error.what();
    GTEST_SKIP() << error.what();
  }
  expect_honest_reports(model, *stepper, scenario, penalties_of(solver));
}

/// More than one iteration, substep, round or schedule: what is measured stays the whole step.
TEST(OneEquation, HoldsForTheWholeStepWhateverASolverDoesInside) {
  const Scenario& scenario = scenarios()[3];
  for (const auto& [solver, parameters] : std::vector<std::pair<std::string, ParameterMap>>{
           {"xpbd", {{"substeps", std::int64_t{4}}}},
           {"fp-pxpbd", {{"substeps", std::int64_t{3}}, {"iterations", std::int64_t{4}}}},
           {"b-pxpbd", {{"iterations", std::int64_t{3}}}},
           {"grid-b-pxpbd", {{"cfl", 0.05}}},
           {"conjac", {{"corrections", std::int64_t{3}}}},
           {"conjac", {{"gamma_search", true}}},
           {"pod-newton", {{"max_iterations", std::int64_t{1}}}},
           {"newton", {{"linear", "pcg"}, {"linear_iterations", std::int64_t{5}}}},
           {"quasi-newton", {{"iterations", std::int64_t{1}}}}}) {
    SCOPED_TRACE(solver + ", " + (parameters.empty() ? "" : parameters.begin()->first));
    const auto model = scenario.build(testing::law_for(solver));
    expect_honest_reports(model, *make_stepper(model, solver, parameters), scenario, penalties_of(solver));
  }
}

TEST(OneEquation, HoldsForConsistentMassAndElementsOfOrderTwo) {
  for (const char* solver : {"pod-newton", "quasi-newton"})
    for (int order : {1, 2})
      for (MassKind mass : {MassKind::lumped, MassKind::consistent}) {
        SCOPED_TRACE(
            fmt::format("{}, order {}, {} mass", solver, order, mass == MassKind::lumped ? "lumped" : "consistent"));
        Bar bar("neo-hookean");
        bar.builder.set_mass(mass);
        bar.body.order = order;
        bar.body.damping = {2, 0.01};
        bar.pin();
        bar.script(Imposition::penalty, 3.5 * kStep);
        const auto model = bar.builder.build();
        // Few iterations leave a residual worth comparing.
        const ParameterMap few = {
            {std::string(solver) == "pod-newton" ? "max_iterations" : "iterations", std::int64_t{2}}};
        expect_honest_reports(model, *make_stepper(model, solver, few), scenarios()[0], PenaltyScripts::as_terms);
      }
}

/// A bar hangs on a rigid arm, whose nodes and those attached to it are left out.
TEST(OneEquation, HoldsForBodiesOnRigidLinks) {
  for (const std::string& solver : testing::solver_names()) {
    SCOPED_TRACE(solver);
    Bar bar(testing::law_for(solver));
    bar.builder.add_body(bar.body);
    const Index arm = bar.builder.add_link({"arm", -1, JointKind::hinge, Vec3(-0.5, 0.25, 0.25), Vec3::UnitZ(),
                                            BoxShape{Vec3(-0.25, 0.25, 0.25), Vec3(0.25, 0.1, 0.1)}, 500});
    bar.builder.attach(arm, bar.nodes("x-min"));
    const auto model = bar.builder.build();
    std::unique_ptr<Stepper> stepper;
    try {
      stepper = make_stepper(model, solver);
    } catch (const InputError&) {
      EXPECT_NE(solver, "conjac");
      continue;
    }
    expect_honest_reports(model, *stepper, scenarios()[0], penalties_of(solver));
  }
}

/// The judge itself: where Newton's method has solved the step, nothing is left of the equation.
TEST(OneEquation, IsSolvedByNewtonsMethod) {
  for (const Scenario& scenario : scenarios()) {
    SCOPED_TRACE(scenario.name);
    const auto model = scenario.build("neo-hookean");
    const BackwardEuler judge(model);
    const auto stepper = make_stepper(model, "pod-newton", {{"criterion", "residual"}, {"tolerance", 1e-6}});
    State state = model->rest_state();
    for (int s = 0; s < kSteps; ++s) {
      scenario.steer(*model, state, s);
      const State before = state;
      ASSERT_TRUE(stepper->step(state, kStep).converged());
      const StepBalance balance = judge.balance(before, state.x, kStep);
      EXPECT_LT(balance.force, 2e-6);
      EXPECT_GT(balance.largest_force, 10);
      EXPECT_NEAR(judge.lumped().sum(), 250, 1e-9);
    }
  }
}

// At rest.

/// What makes a step exact enough for rest to be seen to the last digit.
ParameterMap exact(const std::string& solver) {
  const auto many = [](std::int64_t n) { return ParameterMap{{"iterations", n}}; };
  const std::string& paper = find_solver(solver).paper;
  if (paper == "pitfalls") return {{"criterion", "residual"}, {"tolerance", 1e-9}};
  if (solver == "quasi-newton") return many(40);
  if (solver == "projective-dynamics" || solver == "chebyshev") return many(40);
  if (solver == "corotational-cg") return {{"tolerance", 1e-14}};
  if (solver == "b-pxpbd" || solver == "fp-pxpbd") return many(80);
  return {};
}

/// The largest force that the judge finds in the last steps, over the weight, beside what the report says.
struct AtRest {
  double judged = 0, reported = 0;
  double speed = 0;  ///< m/s
};

AtRest rest(const std::shared_ptr<const Model>& model, const std::string& solver, double h, int steps) {
  const auto stepper = make_stepper(model, solver, exact(solver));
  const BackwardEuler judge(model);
  const double weight = judge.lumped().sum() * model->gravity().norm();
  State state = model->rest_state();
  AtRest result;
  for (int s = 0; s < steps; ++s) {
    const State before = state;
    const StepReport report = stepper->step(state, h);
    EXPECT_TRUE(report.advanced()) << report.detail;
    if (!report.advanced()) break;
    if (s < steps - 3) continue;
    result.judged = std::max(result.judged, judge.balance(before, state.x, h, penalties_of(solver)).force / weight);
    result.reported = std::max(result.reported, report.residuals.force / weight);
    result.speed = state.v.cwiseAbs().maxCoeff();
  }
  return result;
}

/// Solvers that stop short of the solution of a step, by design (docs/pxpbd.md).
bool reaches_rest(const std::string& solver) { return solver != "xpbd" && solver != "grid-b-pxpbd"; }

class AtRestTest : public ::testing::TestWithParam<std::string> {
 protected:
  void expect_nothing_left(const AtRest& result) const {
    RecordProperty("judged_force_over_weight", fmt::format("{:.1e}", result.judged));
    RecordProperty("reported_force_over_weight", fmt::format("{:.1e}", result.reported));
    RecordProperty("speed", fmt::format("{:.1e}", result.speed));
    if (std::getenv("PLIANT_TEST_PRINT"))
      fmt::print("{:20} judged {:8.1e} reported {:8.1e} of the weight, {:8.1e} m/s\n", GetParam(), result.judged,
                 result.reported, result.speed);
    EXPECT_NEAR(result.reported, result.judged, 1e-9);
    if (reaches_rest(GetParam())) {
      EXPECT_LT(result.reported, 1e-9);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Catalogue, AtRestTest, ::testing::ValuesIn(testing::solver_names()),
                         [](const auto& instance) { return testing::identifier(instance.param); });

TEST_P(AtRestTest, AHangingBarReportsForcesAtRounding) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  body.mesh = testing::box_mesh({0.5, 1, 0.5}, {2, 4, 2});
  body.material = testing::material(testing::law_for(GetParam()), 1e5, 0.3);
  body.damping = {20, 0};
  builder.add_body(body);
  builder.add_pin({"ceiling", body.mesh->sets().at("y-max")});
  expect_nothing_left(rest(builder.build(), GetParam(), 0.02, 160));
}

TEST_P(AtRestTest, ABlockOnAPlaneReportsForcesAtRounding) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  body.mesh = testing::box_mesh({1, 1, 1}, {2, 2, 2});
  body.material = testing::material(testing::law_for(GetParam()), 1e5, 0.3);
  body.damping = {20, 0};
  builder.add_body(body);
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider({"floor", PlaneShape{Vec3(0, -0.02, 0), Vec3::UnitY()}, {}, 1e4, 0});
  expect_nothing_left(rest(builder.build(), GetParam(), 0.02, 160));
}

}  // namespace
}  // namespace one_equation
}  // namespace pliant
