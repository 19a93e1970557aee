// Loads against theory, and against each other under every solver.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <numbers>

#include "pliant/base/error.hpp"
#include "pliant/sim/surface_faces.hpp"
#include "pliant/simulation/simulation.hpp"
#include "support/solver_names.hpp"

namespace pliant {
namespace {

constexpr const char* kExact = "[solver]\ncriterion = \"residual\"\ntolerance = 1e-9\n";
/// Held in the three planes of symmetry, which leaves every such shape free to deform as it is.
constexpr const char* kSymmetric =
    "[[pin]]\nname = \"px\"\nwhere = \"x > -1e-9 and x < 1e-9\"\naxes = \"x\"\n"
    "[[pin]]\nname = \"py\"\nwhere = \"y > -1e-9 and y < 1e-9\"\naxes = \"y\"\n";

Simulation make(const std::string& text) { return Simulation(parse_scene(text, "loads")); }

Simulation settle(const std::string& text) {
  Simulation simulation =
      make("[simulation]\ndt = 1\nframes = 1\ngravity = [0, 0, 0]\nintegrator = \"quasistatic\"\n" + text);
  const StepReport report = simulation.step();
  EXPECT_TRUE(report.succeeded()) << report.detail;
  return simulation;
}

std::string ball(double radius, double thickness, double young, int cells, const std::string& load) {
  return fmt::format(
      "[[body]]\nsphere = {{radius = {}, inner_radius = {}, cells = {}, layers = 1}}\norder = 2\nyoung = {}\npoisson = "
      "0.3\n[[load]]\nwhere = \"inner\"\n{}\n[[pin]]\nname = \"pz\"\nwhere = \"z > -1e-9 and z < 1e-9\"\naxes = "
      "\"z\"\n{}{}",
      radius + thickness / 2, radius - thickness / 2, cells, young, load, kSymmetric, kExact);
}

/// Mean over all nodes of the distance from the origin.
double mean_radius(const VecX& x) {
  double sum = 0;
  for (Index i = 0; i < static_cast<Index>(x.size() / 3); ++i) sum += node(x, i).norm();
  return sum / (static_cast<double>(x.size()) / 3);
}

TEST(Pressure, InflatesAThinSphereAsLaplaceSays) {
  const double R = 0.1, t = 0.002, E = 1e6, nu = 0.3, p = 40;
  const Simulation simulation = settle(ball(R, t, E, 16, fmt::format("pressure = {}", p)));
  const Model& model = *simulation.model();
  const double expected = p * R * R * (1 - nu) / (2 * E * t);
  EXPECT_NEAR(mean_radius(simulation.state()->x) - mean_radius(model.rest()), expected, 0.02 * expected);
  // And the stress along the wall: p R / (2 t), the mean of the two of each element.
  const Body& body = model.bodies()[0];
  double stress = 0, volume = 0;
  for (Index e = 0; e < body.elements->element_count(); ++e) {
    Mat3 F, P;
    body.elastic->stresses(simulation.state()->x, {e, e + 1}, &F, &P);
    Vec3 centre = Vec3::Zero();
    for (Index v : body.mesh->tets()[at(e)]) centre += body.mesh->vertices()[at(v)] / 4;
    const Mat3 cauchy = P * F.transpose() / F.determinant();
    const Vec3 n = centre.normalized();
    const double V = body.elements->volumes()[at(e)];
    stress += V * (cauchy.trace() - n.dot(cauchy * n)) / 2;
    volume += V;
  }
  EXPECT_NEAR(stress / volume, p * R / (2 * t), 0.02 * p * R / (2 * t));
}

TEST(Pressure, StressesTheWallOfATubeAsLameSays) {
  const double a = 0.05, b = 0.1, p = 1000;
  const Simulation simulation = settle(fmt::format(
      "[[body]]\ntube = {{inner_radius = {}, outer_radius = {}, length = 0.02, layers = 5, around = 48, along = "
      "1}}\norder "
      "= 2\nyoung = 1e8\npoisson = 0.3\n[[load]]\nwhere = \"inner\"\npressure = {}\n[[pin]]\nname = \"start\"\nwhere = "
      "\"start\"\naxes = \"z\"\n[[pin]]\nname = \"end\"\nwhere = \"end\"\naxes = \"z\"\n{}{}",
      a, b, p, kSymmetric, kExact));
  const Body& body = simulation.model()->bodies()[0];
  const double scale = p * a * a / (b * b - a * a);
  double worst = 0, sum = 0;
  for (Index e = 0; e < body.elements->element_count(); ++e) {
    Mat3 F, P;
    body.elastic->stresses(simulation.state()->x, {e, e + 1}, &F, &P);
    Vec3 c = Vec3::Zero();
    for (Index v : body.mesh->tets()[at(e)]) c += body.mesh->vertices()[at(v)] / 4;
    const Mat3 cauchy = P * F.transpose() / F.determinant();
    const double r = std::hypot(c.x(), c.y());
    const Vec3 around(-c.y() / r, c.x() / r, 0);
    const double hoop = scale * (1 + b * b / (r * r)), error = std::abs(around.dot(cauchy * around) - hoop) / hoop;
    worst = std::max(worst, error);
    sum += error;
  }
  EXPECT_LT(worst, 0.02);
  EXPECT_LT(sum / body.elements->element_count(), 0.01);
}

TEST(Gas, InABallSettlesWhereItsPressureBalancesTheWall) {
  const double outside = 101325, pumped = 1.0005;
  const std::string gas =
      fmt::format("gas = {{pressure = {}}}\nkeyframes = [{{time = 0, factor = {}}}]", outside, pumped);
  Simulation simulation = make("[simulation]\ndt = 1\nframes = 1\ngravity = [0, 0, 0]\nintegrator = \"quasistatic\"\n" +
                               ball(0.1, 0.004, 2e4, 8, gas));
  const StepReport report = simulation.step();
  ASSERT_TRUE(report.succeeded()) << report.detail;
  EXPECT_LE(report.iterations, 8);  // the gas is far stiffer than the wall, and part of the matrix
  const SurfaceLoad& load = simulation.model()->surface_loads()[0];
  const double before = load.rest_volume, after = -load.faces->volume(simulation.state()->x, Vec3::Zero());
  EXPECT_GT(after, before * 1.0001);
  const double gauge = pumped * outside * before / after - outside;
  EXPECT_GT(gauge, 0);
  EXPECT_LT(gauge, 0.5 * (pumped - 1) * outside);  // most of it went into volume
  const Simulation pressed = settle(ball(0.1, 0.004, 2e4, 8, fmt::format("pressure = {}", gauge)));
  EXPECT_LT((pressed.state()->x - simulation.state()->x).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(Gas, IsRefusedByTheGridWithTheListOfSolversThatTakeIt) {
  const std::string text =
      "[simulation]\ndt = 0.01\nframes = 1\n" + ball(0.1, 0.004, 2e4, 8, "gas = {pressure = 1.2e5}");
  try {
    Simulation(parse_scene(text, "gas", ".", {{"body.0.order=1", "body.0.material=fixed-corotated"}, "grid-b-pxpbd"}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("it does not take gas (load 'load')"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("Solvers that can: pod-newton, newton, projected-newton, kinetic-newton"),
              std::string::npos)
        << error.what();
  }
}

TEST(Gas, IsRefusedByQuasistaticSweepsWhichFallShortOfIt) {
  const std::string text = "[simulation]\ndt = 0.01\nframes = 1\nintegrator = \"quasistatic\"\n" +
                           ball(0.1, 0.004, 2e4, 8, "gas = {pressure = 1.2e5}");
  try {
    Simulation(parse_scene(text, "gas", ".", {{"body.0.order=1", "body.0.material=fixed-corotated"}, "xpbd"}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("gas (load 'load') with integrator = \"quasistatic\""), std::string::npos)
        << error.what();
  }
}

std::vector<std::string> solvers_with_gas() {
  std::vector<std::string> names;
  for (const SolverEntry& solver : solver_catalogue())
    if (solver.supports.gas != GasSupport::none) names.push_back(solver.name);
  return names;
}
class GasOfEverySolver : public ::testing::TestWithParam<std::string> {};

/// The gas is ten times as stiff as the wall: in a step of 10 ms a pressure that is not part of the step's equation
/// would burst it.
TEST_P(GasOfEverySolver, PumpedIntoAThinBallWidensItAsLaplaceSays) {
  const double R = 0.1, t = 0.002, E = 2e5, nu = 0.3, outside = 101325, pumped = 1.006;
  const std::string gas =
      fmt::format("gas = {{pressure = {}}}\nkeyframes = [{{time = 0, factor = {}}}]", outside, pumped);
  const std::string text = "[simulation]\ndt = 0.01\nframes = 1\ngravity = [0, 0, 0]\n" + ball(R, t, E, 12, gas);
  const SceneChanges changes{
      {"body.0.order=1", "body.0.material=" + testing::law_for(GetParam()), "body.0.damping={mass = 20.0}"},
      GetParam()};
  Simulation simulation(parse_scene(text, "gas", ".", changes));
  for (int step = 0; step < 30; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << report.detail;
  }
  const SurfaceLoad& load = simulation.model()->surface_loads()[0];
  const VecX& x = simulation.state()->x;
  const double pressure = pumped * outside * load.rest_volume / -load.faces->volume(x, Vec3::Zero()) - outside;
  const double expected = pressure * R * R * (1 - nu) / (2 * E * t);
  EXPECT_NEAR(mean_radius(x) - mean_radius(simulation.model()->rest()), expected, 0.02 * expected);
  EXPECT_NEAR(pressure, 21.8, 0.02 * 21.8);  // the little that is left of 608 Pa, under each alike
}

INSTANTIATE_TEST_SUITE_P(Loads, GasOfEverySolver, ::testing::ValuesIn(solvers_with_gas()),
                         [](const auto& instance) { return testing::identifier(instance.param); });

/// A block on a table, pressed from above and damped, until it rests: every solver must find the same height.
class EverySolver : public ::testing::TestWithParam<std::string> {};

TEST_P(EverySolver, RestsUnderAPressureWhereTheoryHasIt) {
  const double p = 300, E = 2e4;  // 1.5% of 0.2 m
  const auto sinks = [&](const std::string& load) {
    Simulation simulation(parse_scene(
        fmt::format("[simulation]\ndt = 0.02\nframes = 60\ngravity = [0, 0, 0]\n[[body]]\nbox = {{size = [0.2, 0.2, "
                    "0.2], cells = [2, 2, 2]}}\nmaterial = \"fixed-corotated\"\nyoung = {}\npoisson = 0.0\ndamping = "
                    "{{mass = 15.0}}\n[[pin]]\nwhere = \"y-min\"\n[[load]]\nwhere = \"y-max\"\n{}\nkeyframes = "
                    "[{{time = 0, factor = 0}}, {{time = 0.2, factor = 1}}]\n",
                    E, load),
        "pressed", ".", {{}, GetParam()}));
    for (int step = 0; step < 60; ++step) {
      const StepReport report = simulation.step();
      EXPECT_TRUE(report.succeeded()) << report.detail;
    }
    double sum = 0;
    const auto& top = simulation.model()->bodies()[0].sets().at("y-max");
    for (Index v : top) sum += 0.2 - node(simulation.state()->x, v).y();
    return sum / static_cast<double>(top.size());
  };
  const double sunk = sinks(fmt::format("pressure = {}", p));
  // Without Poisson's effect the area stays, and fixed-corotated is linear: the strain is p/E. XPBD stagnates short of
  // the solution under any load (docs/pxpbd.md): there, as far as under a dead one.
  const double expected = GetParam() == "xpbd" ? sinks(fmt::format("traction = [0, {}, 0]", -p)) : 0.2 * p / E;
  EXPECT_NEAR(sunk, expected, 0.01 * expected);
}

TEST_P(EverySolver, FallsAsGravityOverTimeSays) {
  Simulation simulation(
      parse_scene("[simulation]\ndt = 0.01\nframes = 10\ngravity_keyframes = [{time = 0, gravity = [0, -10, 0]}, {time "
                  "= 0.1, gravity "
                  "= [5, 10, 0]}]\n[[body]]\nbox = {size = [0.2, 0.2, 0.2], cells = [2, 2, 2]}\nmaterial = "
                  "\"fixed-corotated\"\nyoung = "
                  "1e4\npoisson = 0.3\n",
                  "falling", ".", {{}, GetParam()}));
  Vec3 expected = Vec3::Zero();
  for (int step = 1; step <= 10; ++step) {
    ASSERT_TRUE(simulation.step().succeeded());
    expected += 0.01 * (Vec3(0, -10, 0) + 0.1 * step * Vec3(5, 20, 0));
  }
  Vec3 mean = Vec3::Zero();
  const Model& model = *simulation.model();
  for (Index i = 0; i < model.nodes(); ++i) mean += model.mass().lumped()[i] * node(simulation.state()->v, i);
  EXPECT_LT((mean / model.mass().lumped().sum() - expected).norm(), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Loads, EverySolver, ::testing::ValuesIn(testing::solver_names()),
                         [](const auto& instance) { return testing::identifier(instance.param); });

TEST(Pressure, OnOneSideOfAFreeBodyPushesAndStaysWithIt) {
  // A stiff block that turns once in 1.26 s, pushed at its bottom: momentum grows along the side that turns with it.
  Simulation simulation = make(
      "[simulation]\ndt = 0.005\nframes = 40\ngravity = [0, 0, 0]\n[[body]]\nbox = {size = [0.2, 0.2, 0.2], cells = "
      "[2, 2, "
      "2], origin = [-0.1, -0.1, -0.1]}\nyoung = 1e7\npoisson = 0.3\nangular_velocity = [0, 0, 5]\n[[load]]\nwhere = "
      "\"y-min\"\npressure = 1000\n[solver]\ntolerance = 1e-6\n");
  const double omega = 5, force = 1000 * 0.04;
  for (int step = 0; step < 40; ++step) ASSERT_TRUE(simulation.step().succeeded());
  const State& state = *simulation.state();
  const Model& model = *simulation.model();
  Vec3 momentum = Vec3::Zero();
  for (Index i = 0; i < model.nodes(); ++i) momentum += model.mass().lumped()[i] * node(state.v, i);
  const double angle = omega * state.time;
  const Vec3 expected = force / omega * Vec3(std::cos(angle) - 1, std::sin(angle), 0);
  EXPECT_LT((momentum - expected).norm(), 0.03 * expected.norm());
}

TEST(Traction, TurnsWithTheSurfaceIfItFollows) {
  for (const bool follows : {false, true}) {
    Simulation simulation =
        make(fmt::format("[simulation]\ndt = 0.005\nframes = 40\ngravity = [0, 0, 0]\n[[body]]\nbox = {{size = [0.2, "
                         "0.2, 0.2], cells = [2, "
                         "2, 2], origin = [-0.1, -0.1, -0.1]}}\nyoung = 1e7\npoisson = 0.3\nangular_velocity = [0, 0, "
                         "5]\n[[load]]\nwhere = "
                         "\"boundary\"\ntraction = [1000, 0, 0]\nfollows = {}\n[solver]\ntolerance = 1e-6\n",
                         follows));
    for (int step = 0; step < 40; ++step) ASSERT_TRUE(simulation.step().succeeded());
    const State& state = *simulation.state();
    const Model& model = *simulation.model();
    Vec3 momentum = Vec3::Zero();
    for (Index i = 0; i < model.nodes(); ++i) momentum += model.mass().lumped()[i] * node(state.v, i);
    const double angle = 5 * state.time, force = 1000 * 0.24;  // on all six sides, so that it does not turn the block
    const Vec3 expected =
        follows ? Vec3(force / 5 * Vec3(std::sin(angle), 1 - std::cos(angle), 0)) : Vec3(force * state.time, 0, 0);
    EXPECT_LT((momentum - expected).norm(), 0.03 * expected.norm()) << momentum.transpose();
  }
}

TEST(Loads, ThatAreMisspeltOrClashAreRefusedWithTheRemedy) {
  const auto refusal = [](const std::string& load) {
    try {
      make(
          "[simulation]\ndt = 0.01\nframes = 1\n[[body]]\nbox = {size = [1, 1, 1], cells = [1, 1, 1]}\nyoung = "
          "1e5\npoisson = 0.3\n[[load]]\nwhere = "
          "\"y-max\"\n" +
          load);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_NE(refusal("presure = 3").find("'pressure'"), std::string::npos) << refusal("presure = 3");
  EXPECT_NE(refusal("pressure = 3\nforce = [0, 0, 0]").find("exclude"), std::string::npos)
      << refusal("pressure = 3\nforce = [0, 0, 0]");
  EXPECT_NE(refusal("force = [0, 0, 1]\nfollows = true").find("'follows' in [[load]] goes with"), std::string::npos);
  EXPECT_NE(refusal("pressure = 3\nkeyframes = [{time = 1, factor = 1}, {time = 0, factor = 1}]").find("must increase"),
            std::string::npos);
  EXPECT_NE(refusal("gas = {pressure = 1e5}").find("have a rim"), std::string::npos);
  EXPECT_NE(refusal("").find("force"), std::string::npos);
}

}  // namespace
}  // namespace pliant
