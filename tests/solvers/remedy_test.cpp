// What a message advises helps: each remedy is tried on the scene that makes a solver print it. Those of plain methods
// and of the solvers' own contact are in diverged_test.cpp, those of rigid links in tests/app/scene_outcome_test.cpp.
#include <gtest/gtest.h>

#include <numbers>

#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"

namespace pliant {
namespace remedies {
namespace {

struct Ending {
  StepReport report;  ///< of the last step
  int steps = 0;      ///< that succeeded
};

Ending run(const std::shared_ptr<const Model>& model, const std::string& solver, double h, int steps) {
  const auto stepper = make_stepper(model, solver);
  State state = model->rest_state();
  Ending ending;
  while (ending.steps < steps) {
    ending.report = stepper->step(state, h);
    if (!ending.report.succeeded()) break;
    ++ending.steps;
  }
  return ending;
}

void expect_advice(const Ending& ending, Outcome outcome, const std::string& advice) {
  EXPECT_EQ(ending.report.outcome, outcome) << ending.report.detail;
  EXPECT_NE(ending.report.detail.find("remedy: " + advice), std::string::npos) << ending.report.detail;
}

BodyOptions bar(const std::string& law, double poisson) {
  BodyOptions body;
  body.name = "bar";
  body.mesh = testing::box_mesh({1, 0.3, 0.3}, {4, 1, 1});
  body.material = testing::material(law, 1e5, poisson);
  return body;
}

/// Held at one end, while the other turns by so many degrees in 0.3 s.
std::shared_ptr<const Model> twisted(const std::string& law, double poisson, double degrees) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const BodyOptions body = bar(law, poisson);
  builder.add_body(body);
  builder.add_pin({"wall", body.mesh->sets().at("x-min")});
  Script grip{"grip", body.mesh->sets().at("x-max"), {}};
  grip.motion.axis = Vec3::UnitX();
  grip.motion.centre = {0, 0.15, 0.15};
  grip.motion.angle.keys = {{0, 0.0}, {0.3, degrees * std::numbers::pi / 180}};
  builder.add_script(grip);
  return builder.build();
}

TEST(Remedy, SmallerStepsHelpWhereAFixedNumberOfIterationsRunsAway) {
  const auto model = twisted("stable-neo-hookean", 0.4999, 3000);
  expect_advice(run(model, "chebyshev", 1.0 / 60, 30), Outcome::diverged, "take smaller steps");
  EXPECT_EQ(run(model, "chebyshev", 1.0 / 120, 60).steps, 60);
}

TEST(Remedy, SpringsOrASlowerMotionHelpWhereAScriptInvertsElements) {
  const auto fast = twisted("neo-hookean", 0.4, 3000), slow = twisted("neo-hookean", 0.4, 300);
  for (const char* solver : {"conjac", "linearly-implicit"}) {
    expect_advice(run(fast, solver, 1.0 / 60, 30), Outcome::inverted_start, "use the solver pod-newton");
    EXPECT_EQ(run(slow, solver, 1.0 / 60, 30).steps, 30) << solver;
  }
  EXPECT_EQ(run(fast, "pod-newton", 1.0 / 60, 30).steps, 30);
}

TEST(Remedy, AnotherLawHelpsWhereThatOfInvertedElementsHasKinks) {
  const auto loaded = [](const std::string& law) {
    ModelBuilder builder;
    builder.set_gravity({0, -9.81, 0});
    const BodyOptions body = bar(law, 0.4);
    builder.add_body(body);
    builder.add_pin({"wall", body.mesh->sets().at("x-min")});
    builder.add_load(body.mesh->sets().at("x-max"), {0, -1e5, 0});
    return builder.build();
  };
  for (const char* solver :
       {"newton", "pod-newton", "projected-newton", "linearly-implicit", "conjac", "corotational", "warp-canceling"}) {
    SCOPED_TRACE(solver);
    expect_advice(run(loaded("linear-corotated"), solver, 1.0 / 60, 20), Outcome::line_search_failed,
                  "take the law fixed-corotated or stable-neo-hookean");
    EXPECT_EQ(run(loaded("fixed-corotated"), solver, 1.0 / 60, 20).steps, 20);
    EXPECT_EQ(run(loaded("stable-neo-hookean"), solver, 1.0 / 60, 20).steps, 20);
  }
}

}  // namespace
}  // namespace remedies
}  // namespace pliant
