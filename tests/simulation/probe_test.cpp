#include "pliant/simulation/probe.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "pliant/base/error.hpp"

namespace pliant {
namespace {

constexpr const char* kBlock =
    "[[body]]\nname = \"block\"\nbox = {size = [0.2, 0.4, 0.2], cells = [2, 4, 2]}\nyoung = 1e5\npoisson = "
    "0.3\ndensity = "
    "1200\n";
constexpr double kWeight = 0.2 * 0.4 * 0.2 * 1200 * 9.81;

Simulation probed(const std::string& text, const std::string& solver = "") {
  return Simulation(parse_scene(text, "probes", ".", {{}, solver}));
}

std::map<std::string, double> see(Simulation& simulation) {
  const ProbeSet probes(simulation.scene(), simulation.model());
  const std::vector<double> values = probes.sample(simulation);
  EXPECT_EQ(values.size(), probes.columns().size());
  std::map<std::string, double> named;
  for (std::size_t k = 0; k < values.size(); ++k) named[probes.columns()[k]] = values[k];
  return named;
}

TEST(Probes, FindThatReactionsBalanceTheWeight) {
  for (const std::string order : {"1", "2"}) {
    Simulation simulation = probed(
        "[simulation]\ndt = 1\nframes = 1\nintegrator = \"quasistatic\"\n" + std::string(kBlock) + "order = " + order +
        "\n[[pin]]\nname = \"low\"\nwhere = \"y-min\"\n[[pin]]\nname = \"high\"\nwhere = \"y-max\"\naxes = "
        "\"y\"\n[[probe]]\n"
        "name = \"all\"\nquantities = [\"reaction\"]\n[[probe]]\nname = \"foot\"\nwhere = \"y-min\"\nquantities = "
        "[\"reaction\"]\n[solver]\ncriterion = \"residual\"\ntolerance = 1e-11\n");
    EXPECT_TRUE(std::isnan(see(simulation).at("all.reaction_y (N)")));
    ASSERT_TRUE(simulation.step().succeeded());
    const auto seen = see(simulation);
    EXPECT_NEAR(seen.at("all.reaction_y (N)"), kWeight, 1e-8 * kWeight);
    EXPECT_NEAR(seen.at("all.reaction_x (N)"), 0, 1e-8 * kWeight);
    EXPECT_GT(seen.at("foot.reaction_y (N)"), 0.5 * kWeight);  // the head carries its share
    EXPECT_LT(seen.at("foot.reaction_y (N)"), 0.7 * kWeight);
  }
}

/// Pins, scripts that are imposed and scripts by penalty, in motion: what holds makes up for weight and inertia.
TEST(Probes, FindTheForcesOfScriptsOfBothKinds) {
  for (const std::string imposition : {"direct", "penalty"}) {
    Simulation simulation = probed(fmt::format(
        "[simulation]\ndt = 0.01\nframes = 20\n{}[[script]]\nwhere = \"y-min\"\ntranslate = [0.1, 0, 0]\ntimes = [0, "
        "0.2]\nimposition = \"{}\"\n[[probe]]\nquantities = [\"reaction\", \"velocity\"]\n[solver]\ncriterion = "
        "\"residual\"\ntolerance = 1e-9\n",
        kBlock, imposition));
    for (int step = 0; step < 20; ++step) {
      const auto momentum = [&] {
        Vec3 sum = Vec3::Zero();
        for (Index i = 0; i < simulation.model()->nodes(); ++i)
          sum += simulation.model()->mass().lumped()[i] * node(simulation.state()->v, i);
        return sum;
      };
      const Vec3 before = momentum();
      ASSERT_TRUE(simulation.step().succeeded());
      const auto seen = see(simulation);
      const Vec3 change = (momentum() - before) / 0.01;
      EXPECT_NEAR(seen.at("probe.reaction_y (N)") - kWeight, change.y(), 1e-7 * kWeight);
      EXPECT_NEAR(seen.at("probe.reaction_x (N)"), change.x(), 1e-7 * kWeight);
    }
  }
}

TEST(Probes, SeeVolumeStressEnergyAndMotion) {
  Simulation simulation = probed(fmt::format(
      "[simulation]\ndt = 1\nframes = 1\ngravity = [0, 0, 0]\nintegrator = \"quasistatic\"\n{}[[pin]]\nname = "
      "\"low\"\nwhere = \"y-min\"\naxes = \"y\"\n[[pin]]\nname = \"x\"\nwhere = \"x-min\"\naxes = \"x\"\n[[pin]]\nname "
      "= "
      "\"z\"\nwhere = \"z-min\"\naxes = \"z\"\n[[load]]\nwhere = \"y-max\"\ntraction = [0, 500, 0]\n[[probe]]\nname = "
      "\"body\"\nquantities = [\"stress\", \"volume\", \"energy\", \"position\"]\n[[probe]]\nname = \"top\"\nwhere = "
      "\"y-max\"\nquantities = [\"displacement\", \"contact_force\"]\n[solver]\ncriterion = \"residual\"\ntolerance = "
      "1e-10\n",
      kBlock));
  ASSERT_TRUE(simulation.step().succeeded());
  const auto seen = see(simulation);
  // A bar under tension: stress 500 Pa (per area at rest) along y alone, strain 0.5%, energy half of force times way.
  EXPECT_NEAR(seen.at("body.stress_yy (Pa)"), 500, 0.01 * 500);
  EXPECT_NEAR(seen.at("body.von_mises (Pa)"), 500, 0.01 * 500);
  EXPECT_NEAR(seen.at("body.stress_xx (Pa)"), 0, 1e-6);
  EXPECT_NEAR(seen.at("body.stress_xy (Pa)"), 0, 1e-6);
  const double way = seen.at("top.displacement_y (m)");
  EXPECT_NEAR(way, 0.4 * 500 / 1e5, 0.01 * 0.4 * 500 / 1e5);
  EXPECT_NEAR(seen.at("body.volume (m^3)"), 0.016 * (1 + 0.4 * 500 / 1e5), 0.016 * 2e-5);
  EXPECT_NEAR(seen.at("body.elastic_energy (J)"), 0.5 * 500 * 0.04 * way, 0.01 * 0.5 * 500 * 0.04 * way);
  double kinetic = 0;  // of the velocities that a static step leaves: the way over its duration
  for (Index i = 0; i < simulation.model()->nodes(); ++i)
    kinetic += 0.5 * simulation.model()->mass().lumped()[i] *
               (node(simulation.state()->x, i) - node(simulation.model()->rest(), i)).squaredNorm();
  EXPECT_NEAR(seen.at("body.kinetic_energy (J)"), kinetic, 1e-12 * kinetic);
  EXPECT_EQ(seen.at("top.contact_force_y (N)"), 0);
}

TEST(Probes, FindTheContactForceOfABlockAtRest) {
  Simulation simulation =
      probed(fmt::format("[simulation]\ndt = 0.01\nframes = 200\n{}translate = [0, 0.001, 0]\ndamping = {{mass = "
                         "20}}\n[[collider]]\nplane = "
                         "{{point = [0, 0, 0], normal = [0, 1, 0]}}\n[[probe]]\nquantities = [\"contact_force\"]\n",
                         kBlock));
  for (int step = 0; step < 200; ++step) ASSERT_TRUE(simulation.step().succeeded());
  EXPECT_NEAR(see(simulation).at("probe.contact_force_y (N)"), kWeight, 0.01 * kWeight);
}

TEST(Probes, OfNothingAreRefused) {
  const auto refusal = [](const std::string& probe) {
    try {
      probed("[simulation]\ndt = 1\nframes = 1\n" + std::string(kBlock) + "[[probe]]\n" + probe);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_NE(refusal("where = \"x > 5\"").find("selects no vertex of body 'block'"), std::string::npos);
  EXPECT_NE(refusal("where = \"y-min\"\nquantities = [\"stress\"]").find("no element of body"), std::string::npos);
  EXPECT_NE(refusal("where = \"y-min\"\nquantities = [\"cavity\"]").find("have a rim"), std::string::npos);
  EXPECT_NE(refusal("quantities = [\"displacment\"]").find("displacement"), std::string::npos);
  EXPECT_EQ(refusal("quantities = [\"displacement\"]"), "none");
}

}  // namespace
}  // namespace pliant
