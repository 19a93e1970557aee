// Attachments that slide, against theory, under every solver.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>

#include "pliant/base/error.hpp"
#include "pliant/simulation/probe.hpp"
#include "pliant/simulation/simulation.hpp"
#include "support/centre_of_mass.hpp"
#include "support/models.hpp"
#include "support/solver_names.hpp"

namespace pliant {
namespace {

using testing::centre_of;

std::string cube(const std::string& more = "") {
  return "[[body]]\nname = \"cube\"\nbox = {size = [0.1, 0.1, 0.1], cells = [2, 2, 2]}\nmaterial = "
         "\"fixed-corotated\"\nyoung = 1e6\npoisson = 0.3\n" +
         more;
}

constexpr double kStep = 0.01;
constexpr int kSlidingSteps = 30;

/// Where a cube comes to on a slope of 30 degrees: how far down it, and how far from it.
Vec3 slide(const std::string& attachment, const std::string& solver, const std::string& more = "") {
  Simulation simulation(parse_scene(fmt::format("[simulation]\ndt = {}\nframes = {}\n{}[[attachment]]\nwhere = "
                                                "\"y-min\"\n{}",
                                                kStep, kSlidingSteps, cube(more), attachment),
                                    "slope", ".", {{}, solver}));
  for (int step = 0; step < kSlidingSteps; ++step) {
    const StepReport report = simulation.step();
    EXPECT_TRUE(report.succeeded()) << solver << ", step " << step << ": " << report.detail;
  }
  return centre_of(simulation, 0) - testing::mean_over_mass(simulation, 0, simulation.model()->rest());
}

class SlidingOfEverySolver : public ::testing::TestWithParam<std::string> {};

TEST_P(SlidingOfEverySolver, ABodyGoesDownALineAsItsWeightSays) {
  const Vec3 down(std::sqrt(0.75), -0.5, 0);
  const Vec3 moved = slide(fmt::format("along = [{}, {}, 0]\n", down.x(), down.y()), GetParam());
  // g sin 30, by implicit Euler: h^2 (1 + 2 + ... + n).
  const double expected = 9.81 * 0.5 * kStep * kStep * kSlidingSteps * (kSlidingSteps + 1) / 2;
  EXPECT_NEAR(moved.dot(down), expected, 0.01 * expected);
  EXPECT_LT((moved - moved.dot(down) * down).norm(), 2e-3);  // what the cube gives way by
}

TEST_P(SlidingOfEverySolver, ABodyGoesOverAPlaneAsItsWeightAndSpeedSay) {
  const Vec3 down(std::sqrt(0.75), -0.5, 0), normal(0.5, std::sqrt(0.75), 0);
  const Vec3 moved =
      slide(fmt::format("across = [{}, {}, 0]\n", normal.x(), normal.y()), GetParam(), "velocity = [0, 0, 1]\n");
  const double expected = 9.81 * 0.5 * kStep * kStep * kSlidingSteps * (kSlidingSteps + 1) / 2;
  EXPECT_NEAR(moved.dot(down), expected, 0.01 * expected);
  EXPECT_NEAR(moved.z(), kStep * kSlidingSteps, 0.01 * kStep * kSlidingSteps);
  EXPECT_LT(std::abs(moved.dot(normal)), 2e-3);
}

INSTANTIATE_TEST_SUITE_P(Sliding, SlidingOfEverySolver, ::testing::ValuesIn(testing::solver_names()),
                         [](const auto& instance) { return testing::identifier(instance.param); });

/// A bead on a rod that turns at w: r'' = w^2 r, so that it leaves as cosh(w t).
TEST(Sliding, OnATurningRodABeadIsThrownOutAsTheCoshSays) {
  for (const char* solver : {"newton", "pod-newton", "quasi-newton", "corotational", "stiffness-warping",
                             "warp-canceling", "linearly-implicit"}) {
    const double w = 4, h = 0.0025;
    Simulation simulation(parse_scene(
        fmt::format(
            "[simulation]\ndt = {}\nframes = 100\ngravity = [0, 0, 0]\n[[rigid]]\nname = \"rod\"\nbox = {{centre = "
            "[0.5, 0, 0], size = [1, 0.02, 0.02]}}\ndensity = 8000\nvelocity = [0, {}, 0]\nangular_velocity = [0, 0, "
            "{}]\n[[joint]]\nname = \"axle\"\nbody = \"rod\"\nkind = \"hinge\"\nat = [0, 0, 0]\naxis = [0, 0, "
            "1]\nmotor = "
            "[{{time = 0, angle = 0}}, {{time = 1, angle = {}}}]\n[[body]]\nname = \"bead\"\nbox = {{size = [0.04, "
            "0.04, 0.04], cells = [1, 1, 1], origin = [0.18, -0.02, -0.02]}}\nmaterial = \"fixed-corotated\"\nyoung = "
            "1e6\npoisson = 0.3\nvelocity = [0, {}, 0]\nangular_velocity = [0, 0, {}]\n[[attachment]]\nbody = "
            "\"bead\"\nwhere = \"all\"\nto_body = \"rod\"\nalong = [1, 0, 0]\n",
            h, 0.5 * w, w, w * 180 / std::numbers::pi, 0.2 * w, w),
        "rod", ".", {{}, solver}));
    for (int step = 0; step < 100; ++step) {
      const StepReport report = simulation.step();
      ASSERT_TRUE(report.succeeded()) << solver << ": " << report.detail;
    }
    const Vec3 place = centre_of(simulation, 0);
    const double expected = 0.2 * std::cosh(w * 100 * h);
    EXPECT_NEAR(place.norm(), expected, 0.02 * expected) << solver;
    EXPECT_NEAR(std::atan2(place.y(), place.x()), w * 100 * h, 0.02) << solver;
  }
}

TEST(Sliding, KeepsTheMomentumOfASoftAndARigidBody) {
  Simulation simulation(parse_scene(
      "[simulation]\ndt = 0.01\nframes = 20\ngravity = [0, 0, 0]\n" +
          cube("velocity = [1, 0.5, 0]\nangular_velocity = [0, 0, 3]\n") +
          "[[rigid]]\nname = \"block\"\nbox = {centre = [0.05, -0.1, 0.05], size = [0.3, 0.1, "
          "0.1]}\n[[attachment]]\nbody "
          "= \"cube\"\nwhere = \"y-min\"\nto_body = \"block\"\nacross = [0, 1, 0]\ndamping = 2\n[solver]\nname = "
          "\"newton\"\ncriterion = \"residual\"\ntolerance = 1e-9\n",
      "pair"));
  const auto momentum = [&] { return testing::momentum(*simulation.model(), *simulation.state()); };
  const Vec3 before = momentum();
  for (int step = 0; step < 20; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << report.detail;
  }
  EXPECT_LT((momentum() - before).norm(), 1e-8);
}

TEST(Sliding, IsResistedByItsDampingUnderEverySolver) {
  // c x' = m g sin a in the end; 9 ties of c = 20/9 each, 1 kg.
  for (const std::string& solver : testing::solver_names()) {
    Simulation simulation(parse_scene(
        fmt::format("[simulation]\ndt = 0.01\nframes = 60\n{}[[attachment]]\nwhere = \"y-min\"\nalong = [{}, -0.5, "
                    "0]\ndamping = {}\n",
                    cube(), std::sqrt(0.75), 20.0 / 9),
        "damped", ".", {{}, solver}));
    for (int step = 0; step < 60; ++step) {
      const StepReport report = simulation.step();
      ASSERT_TRUE(report.succeeded()) << solver << ": " << report.detail;
    }
    EXPECT_NEAR(testing::mean_over_mass(simulation, 0, simulation.state()->v).norm(), 9.81 * 0.5 / 20, 0.01) << solver;
  }
}

TEST(Sliding, OnASoftBodyFollowsTheElementItBeganIn) {
  // The slab turns as a whole, and takes the line with it.
  Simulation simulation(parse_scene(
      "[simulation]\ndt = 0.01\nframes = 10\ngravity = [0, 0, 0]\n[[body]]\nname = \"slab\"\nbox = {size = [1, 0.2, "
      "0.2], cells = [4, 1, 1]}\nmaterial = \"fixed-corotated\"\nyoung = 1e7\npoisson = 0.3\n[[script]]\nbody = "
      "\"slab\"\nwhere = \"all\"\nrotate = {axis = [0, 0, 1], angle = 90}\ntimes = [0, 0.1]\nimposition = "
      "\"direct\"\n[[body]]\nname = \"bead\"\nbox = {size = [0.1, 0.1, 0.1], cells = [1, 1, 1], origin = [0.4, 0.2, "
      "0.05]}\nmaterial = \"fixed-corotated\"\nyoung = 1e6\npoisson = 0.3\ndensity = 10\n[[attachment]]\nbody = "
      "\"bead\"\nwhere = \"y-min\"\nto_body = \"slab\"\nalong = [1, 0, 0]\n",
      "slab"));
  for (int step = 0; step < 10; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << report.detail;
  }
  // It has been thrown outwards along the slab, which now points upwards: its lower face is at x = -0.2.
  const Body& bead = simulation.model()->bodies()[1];
  for (Index v : bead.sets().at("y-min"))
    EXPECT_NEAR(node(simulation.state()->x, bead.nodes.begin + v).x(), -0.2, 0.01);
  EXPECT_GT(centre_of(simulation, 1).y(), 0.5);
}

TEST(Sliding, ThatIsMisspeltOrImpossibleIsRefusedWithTheRemedy) {
  const auto refusal = [](const std::string& part) {
    try {
      Simulation(
          parse_scene("[simulation]\ndt = 0.01\nframes = 1\n" + cube() +
                          "[[body]]\nname = \"sheet\"\ncloth = {size = [1, 1], cells = [2, 2]}\n[[body]]\nname = "
                          "\"soft\"\nbox = {size = [1, 1, 1], cells = [1, 1, 1], origin = [0, -1, 0]}\nyoung = "
                          "1e5\npoisson = 0.3\n[[rigid]]\nname = \"stone\"\nsphere = {centre = [0, 5, 0], radius "
                          "= 1}\n" +
                          part,
                      "sliding.toml"));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  const auto expect = [&](const std::string& part, const std::string& message) {
    EXPECT_NE(refusal(part).find(message), std::string::npos) << refusal(part);
  };
  const std::string cube_slides = "[[attachment]]\nbody = \"cube\"\nwhere = \"y-min\"\n";
  expect(cube_slides + "alonge = [1, 0, 0]", "'along'");
  expect(cube_slides + "along = [0, 0, 0]", "it is a direction");
  expect(cube_slides + "along = [1, 0, 0]\nacross = [0, 1, 0]", "across");
  expect(cube_slides, "'along' or 'across'");
  expect(cube_slides + "to_body = \"sheet\"\nalong = [1, 0, 0]", "is no solid");
  expect(cube_slides + "to_body = \"soft\"\nacross = [0, 1, 0]", "[contact] without friction");
  expect("[[attachment]]\nbody = \"stone\"\nwhere = \"all\"\nalong = [1, 0, 0]", "kind = \"slider\"");
}

/// The columns of a probe after a run.
std::map<std::string, double> probed(Simulation& simulation, int steps) {
  for (int step = 0; step < steps; ++step) EXPECT_TRUE(simulation.step().succeeded());
  const ProbeSet probes(simulation.scene(), simulation.model());
  const std::vector<double> values = probes.sample(simulation);
  std::map<std::string, double> columns;
  for (std::size_t k = 0; k < values.size(); ++k) columns[probes.columns()[k]] = values[k];
  return columns;
}

TEST(Probes, OfSpringsAttachmentsAndJointsFindTheWeightTheyCarry) {
  Simulation simulation(parse_scene(
      "[simulation]\ndt = 0.02\nframes = 200\n[[body]]\nname = \"upper\"\nbox = {size = [0.1, 0.1, 0.1], cells = [2, "
      "2, "
      "2]}\nyoung = 1e6\npoisson = 0.3\ndamping = {mass = 8.0}\n[[body]]\nname = \"lower\"\nbox = {size = [0.1, 0.1, "
      "0.1], cells = [1, 1, 1], origin = [0, -0.1, 0]}\nyoung = 1e6\npoisson = 0.3\ndamping = {mass = "
      "8.0}\n[[attachment]]\nname = \"glue\"\nbody = \"lower\"\nwhere = \"y-max\"\nto_body = "
      "\"upper\"\n[[spring]]\nname "
      "= \"rope\"\nbody = \"upper\"\nat = [0.05, 0.1, 0.05]\nto = [0.05, 0.5, 0.05]\nstiffness = 400\ndamping = "
      "2\n[[rigid]]\nname = \"stone\"\nbox = {centre = [1, 0, 0], size = [0.1, 0.1, 0.1]}\ndensity = "
      "2000\n[[joint]]\nname = "
      "\"nail\"\nbody = \"stone\"\nkind = \"fixed\"\nat = [1, 0, 0]\n[[probe]]\nname = \"r\"\nspring = "
      "\"rope\"\nquantities = [\"force\", \"length\"]\n[[probe]]\nname = \"g\"\nattachment = \"glue\"\n[[probe]]\nname "
      "= "
      "\"n\"\njoint = \"nail\"\n",
      "hung"));
  const auto columns = probed(simulation, 200);
  EXPECT_NEAR(columns.at("r.force_y (N)"), 2 * 9.81, 0.02);
  EXPECT_NEAR(columns.at("r.force_x (N)"), 0, 0.02);
  EXPECT_NEAR(columns.at("r.length (m)"), 0.4 + 2 * 9.81 / 400, 1e-4);
  EXPECT_NEAR(columns.at("g.force_y (N)"), 9.81, 0.02);
  EXPECT_NEAR(columns.at("n.force_y (N)"), 2 * 9.81, 0.02);
}

TEST(Probes, OfTiesThatAreNotThereOrOfOtherQuantitiesAreRefused) {
  const auto refusal = [](const std::string& part) {
    try {
      parse_scene("[simulation]\ndt = 0.02\nframes = 1\n" + cube() +
                      "[[spring]]\nname = \"rope\"\nat = [0, 0, 0]\nto = [0, 1, 0]\nstiffness = 4\n[[probe]]\n" + part,
                  "probe.toml");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  const auto expect = [&](const std::string& part, const std::string& message) {
    EXPECT_NE(refusal(part).find(message), std::string::npos) << refusal(part);
  };
  expect("spring = \"rop\"", "did you mean 'rope'?");
  expect("joint = \"elbow\"", "there is no joint 'elbow'");
  expect("spring = \"rope\"\nquantities = [\"stress\"]", "springs, attachments and joints have");
  expect("quantities = [\"force\"]", "spring = \"rope\"");
  expect("spring = \"rope\"\nwhere = \"x-min\"", "does not go with 'spring'");
  expect("sprung = \"rope\"", "'spring'");
}

}  // namespace
}  // namespace pliant
