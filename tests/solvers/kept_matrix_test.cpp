// What saves the Newton family work near the solution: a start that goes on with the motion, and matrices that serve
// several iterations.
#include <gtest/gtest.h>

#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/newton/newton_stepper.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

struct Effort {
  State state;
  int iterations = 0, matrices = 0;
};

/// Takes steps of 0.01 s by pod-newton.
Effort swing(const std::shared_ptr<const Model>& model, ParameterMap parameters, int steps) {
  Effort effort{model->rest_state()};
  const auto stepper = make_stepper(model, "pod-newton", parameters);
  for (int s = 0; s < steps; ++s) {
    const StepReport report = stepper->step(effort.state, 0.01);
    EXPECT_TRUE(report.converged()) << "step " << s << ": " << report.detail;
    effort.iterations += report.iterations;
    effort.matrices += report.iterations;
    for (const Figure& figure : report.figures)
      if (figure.name == "kept_matrices") effort.matrices -= static_cast<int>(figure.value);
  }
  return effort;
}

TEST(KeptMatrix, SavesMatricesAndEndsWhereEveryIterationsOwnWouldHave) {
  for (const char* linear : {"auto", "pcg"})
    for (const std::array<Index, 3> cells : {std::array<Index, 3>{8, 4, 4}, {24, 12, 12}}) {
      const auto model = testing::clamped_beam(cells);
      ParameterMap parameters{{"tolerance", 1e-5}, {"linear", std::string(linear)}};
      const Effort kept = swing(model, parameters, 12);
      parameters["assembly"] = std::string("every-iteration");
      const Effort anew = swing(model, parameters, 12);
      // Exact directions, which small systems get, need few matrices anyway.
      const bool is_exact = std::string(linear) == "auto" && model->nodes() < 1000;
      EXPECT_LE((is_exact ? 1.25 : 2) * kept.matrices, anew.matrices) << linear << ", " << model->nodes() << " nodes";
      EXPECT_EQ(anew.matrices, anew.iterations) << linear;
      const double motion = (anew.state.x - model->rest()).norm();
      EXPECT_LT((kept.state.x - anew.state.x).norm(), 1e-7 * motion) << linear;
    }
}

TEST(KeptMatrix, IsNotKeptByTheDirectSolver) {
  const auto model = testing::clamped_beam({8, 4, 4});
  const Effort effort = swing(model, {{"tolerance", 1e-5}, {"linear", std::string("direct")}}, 12);
  EXPECT_EQ(effort.matrices, effort.iterations);
}

/// A beam swings: between two steps its velocity and its acceleration change little.
TEST(NewtonStart, GoesOnWithAcceleratedMotion) {
  const auto model = testing::clamped_beam({8, 4, 4});
  // How far the energy where the search begins is above that where it ends, J.
  const auto energy_to_go = [&](const char* start, const State& from) {
    State state = from;
    const StepReport report =
        make_stepper(model, "pod-newton", {{"start", std::string(start)}, {"tolerance", 1e-4}, {"history", true}})
            ->step(state, 0.01);
    return report.history.front().energy - report.history.back().energy;
  };
  const State state = swing(model, {{"tolerance", 1e-6}}, 10).state;
  const double at_rest = energy_to_go("last-positions", state), moving = energy_to_go("prediction", state),
               best = energy_to_go("auto", state);
  EXPECT_LT(moving, 0.1 * at_rest);
  EXPECT_LT(best, 0.25 * moving);
}

/// An explicit step throws stiff bodies far off after a jolt, and then is not taken.
TEST(NewtonStart, DoesNotFollowAJolt) {
  ModelBuilder builder;
  const BodyOptions body = testing::box_body("bar", {1, 0.1, 0.1}, {16, 2, 2}, Vec3::Zero(), 1e9, "stable-neo-hookean");
  builder.add_body(body);
  const auto model = builder.build();
  State jolted = model->rest_state();
  for (Index i = 0; i < model->nodes(); ++i) jolted.x[3 * i] *= 1.01;
  std::array<StepReport, 2> reports;
  std::array<State, 2> ends{jolted, jolted};
  for (int k = 0; k < 2; ++k) {
    const ParameterMap parameters{{"start", std::string(k == 0 ? "auto" : "last-positions")}, {"tolerance", 1e-4}};
    reports[at(k)] = make_stepper(model, "pod-newton", parameters)->step(ends[at(k)], 0.01);
    ASSERT_TRUE(reports[at(k)].converged()) << reports[at(k)].detail;
  }
  EXPECT_LE(reports[0].iterations, reports[1].iterations + 1);
  EXPECT_LT((ends[0].x - ends[1].x).norm(), 1e-8);
}

}  // namespace
}  // namespace pliant
