// Rods against theory.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "pliant/base/error.hpp"
#include "pliant/simulation/simulation.hpp"
#include "support/elastica.hpp"
#include "support/solver_names.hpp"

namespace pliant {
namespace {

constexpr int kSegments = 40;
/// Hinges stand for half a segment on both of their sides: with the first one held, n segments are n - 1/2 long.
constexpr double kSegment = 1 / (kSegments - 0.5), kRodRadius = 0.002, kRodYoung = 1e9, kRodDensity = 1000;
constexpr double kRodArea = std::numbers::pi * kRodRadius * kRodRadius,
                 kRodEI = kRodYoung * kRodArea * kRodRadius * kRodRadius / 4;

/// Clamped at one end, pulled across at the other; free length 1.
std::string cantilever(double force) {
  return fmt::format(
      "[[rod]]\npoints = [[{}, 0, 0], [1, 0, 0]]\nsegments = {}\nradius = {}\nyoung = {}\ndensity = {}\n[[pin]]\nwhere "
      "= "
      "\"first-segment\"\n[[load]]\nwhere = \"end\"\nforce = [0, {}, 0]\n",
      -kSegment / 2, kSegments, kRodRadius, kRodYoung, kRodDensity, force);
}

const std::string kStatics = "[simulation]\ndt = 1\nframes = 1\ngravity = [0, 0, 0]\nintegrator = \"quasistatic\"\n";

Vec3 end_of(const Simulation& simulation) {
  return node(simulation.state()->x, simulation.model()->bodies()[0].nodes.end - 1);
}

/// Solvers that need more than their ten iterations for what is far stiffer along than across.
std::vector<std::string> enough_iterations(const std::string& solver) {
  const bool is_slow = solver == "quasi-newton" || solver == "projective-dynamics" || solver == "chebyshev";
  return is_slow ? std::vector<std::string>{"solver.iterations=1000"} : std::vector<std::string>();
}

TEST(RodStatics, SagsAsACantileverDoes) {
  const double F = 0.01 * kRodEI, sag = F / (3 * kRodEI);  // L = 1
  Simulation simulation(
      parse_scene(kStatics + cantilever(-F) + "[solver]\ncriterion = \"residual\"\ntolerance = 1e-8\n", "sag"));
  const StepReport report = simulation.step();
  ASSERT_TRUE(report.succeeded()) << report.detail;
  EXPECT_NEAR(-end_of(simulation).y(), sag, 0.01 * sag);
}

TEST(RodStatics, BendsAsTheElasticaDoes) {
  for (double alpha : {0.5, 2.0, 5.0}) {
    Simulation simulation(parse_scene(
        kStatics + cantilever(-alpha * kRodEI) + "[solver]\ncriterion = \"residual\"\ntolerance = 1e-8\n", "elastica"));
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << report.detail;
    const auto [along, across] = testing::elastica_tip(alpha);
    const Vec3 tip = end_of(simulation);
    EXPECT_NEAR(-tip.y(), across, 0.03 * across) << alpha;
    EXPECT_NEAR(1 - tip.x(), 1 - along, 0.03 * (1 - along)) << alpha;
  }
}

TEST(RodStatics, ARingThatIsStraightAtRestHasTheSameCurvatureEverywhere) {
  // Sprung open from a square: it becomes round, and as long as it was.
  Simulation simulation(parse_scene(
      "[simulation]\ndt = 0.02\nframes = 300\ngravity = [0, 0, 0]\n[[rod]]\npoints = [[0, 0, 0], [1, 0, 0], [1, 1, "
      "0.01], [0, 1, 0]]\nclosed = true\nradius = 0.01\nyoung = 1e7\nrest_curvature = 0\ndamping = {mass = 5.0}\n",
      "ring"));
  for (int step = 0; step < 300; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << report.detail;
  }
  Vec3 centre = Vec3::Zero();
  const VecX& x = simulation.state()->x;
  const Index n = simulation.model()->nodes();
  for (Index i = 0; i < n; ++i) centre += node(x, i) / n;
  const double R = 4 / (2 * std::numbers::pi);
  for (Index i = 0; i < n; ++i) EXPECT_NEAR((Vec3(node(x, i)) - centre).norm(), R, 0.01 * R);
}

TEST(RodStatics, WithoutBendingItHangsAsACatenary) {
  // Between ends 1 m apart, 1.2 m long: a = 0.5/u with sinh(u)/u = 1.2, and it sags by a (cosh u - 1).
  double low = 0.1, high = 3;
  for (int k = 0; k < 100; ++k) {
    const double u = (low + high) / 2;
    (std::sinh(u) / u < 1.2 ? low : high) = u;
  }
  const double a = 0.5 / low, sag = a * (std::cosh(low) - 1);
  // It begins as two straight pieces, 0.6 m long each.
  const double depth = std::sqrt(0.6 * 0.6 - 0.5 * 0.5);
  Simulation simulation(parse_scene(
      fmt::format(
          "[simulation]\ndt = 1\nframes = 1\nintegrator = \"quasistatic\"\n[[rod]]\npoints = [[-0.5, 0, 0], [0, "
          "{}, 0], [0.5, 0, 0]]\nsegments = 60\nradius = 0.005\nyoung = 1e7\nbending = 0\n[[pin]]\nwhere = "
          "[\"start\", \"end\"]\n[solver]\ncriterion = \"residual\"\ntolerance = 1e-8\n",
          -depth),
      "chain"));
  const StepReport report = simulation.step();
  ASSERT_TRUE(report.succeeded()) << report.detail;
  const VecX& x = simulation.state()->x;
  double lowest = 0;
  for (Index i = 0; i < simulation.model()->nodes(); ++i) {
    const Vec3 p = node(x, i);
    lowest = std::min(lowest, p.y());
    EXPECT_NEAR(p.y() + sag, a * (std::cosh(p.x() / a) - 1), 0.01 * sag);
  }
  EXPECT_NEAR(-lowest, sag, 0.01 * sag);
}

TEST(RodStatics, ClampedToARigidBodyByItsFirstSegmentItSagsAsACantileverDoes) {
  const double F = 0.01 * kRodEI, sag = F / (3 * kRodEI);
  std::string scene = cantilever(-F);
  const std::string pin = "[[pin]]\nwhere";
  scene.replace(scene.find(pin), pin.size(),
                "[[rigid]]\nname = \"wall\"\nbox = {centre = [-0.05, 0, 0], size = [0.1, 0.1, 0.1]}\n[[pin]]\nbody = "
                "\"wall\"\nwhere = \"all\"\n[[attachment]]\nbody = \"rod\"\nto_body = \"wall\"\nwhere");
  scene.replace(scene.find("[[load]]\n"), 9, "[[load]]\nbody = \"rod\"\n");
  Simulation simulation(
      parse_scene(kStatics + scene + "[solver]\ncriterion = \"residual\"\ntolerance = 1e-8\n", "clamped"));
  const StepReport report = simulation.step();
  ASSERT_TRUE(report.succeeded()) << report.detail;
  EXPECT_NEAR(-end_of(simulation).y(), sag, 0.01 * sag);
}

TEST(RodStatics, IsHeldBySpringsBetweenItsVerticesToo) {
  // A bar that turns about its start, held by a spring at a: the moments F L and k a^2 tilt are equal. The vertex that
  // is nearest to a is at 0.25.
  const double F = 0.01, L = 1, k = 100, a = 0.3, tilt = F * L / (k * a * a);
  Simulation simulation(
      parse_scene(kStatics + fmt::format("[[rod]]\npoints = [[0, 0, 0], [{}, 0, 0]]\nsegments = 8\nradius = "
                                         "0.02\nyoung = 1e11\n[[pin]]\nwhere = \"start\"\n[[load]]\nwhere = "
                                         "\"end\"\nforce = [0, {}, 0]\n[[spring]]\nat = [{}, 0, 0]\nto = [{}, 1, "
                                         "0]\nstiffness = {}\n[solver]\ncriterion = \"residual\"\ntolerance = 1e-8\n",
                                         L, -F, a, a, k),
                  "lever"));
  const StepReport report = simulation.step();
  ASSERT_TRUE(report.succeeded()) << report.detail;
  EXPECT_NEAR(-end_of(simulation).y(), tilt * L, 0.01 * tilt * L);
}

TEST(RodStatics, TiedIntoABeamStiffensItAsReinforcementDoes) {
  // A cantilever of quadratic elements with four rods along it, 2.1 times as stiff as the beam itself: EI of both, and
  // the beam's shear.
  const double E = 1e6, L = 2, a = 0.2, q = 4, young = 1e9, r = 0.003, arm = 0.05;
  std::string bars;
  for (double y : {-arm, arm})
    for (double z : {-arm, arm})
      bars += fmt::format(
          "[[rod]]\nname = \"bar{0}{1}\"\npoints = [[0, {0}, {1}], [{2}, {0}, {1}]]\nsegments = 20\nradius = "
          "{3}\nyoung = {4}\n[[attachment]]\nbody = \"bar{0}{1}\"\nwhere = \"all\"\nto_body = \"beam\"\n",
          y, z, L, r, young);
  const double EI = E * std::pow(a, 4) / 12 + 4 * young * std::numbers::pi * r * r * arm * arm,
               sag = q * std::pow(L, 4) / (8 * EI) + q * L * L / (2 * (5.0 / 6) * (E / 2) * a * a);
  for (const char* linear : {"linear = \"direct\"", "linear = \"pcg\"\npreconditioner = \"rest-factor\""}) {
    Simulation simulation(parse_scene(
        kStatics +
            fmt::format("[[body]]\nname = \"beam\"\nbox = {{size = [{0}, {1}, {1}], cells = [20, 2, 2], origin = [0, "
                        "-0.1, -0.1]}}\norder = 2\nyoung = {2}\npoisson = 0\n{3}[[pin]]\nbody = \"beam\"\nwhere = "
                        "\"x-min\"\n[[load]]\nbody = \"beam\"\nwhere = \"all\"\nbody_force = [0, -{4}, "
                        "0]\n[solver]\n{5}\n",
                        L, a, E, bars, q / (a * a), linear),
        "reinforced"));
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << linear << ": " << report.detail;
    double lowest = 0;
    const Range nodes = simulation.model()->bodies()[0].nodes;
    for (Index i = nodes.begin; i < nodes.end; ++i)
      lowest = std::min(lowest, node(simulation.state()->x, i).y() - node(simulation.model()->rest(), i).y());
    EXPECT_NEAR(-lowest, sag, 0.03 * sag) << linear;
  }
}

TEST(ClothStatics, WithoutBendingItHangsStraightDownFromTheEdgeThatHoldsIt) {
  // It begins level, where nothing but what is added keeps it from falling without end.
  for (const char* solver : {"pod-newton", "projected-newton"}) {
    Simulation simulation(parse_scene(
        fmt::format(
            "[simulation]\ndt = 1\nframes = 1\nintegrator = \"quasistatic\"\n[[body]]\ncloth = {{size = [1, 1], "
            "cells = [12, 12]}}\ndensity = 0.2\n[[pin]]\nwhere = {{box = {{min = [-0.01, -1, -0.01], max = "
            "[0.01, 1, 2]}}}}\n[solver]\nname = \"{}\"\n",
            solver),
        "cloth"));
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << report.detail;
    EXPECT_LT(report.iterations, 200);
    const VecX &x = simulation.state()->x, &rest = simulation.model()->rest();
    for (Index i = 0; i < simulation.model()->nodes(); ++i) {
      const Vec3 p = node(x, i), p0 = node(rest, i);
      EXPECT_NEAR(p.x(), 0, 0.02);
      EXPECT_NEAR(-p.y(), p0.x(), 0.05 * p0.x() + 1e-9);  // it is stretched by its weight
    }
  }
}

/// Of a clamped rod that is pushed aside, as a multiple of theory: 2 pi/(1.8751^2 sqrt(EI/(m L^4))).
double cantilever_period(const std::string& solver) {
  const double period = 2 * std::numbers::pi / (1.875104 * 1.875104 * std::sqrt(kRodEI / (kRodDensity * kRodArea)));
  const bool midpoint = find_solver(solver).supports.integrators.size() > 1 && solver == "pod-newton";
  const double h = period / (midpoint ? 100 : 400);
  const int steps = midpoint ? 300 : 700;
  std::vector<std::string> settings = enough_iterations(solver);
  if (midpoint) settings.emplace_back("solver.integrator=implicit-midpoint");
  Simulation simulation(parse_scene(
      fmt::format("[simulation]\ndt = {}\nframes = {}\ngravity = [0, 0, 0]\n{}keyframes = [{{time = 0, factor = 1}}, "
                  "{{time = {}, factor = 1}}, {{time = {}, factor = 0}}]\n",
                  h, steps, cantilever(-0.02 * kRodEI), period / 50, period / 40),
      "swing", ".", {settings, solver}));
  std::vector<double> crossings;
  double before = 0;
  for (int step = 1; step <= steps && crossings.size() < 3; ++step) {
    const StepReport report = simulation.step();
    EXPECT_TRUE(report.succeeded()) << solver << ": " << report.detail;
    if (!report.succeeded()) return 0;
    const double y = end_of(simulation).y(), t = simulation.state()->time;
    if (before != 0 && (before < 0) != (y < 0)) crossings.push_back(t - h * y / (y - before));
    before = y;
  }
  return crossings.size() < 3 ? 0 : (crossings[2] - crossings[0]) / period;
}

class RodOfEverySolver : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!find_solver(GetParam()).supports.cloth) GTEST_SKIP() << "it moves solids only";
  }
};

