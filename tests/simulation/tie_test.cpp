// Springs and attachments against theory, under every solver.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "pliant/base/error.hpp"
#include "pliant/sim/anchor.hpp"
#include "pliant/simulation/simulation.hpp"
#include "support/centre_of_mass.hpp"
#include "support/solver_names.hpp"

namespace pliant {
namespace {

std::string block(const std::string& name, const std::string& size, const std::string& cells, const std::string& origin,
                  const std::string& more = "") {
  return fmt::format(
      "[[body]]\nname = \"{}\"\nbox = {{size = {}, cells = {}, origin = {}}}\nmaterial = \"fixed-corotated\"\npoisson "
      "= "
      "0.0\n{}",
      name, size, cells, origin, more);
}

double length(const Simulation& simulation, std::size_t tie) {
  return simulation.model()->ties()->ties()[tie].difference(simulation.state()->x).norm();
}

class TiesOfEverySolver : public ::testing::TestWithParam<std::string> {};

TEST_P(TiesOfEverySolver, AWeightHangsAsLowAsItsSpringsSay) {
  // 1 kg on a spring to a second block, which hangs on a spring to the world.
  Simulation simulation(parse_scene(
      "[simulation]\ndt = 0.02\nframes = 100\n" +
          block("upper", "[0.1, 0.1, 0.1]", "[2, 2, 2]", "[-0.05, 0.4, -0.05]",
                "young = 1e6\ndamping = {mass = 8.0}\n") +
          block("lower", "[0.1, 0.1, 0.1]", "[1, 2, 1]", "[-0.05, 0, -0.05]", "young = 1e6\ndamping = {mass = 8.0}\n") +
          "[[spring]]\nname = \"ceiling\"\nbody = \"upper\"\nat = [0, 0.5, 0]\nto = [0, 0.8, 0]\nstiffness = 400\n"
          "[[spring]]\nname = \"between\"\nbody = \"lower\"\nat = [0, 0.1, 0]\nto_body = \"upper\"\nto = [0, 0.4, 0]\n"
          "stiffness = 200\ndamping = 2\n",
      "hanging", ".", {{}, GetParam()}));
  for (int step = 0; step < 100; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << step << ": " << report.detail;
  }
  EXPECT_NEAR(length(simulation, 0), 0.3 + 2 * 9.81 / 400, 0.01 * 2 * 9.81 / 400);
  EXPECT_NEAR(length(simulation, 1), 0.3 + 9.81 / 200, 0.01 * 9.81 / 200);
}

TEST_P(TiesOfEverySolver, TwoTiedHalvesStretchAsOneBar) {
  // 0.2 m of either, of meshes that do not match, pulled at the lower end.
  const double p = 200, E = 2e4;
  Simulation simulation(parse_scene(
      fmt::format(
          "[simulation]\ndt = 0.02\nframes = 60\ngravity = [0, 0, 0]\n{}{}[[pin]]\nbody = \"upper\"\nwhere = "
          "\"y-max\"\n[[attachment]]\nbody = \"lower\"\nwhere = \"y-max\"\nto_body = \"upper\"\n[[load]]\nbody = "
          "\"lower\"\nwhere = \"y-min\"\ntraction = [0, {}, 0]\nkeyframes = [{{time = 0, factor = 0}}, {{time = "
          "0.2, factor = 1}}]\n",
          block("upper", "[0.2, 0.2, 0.2]", "[2, 2, 2]", "[0, 0.2, 0]",
                fmt::format("young = {}\ndamping = {{mass = 15.0}}\n", E)),
          block("lower", "[0.2, 0.2, 0.2]", "[3, 2, 3]", "[0, 0, 0]",
                fmt::format("young = {}\ndamping = {{mass = 15.0}}\n", E)),
          -p),
      "tied", ".", {{}, GetParam()}));
  for (int step = 0; step < 60; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << step << ": " << report.detail;
  }
  const Body& lower = simulation.model()->bodies()[1];
  double sum = 0;
  for (Index v : lower.sets().at("y-min")) sum -= node(simulation.state()->x, lower.nodes.begin + v).y();
  const double sunk = sum / static_cast<double>(lower.sets().at("y-min").size()), expected = 0.4 * p / E;
  // Ties give way by a hundredth of an element. XPBD stagnates short of the solution (docs/pxpbd.md).
  EXPECT_NEAR(sunk, expected, (GetParam() == "xpbd" ? 0.1 : 0.02) * expected);
}

TEST_P(TiesOfEverySolver, BodiesThatPullEachOtherKeepTheirMomentum) {
  Simulation simulation(parse_scene(
      "[simulation]\ndt = 0.01\nframes = 20\ngravity = [0, 0, 0]\n" +
          block("left", "[0.2, 0.1, 0.1]", "[2, 1, 1]", "[0, 0, 0]", "young = 1e5\nvelocity = [0, 1, 0]\n") +
          block("right", "[0.2, 0.1, 0.1]", "[3, 1, 1]", "[0.3, 0, 0]", "young = 1e5\n") +
          "[[spring]]\nbody = \"left\"\nat = [0.2, 0.05, 0.05]\nto_body = \"right\"\nto = [0.3, 0.05, 0.05]\nstiffness "
          "= 300\ndamping = 1\n",
      "pair", ".", {{}, GetParam()}));
  const Model& model = *simulation.model();
  const auto momentum = [&] {
    Vec3 sum = Vec3::Zero();
    for (Index i = 0; i < model.nodes(); ++i) sum += model.mass().lumped()[i] * node(simulation.state()->v, i);
    return sum;
  };
  const Vec3 before = momentum();
  for (int step = 0; step < 20; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << step << ": " << report.detail;
  }
  EXPECT_LT((momentum() - before).norm(), 1e-4 * before.norm());
  EXPECT_GT(testing::centre_of(simulation, 1).y(), 0.055);  // it has been pulled along
}

INSTANTIATE_TEST_SUITE_P(Ties, TiesOfEverySolver, ::testing::ValuesIn(testing::solver_names()),
                         [](const auto& instance) { return testing::identifier(instance.param); });

TEST(Ties, OfTwoBodiesConserveMomentumToRounding) {
  Simulation simulation(parse_scene(
      "[simulation]\ndt = 0.01\nframes = 20\ngravity = [0, 0, 0]\n" +
          block("left", "[0.2, 0.1, 0.1]", "[2, 1, 1]", "[0, 0, 0]", "young = 1e5\nvelocity = [0, 1, 0]\n") +
          block("right", "[0.2, 0.1, 0.1]", "[3, 2, 2]", "[0.2, 0, 0]", "young = 1e5\n") +
          "[[attachment]]\nbody = \"left\"\nwhere = \"x-max\"\nto_body = \"right\"\ndamping = 2\n[solver]\nname = "
          "\"newton\"\ncriterion = \"residual\"\ntolerance = 1e-9\n",
      "pair"));
  const Model& model = *simulation.model();
  Vec3 before = Vec3::Zero(), after = Vec3::Zero();
  for (Index i = 0; i < model.nodes(); ++i) before += model.mass().lumped()[i] * node(simulation.state()->v, i);
  for (int step = 0; step < 20; ++step) ASSERT_TRUE(simulation.step().succeeded());
  for (Index i = 0; i < model.nodes(); ++i) after += model.mass().lumped()[i] * node(simulation.state()->v, i);
  EXPECT_LT((after - before).norm(), 1e-8);
  for (std::size_t tie = 0; tie < model.ties()->ties().size(); ++tie) EXPECT_LT(length(simulation, tie), 5e-4);
}

TEST(Ties, ADampedSpringFollowsItsRecurrence) {
  // A block so stiff that it moves as a point of 1 kg, along the spring through its centre.
  const double k = 300, c = 6, h = 0.005, m = 1;
  Simulation simulation(parse_scene(
      fmt::format(
          "[simulation]\ndt = {}\nframes = 40\ngravity = [0, 0, 0]\n{}[[spring]]\nat = [0, 0, 0]\nto = [1, 0, "
          "0]\nrest_length = 0.8\nstiffness = {}\ndamping = {}\n[solver]\ncriterion = \"residual\"\ntolerance = "
          "1e-8\n",
          h, block("ball", "[0.1, 0.1, 0.1]", "[2, 2, 2]", "[-0.05, -0.05, -0.05]", "young = 1e9\n"), k, c),
      "damped"));
  double x = 0, v = 0;
  for (int step = 0; step < 40; ++step) {
    ASSERT_TRUE(simulation.step().succeeded());
    v = (v + h * k / m * (0.2 - x)) / (1 + h * c / m + h * h * k / m);
    x += h * v;
    EXPECT_NEAR(testing::centre_of(simulation, 0).x(), x, 1e-4) << step;
  }
}

TEST(Ties, HoldElementsOfHigherOrderAlike) {
  for (int order : {1, 2, 3}) {
    Simulation simulation(parse_scene(
        fmt::format(
            "[simulation]\ndt = 1\nframes = 1\ngravity = [0, 0, 0]\nintegrator = \"quasistatic\"\n{0}{1}[[pin]]"
            "\nbody = \"upper\"\nwhere = \"y-max\"\n[[attachment]]\nbody = \"lower\"\nwhere = \"y-max\"\nto_body "
            "= \"upper\"\n[[load]]\nbody = \"lower\"\nwhere = \"y-min\"\ntraction = [0, -200, 0]\n[solver]\n"
            "criterion = \"residual\"\ntolerance = 1e-8\n",
            block("upper", "[0.2, 0.2, 0.2]", "[2, 2, 2]", "[0, 0.2, 0]",
                  fmt::format("young = 2e4\norder = {}\n", order)),
            block("lower", "[0.2, 0.2, 0.2]", "[3, 2, 3]", "[0, 0, 0]",
                  fmt::format("young = 2e4\norder = {}\n", order))),
        "tied"));
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << report.detail;
    const Body& lower = simulation.model()->bodies()[1];
    double sum = 0;
    for (Index v : lower.sets().at("y-min")) sum -= node(simulation.state()->x, lower.nodes.begin + v).y();
    EXPECT_NEAR(sum / static_cast<double>(lower.sets().at("y-min").size()), 0.004, 0.02 * 0.004) << order;
  }
}

TEST(Anchors, AreAtThePlaceAskedForInAndBesideASolid) {
  const Simulation simulation(
      parse_scene("[simulation]\ndt = 1\nframes = 1\n" +
                      block("box", "[1, 1, 1]", "[3, 2, 2]", "[0, 0, 0]", "young = 1\norder = 2\n"),
                  "anchors"));
  const Body& body = simulation.model()->bodies()[0];
  const AnchorFinder finder(body);
  for (const Vec3& place : {Vec3(0.31, 0.7, 0.52), Vec3(1.1, 0.5, 0.5), Vec3(-0.3, -0.2, 1.2), Vec3(0, 0, 0)}) {
    const Anchor anchor = finder.find(place);
    Vec3 sum = Vec3::Zero();
    double weight = 0;
    for (std::size_t a = 0; a < anchor.nodes.size(); ++a) {
      sum += anchor.weights[a] * body.elements->positions()[at(anchor.nodes[a])];
      weight += anchor.weights[a];
    }
    EXPECT_LT((sum - place).norm(), 1e-12);
    EXPECT_NEAR(weight, 1, 1e-12);
    const Vec3 beside = (-place).cwiseMax(place - Vec3::Ones()).cwiseMax(0);
    EXPECT_NEAR(anchor.distance, beside.norm(), 1e-12);
  }
}

TEST(Ties, ThatAreMisspeltOrFarAwayAreRefusedWithTheRemedy) {
  const auto refusal = [](const std::string& part) {
    try {
      Simulation(parse_scene("[simulation]\ndt = 0.01\nframes = 1\n" +
                                 block("left", "[1, 1, 1]", "[1, 1, 1]", "[0, 0, 0]", "young = 1e5\n") +
                                 block("right", "[1, 1, 1]", "[1, 1, 1]", "[3, 0, 0]", "young = 1e5\n") + part,
                             "ties.toml"));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  const auto expect = [&](const std::string& part, const std::string& message) {
    EXPECT_NE(refusal(part).find(message), std::string::npos) << refusal(part);
  };
  expect("[[spring]]\nbody = \"left\"\nat = [0, 0, 0]\nto = [0, 1, 0]\nstifness = 3", "'stiffness'");
  expect("[[spring]]\nbody = \"left\"\nat = [9, 0, 0]\nto = [0, 1, 0]\nstiffness = 3", "8 m away from body 'left'");
  expect("[[spring]]\nbody = \"lift\"\nat = [0, 0, 0]\nto = [0, 1, 0]\nstiffness = 3", "did you mean 'left'?");
  expect("[[attachment]]\nbody = \"left\"\nwhere = \"x-max\"\nto_body = \"rigt\"", "did you mean 'right'?");
  expect("[[attachment]]\nbody = \"left\"\nwhere = \"x-max\"\nto_body = \"right\"", "2 m away from body 'right'");
  expect("[[attachment]]\nbody = \"left\"\nwhere = \"x-max\"\nto_body = \"left\"", "cannot be attached to itself");
  expect("[[attachment]]\nbody = \"left\"\nwhere = \"x-max\"", "'to_body' or 'link'");
}

TEST(Ties, BetweenBodiesInContactLetThemTouch) {
  Simulation simulation(parse_scene(
      "[simulation]\ndt = 0.01\nframes = 5\n" +
          block("left", "[0.2, 0.1, 0.1]", "[2, 1, 1]", "[0, 0, 0]", "young = 1e5\n") +
          block("right", "[0.2, 0.1, 0.1]", "[3, 2, 2]", "[0.2, 0, 0]", "young = 1e5\n") +
          "[[attachment]]\nbody = \"left\"\nwhere = \"x-max\"\nto_body = \"right\"\n[[collider]]\nplane = {point = [0, "
          "-0.01, 0], normal = [0, 1, 0]}\n[contact]\ndhat = 0.002\n",
      "pair"));
  for (int step = 0; step < 5; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << report.detail;
  }
}

TEST(Ties, AcrossAGapAreNearlyAsStiffAtAnyOrderAndRefusedAcrossALargeOne) {
  const auto sag = [](int order, double gap) {
    Simulation simulation(parse_scene(
        fmt::format(
            "[simulation]\ndt = 1\nframes = 1\ngravity = [0, 0, 0]\nintegrator = \"quasistatic\"\n[[body]]\nname "
            "= \"a\"\nbox = {{size = [0.5, 0.1, 0.1], cells = [6, 2, 2]}}\nyoung = 1e5\npoisson = 0.0\norder = "
            "{}\n[[body]]\nname = \"b\"\nbox = {{size = [0.5, 0.1, 0.1], cells = [7, 3, 3], origin = [{}, 0, "
            "0]}}\nyoung = 1e5\npoisson = 0.0\n[[pin]]\nbody = \"a\"\nwhere = \"x-min\"\n[[attachment]]\nbody = "
            "\"b\"\nwhere = \"x-min\"\nto_body = \"a\"\n[[load]]\nbody = \"b\"\nwhere = \"x-max\"\ntraction = [2000, "
            "0, 0]\n",
            order, 0.5 + gap),
        "gap"));
    EXPECT_TRUE(simulation.step().succeeded());
    return simulation.state()->x[simulation.state()->x.size() - 3] - (1 + gap);
  };
  for (int order : {1, 2, 3}) EXPECT_NEAR(sag(order, 0.02), 0.02 * 1.02, 0.0015) << order;
  EXPECT_THROW(sag(1, 0.1), InputError);
}

TEST(Ties, ReachARigidBodyAcrossAGapUpToTheSizeOfEither) {
  const auto tied = [](double gap) {
    return Simulation(parse_scene(
        fmt::format("[simulation]\ndt = 0.01\nframes = 10\n{}[[rigid]]\nname = \"knob\"\nbox = {{centre = [0.05, {}, "
                    "0.05], size = [0.04, 0.04, 0.04]}}\n[[attachment]]\nbody = \"cube\"\nwhere = "
                    "\"y-max\"\nto_body = \"knob\"\n",
                    block("cube", "[0.1, 0.1, 0.1]", "[2, 2, 2]", "[0, 0, 0]", "young = 1e6\n"), 0.12 + gap),
        "knob"));
  };
  Simulation simulation = tied(0.08);  // larger than the knob, smaller than the cube
  const double before = (testing::centre_of(simulation, 0) - testing::centre_of(simulation, 1)).norm();
  for (int step = 0; step < 10; ++step) ASSERT_TRUE(simulation.step().succeeded());
  EXPECT_NEAR((testing::centre_of(simulation, 0) - testing::centre_of(simulation, 1)).norm(), before, 1e-3);
  try {
    tied(0.3);
    FAIL() << "a gap of 0.3 m is accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("which is 0.0693 m large"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace pliant
