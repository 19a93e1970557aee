// A ball that lands on a floor bounces off it, whichever family steps it.
#include <gtest/gtest.h>

#include "pliant/simulation/simulation.hpp"
#include "support/solver_names.hpp"

namespace pliant {
namespace landing {
namespace {

constexpr double kFloor = -0.52;

const char* const kBall = R"(
[simulation]
fps = 60
frames = 14
[[body]]
sphere = {radius = 0.5, cells = 9}
material = "fixed-corotated"
young = 1e5
poisson = 0.4
density = 1000
velocity = [0, -3.1, 0]
[[collider]]
plane = {point = [0, -0.52, 0], normal = [0, 1, 0]}
friction = 0.5
)";

class Landing : public ::testing::TestWithParam<std::string> {};

TEST_P(Landing, SucceedsAndTurnsAroundAboveTheFloor) {
  Simulation simulation(parse_scene(kBall, "ball", ".", {{}, GetParam()}));
  for (int step = 0; step < 14; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << "step " << step + 1 << ": " << report.detail;
  }
  const State& state = *simulation.state();
  double lowest = 0, momentum = 0;
  for (Index i = 0; i < simulation.model()->nodes(); ++i) {
    lowest = std::min(lowest, state.x[3 * i + 1]);
    momentum += simulation.model()->mass().lumped()[i] * state.v[3 * i + 1];
  }
  EXPECT_GT(lowest, kFloor);
  EXPECT_GT(momentum, 0) << "it is on its way up again";
}

INSTANTIATE_TEST_SUITE_P(Solvers, Landing, ::testing::ValuesIn(testing::solver_names()),
                         [](const auto& instance) { return testing::identifier(instance.param); });

}  // namespace
}  // namespace landing
}  // namespace pliant