TEST_P(RodOfEverySolver, SwingsAtTheFrequencyOfACantilever) { EXPECT_NEAR(cantilever_period(GetParam()), 1, 0.03); }

TEST_P(RodOfEverySolver, KeepsItsMomentumWhereNothingHoldsIt) {
  // A bent rod is let go, thrown and turning.
  Simulation simulation(parse_scene(
      "[simulation]\ndt = 0.005\nframes = 20\ngravity = [0, 0, 0]\n[[rod]]\npoints = [[0, 0, 0], [0.3, 0.1, 0], [0.5, "
      "0.1, 0.3]]\nsegments = 16\nradius = 0.01\nyoung = 1e6\nrest_curvature = 0\nvelocity = [1, 0.5, "
      "0]\nangular_velocity = [0, 2, 1]\n",
      "thrown", ".", {{}, GetParam()}));
  const auto momentum = [&] {
    Vec3 sum = Vec3::Zero();
    for (Index i = 0; i < simulation.model()->nodes(); ++i)
      sum += simulation.model()->mass().lumped()[i] * node(simulation.state()->v, i);
    return sum;
  };
  const Vec3 before = momentum();
  for (int step = 0; step < 20; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << report.detail;
  }
  EXPECT_LE((momentum() - before).norm(), 1e-8 * before.norm());
}

