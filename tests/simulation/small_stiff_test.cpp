// Small stiff bodies turn by large angles within a step, and come to rest where large ones do.
#include <gtest/gtest.h>

#include <algorithm>

#include "pliant/simulation/simulation.hpp"
#include "support/solver_names.hpp"

namespace pliant {
namespace small_stiff {
namespace {

/// A millimetre of steel that lands on a corner.
const char* const kNut = R"(
[simulation]
fps = 60
frames = 12
[[body]]
box = {size = [0.001, 0.001, 0.001], cells = [3, 3, 3]}
rotate = {axis = [1, 2, 3], angle = 40}
translate = [0, 0.005, 0]
material = "fixed-corotated"
young = 2.1e11
poisson = 0.3
density = 7800
[[collider]]
plane = {}
)";

class SmallStiff : public ::testing::TestWithParam<std::string> {};

TEST_P(SmallStiff, CubeFallsOverAndLiesOnAFace) {
  Simulation simulation(parse_scene(kNut, "nut", ".", {{}, GetParam()}));
  for (int step = 0; step < 12; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << "step " << step + 1 << ": " << report.detail;
  }
  double height = 0;
  for (Index i = 0; i < simulation.model()->nodes(); ++i) height += simulation.state()->x[3 * i + 1];
  EXPECT_NEAR(height / simulation.model()->nodes(), 0.0005, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Solvers, SmallStiff, ::testing::ValuesIn(testing::solver_names()),
                         [](const auto& instance) { return testing::identifier(instance.param); });

TEST(SmallStiff, PendulumOfSteelSwingsInFewIterations) {
  Simulation simulation(parse_scene(R"(
[simulation]
fps = 60
frames = 10
[[body]]
box = {size = [0.01, 0.002, 0.002], cells = [5, 1, 1]}
young = 2.1e11
poisson = 0.3
density = 7800
[[pin]]
where = {vertices = [0]}
)",
                                    "pendulum"));
  double lowest = 0;
  for (int step = 0; step < 10; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << "step " << step + 1 << ": " << report.detail;
    EXPECT_LT(report.iterations, 100);
    for (Index i = 0; i < simulation.model()->nodes(); ++i) lowest = std::min(lowest, simulation.state()->x[3 * i + 1]);
  }
  EXPECT_LT(lowest, -0.009);
  EXPECT_GT(lowest, -0.0108);  // the diagonal is 10.4 mm
}

}  // namespace
}  // namespace small_stiff
}  // namespace pliant
