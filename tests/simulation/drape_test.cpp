// How hanging cloth swings, against the theory of a hanging chain.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "pliant/simulation/simulation.hpp"
#include "support/solver_names.hpp"

namespace pliant {
namespace {

constexpr double kLength = 1, kFreeFall = 9.81, kFirstZero = 2.404825557695773;  // of J0

/// A strip that hangs by its upper edge swings as a chain does: with s the height above its free end, w'' = g (s w')'
/// has the modes J0(mu sqrt(s/L)) cos(mu/2 sqrt(g/L) t), mu the zeros of J0 (Daniel Bernoulli 1732).
double period() { return 4 * std::numbers::pi / (kFirstZero * std::sqrt(kFreeFall / kLength)); }

/// How much of the first mode is in the strip: the others are orthogonal to it.
double first_mode(const Simulation& simulation) {
  const Model& model = *simulation.model();
  double sum = 0;
  for (Index i = 0; i < model.nodes(); ++i) {
    const double s = std::max(0.0, kLength + node(model.rest(), i).y());
    sum += model.mass().lumped()[i] * std::cyl_bessel_j(0, kFirstZero * std::sqrt(s / kLength)) *
           node(simulation.state()->x, i).x();
  }
  return sum;
}

/// Of a strip that is pushed sideways, as a multiple of theory.
double measured_period(const std::string& made_of, const std::string& solver) {
  const double h = period() / 200;
  // With ten iterations a step, the default, the first half swing takes a third longer (docs/shells.md).
  const bool is_slow = solver == "quasi-newton" || solver == "projective-dynamics" || solver == "chebyshev";
  Simulation simulation(parse_scene(
      fmt::format("[simulation]\ndt = {}\nframes = 340\n[[body]]\ncloth = {{size = [{}, 0.05], cells = [20, 1]}}\n"
                  "rotate = {{axis = [0, 0, 1], angle = -90}}\nvelocity = [0.05, 0, 0]\n{}[[pin]]\nwhere = \"x-min\"\n",
                  h, kLength, made_of),
      "strip", ".",
      {is_slow ? std::vector<std::string>{"solver.iterations=1000"} : std::vector<std::string>(), solver}));
  std::vector<double> crossings;
  double before = 0;
  for (int step = 0; step < 340; ++step) {
    const StepReport report = simulation.step();
    EXPECT_TRUE(report.succeeded()) << solver << ": " << report.detail;
    if (!report.succeeded()) return 0;
    const double now = first_mode(simulation);
    if (step > 0 && (now > 0) != (before > 0)) crossings.push_back(simulation.state()->time - h * now / (now - before));
    before = now;
  }
  return crossings.size() < 3 ? 0 : (crossings[2] - crossings[0]) / period();
}

class DrapeOfEverySolver : public ::testing::TestWithParam<std::string> {};

TEST_P(DrapeOfEverySolver, AHangingShellSwingsAtThePeriodOfAChain) {
  if (!find_solver(GetParam()).supports.cloth) GTEST_SKIP() << "it moves solids only";
  EXPECT_NEAR(measured_period("shell = {thickness = 0.0005}\nyoung = 1e7\npoisson = 0.3\ndensity = 300\n", GetParam()),
              1, 0.03);
}

TEST_P(DrapeOfEverySolver, AHangingClothOfSpringsSwingsAtThePeriodOfAChain) {
  if (!find_solver(GetParam()).supports.cloth) GTEST_SKIP() << "it moves solids only";
  EXPECT_NEAR(measured_period("springs = {structural = 5000, shear = 100, bending = 1}\ndensity = 0.15\n", GetParam()),
              1, 0.03);
}

INSTANTIATE_TEST_SUITE_P(Drape, DrapeOfEverySolver, ::testing::ValuesIn(testing::solver_names()),
                         [](const auto& instance) { return testing::identifier(instance.param); });

}  // namespace
}  // namespace pliant