TEST_P(RodOfEverySolver, FallsAcrossABarAndHangsOverIt) {
  if (find_solver(GetParam()).supports.contact.empty()) GTEST_SKIP() << "it has no contact between surfaces";
  Simulation simulation(parse_scene(
      "[simulation]\ndt = 0.01\nframes = 40\n[[rod]]\nname = \"rope\"\npoints = [[-0.3, 0.06, 0], [0.3, 0.06, "
      "0]]\nsegments = 24\nradius = 0.004\nyoung = 2e6\ndensity = 800\nbending = 0.2\ndamping = {mass = "
      "2.0}\n[[body]]\nbox "
      "= {size = [0.1, 0.1, 0.1], cells = [1, 1, 1], origin = [-0.05, -0.05, -0.05]}\nyoung = 1e6\npoisson = "
      "0.3\n[[pin]]\nbody = \"body\"\nwhere = \"all\"\n[contact]\nfriction = 0.4\n",
      "rope", ".", {{}, GetParam()}));
  double gap = 1;
  for (int step = 0; step < 40; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << report.detail;
    gap = std::min(gap, report.minimum_gap);
  }
  EXPECT_GT(gap, 0);
  const Body& rope = simulation.model()->bodies()[1];
  const VecX& x = simulation.state()->x;
  // Above the box it lies on it, and its ends hang down on both sides.
  EXPECT_GT(node(x, rope.nodes.begin + 12).y(), 0.05);
  EXPECT_LT(node(x, rope.nodes.begin).y(), 0);
  EXPECT_LT(node(x, rope.nodes.end - 1).y(), 0);
}

INSTANTIATE_TEST_SUITE_P(Rods, RodOfEverySolver, ::testing::ValuesIn(testing::solver_names()),
                         [](const auto& instance) { return testing::identifier(instance.param); });

TEST(RodContact, TwoRodsThatCrossDoNotPassThroughEachOther) {
  // One falls across another that is held at both ends: edges against edges, and nothing else.
  Simulation simulation(parse_scene(
      "[simulation]\ndt = 0.005\nframes = 80\n[[rod]]\nname = \"held\"\npoints = [[-0.2, 0, 0], [0.2, 0, 0]]\nsegments "
      "= "
      "12\nradius = 0.003\nyoung = 1e8\n[[rod]]\nname = \"falling\"\npoints = [[0.007, 0.03, -0.2], [0.007, 0.03, "
      "0.2]]\nsegments = 12\nradius = 0.003\nyoung = 1e7\ndamping = {mass = 3.0}\n[[pin]]\nbody = \"held\"\nwhere = "
      "[\"first-segment\", \"last-segment\"]\n[contact]\nfriction = 0.5\n",
      "crossed"));
  for (int step = 0; step < 80; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << report.detail;
    ASSERT_GT(report.minimum_gap, 0);
  }
  const Body& falling = simulation.model()->bodies()[1];
  EXPECT_GT(node(simulation.state()->x, falling.nodes.begin + 6).y(), -0.03);
  EXPECT_LT(node(simulation.state()->x, falling.nodes.begin + 6).y(), 0.01);
}

TEST(RodContact, RodsThatBeginAcrossEachOtherAreNamedWithTheWayOut) {
  const auto detail = [](const std::string& rods) {
    Simulation simulation(parse_scene("[simulation]\ndt = 0.01\nframes = 1\n[contact]\n" + rods, "across"));
    const StepReport report = simulation.step();
    EXPECT_EQ(report.outcome, Outcome::intersecting_start);
    return report.detail;
  };
  const auto rod = [](const char* name, const char* points) {
    return fmt::format("[[rod]]\nname = \"{}\"\npoints = {}\nradius = 0.01\nyoung = 1e7\nsegments = 10\n", name,
                       points);
  };
  const std::string lying = rod("lying", "[[-1, 0, 0], [1, 0, 0]]");
  for (const char* other : {"[[0, 0, -1], [0, 0, 1]]", "[[0.05, 0, -0.95], [0.05, 0, 1.05]]",  // at a vertex, between
                            "[[-0.93, 0, 0], [1.07, 0, 0]]"}) {                                // and along
    const std::string text = detail(lying + rod("other", other));
    EXPECT_NE(text.find("'lying' and 'other' touch exactly, near ("), std::string::npos) << text;
    EXPECT_NE(text.find("move 'other' by ("), std::string::npos) << text;
  }
  const std::string text = detail(rod("knot", "[[0, 0, 0], [1, 0, 0], [1, 1, 0], [0.5, -1, 0]]"));
  EXPECT_NE(text.find("'knot' touches itself exactly, near (0.75, 0, 0)"), std::string::npos) << text;
  const std::string floor = detail(lying + "[[collider]]\nname = \"floor\"\nplane = {}\n");
  EXPECT_NE(floor.find("'lying' touches plane 'floor' exactly, near ("), std::string::npos) << floor;
}

TEST(RodScene, IsRefusedWithTheRemedy) {
  const auto refusal = [](const std::string& text, const std::string& solver = "") {
    try {
      Simulation(parse_scene("[simulation]\ndt = 0.01\nframes = 1\n" + text, "rod.toml", ".", {{}, solver}));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const auto expect = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  const std::string line = "[[rod]]\npoints = [[0, 0, 0], [1, 0, 0]]\n";
  EXPECT_EQ(refusal(line + "radius = 0.01\nyoung = 1e7\n"), "accepted");
  expect(refusal(line + "young = 1e7\n"), "'radius' is missing in [[rod]]; for example: radius = 0.002");
  expect(refusal(line + "radius = 0.01\nyoung = 1e7\nrest_curvatur = 1\n"), "did you mean 'rest_curvature'?");
  EXPECT_EQ(refusal("[[rod]]\npoints = [[0, 0, 0]]\nradius = 0.01\nyoung = 1e7\n"),
            "rod.toml:4: a rod needs at least 2 points, not 1");
  expect(refusal("[[rod]]\npoints = [[0, 0], [1, 0]]\nradius = 0.01\nyoung = 1e7\n"), "a list of points [x, y, z]");
  expect(refusal(line + "radius = 0.01\nyoung = 1e7\n", "warp-canceling"), "is a rod, and it moves solids only");
  expect(refusal(line + "radius = 0.01\nyoung = 1e7\n[[probe]]\nwhere = \"all\"\nquantities = [\"stress\"]\n"),
         "'rod' is a rod, which has no stress and no volume here");
  expect(refusal(line + "radius = 0.01\nyoung = 1e7\n[[load]]\nwhere = \"all\"\npressure = 10\n"), "has no surface");
  EXPECT_EQ(refusal(line + "radius = 0.01\nyoung = 1e7\n[[probe]]\nwhere = \"all\"\nquantities = [\"cavity\"]\n"),
            "rod.toml:8: probe 'probe': body 'rod' has no surface, and so no cavity");
  expect(refusal("[[body]]\nbox = {size = [1, 1, 1], cells = [1, 1, 1], origin = [-0.5, -0.5, -0.5]}\nyoung = "
                 "1e6\npoisson = 0.3\n[[rod]]\npoints = [[-0.1, 0, 0], [0.1, 0, 0]]\nradius = 0.01\nyoung = "
                 "1e7\n[contact]\n"),
         "body 'rod' begins inside body 'body'");
}

}  // namespace
}  // namespace pliant
