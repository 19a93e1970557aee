// Rigid bodies and their joints against theory, under every solver that moves them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

#include "pliant/base/error.hpp"
#include "pliant/simulation/simulation.hpp"
#include "support/centre_of_mass.hpp"
#include "support/models.hpp"
#include "support/solver_names.hpp"

namespace pliant {
namespace {

constexpr double kGravity = 9.81;

using testing::centre_of;

Vec3 momentum_of(const Simulation& simulation) { return testing::momentum(*simulation.model(), *simulation.state()); }

Vec3 angular_momentum_of(const Simulation& simulation) {
  const Model& model = *simulation.model();
  Vec3 sum = Vec3::Zero();
  for (Index i = 0; i < model.nodes(); ++i)
    sum += model.mass().lumped()[i] * Vec3(node(simulation.state()->x, i)).cross(Vec3(node(simulation.state()->v, i)));
  return sum;
}

/// The greatest singular value of the deformation from rest, less one, and the same of the least.
double strain_of(const Simulation& simulation, std::size_t body) {
  const Body& of = simulation.model()->bodies()[body];
  Mat3 rest, now;
  for (int k = 0; k < 3; ++k) {
    rest.col(k) =
        node(simulation.model()->rest(), of.nodes.begin + k + 1) - node(simulation.model()->rest(), of.nodes.begin);
    now.col(k) = node(simulation.state()->x, of.nodes.begin + k + 1) - node(simulation.state()->x, of.nodes.begin);
  }
  const Mat3 F = now * rest.inverse();
  return (F.transpose() * F - Mat3::Identity()).norm() / 2;
}

TEST(RigidBodies, HaveTheMassAndTheInertiaOfTheirShapes) {
  const auto inertia_of = [](const std::string& shape) {
    Simulation simulation(
        parse_scene("[simulation]\ndt = 0.01\nframes = 1\n[[rigid]]\ndensity = 500\n" + shape, "one"));
    const Model& model = *simulation.model();
    EXPECT_EQ(model.nodes(), 4);
    const Vec3 centre = centre_of(simulation, 0);
    Mat3 inertia = Mat3::Zero();
    for (Index i = 0; i < 4; ++i) {
      const Vec3 p = node(model.rest(), i) - centre;
      inertia += model.mass().lumped()[i] * (p.squaredNorm() * Mat3::Identity() - p * p.transpose());
    }
    return std::pair(model.mass().lumped().sum(), inertia);
  };
  const auto [box_mass, box] = inertia_of("box = {centre = [1, 2, 3], size = [0.2, 0.4, 0.6]}\n");
  EXPECT_NEAR(box_mass, 500 * 0.048, 1e-9);
  EXPECT_NEAR(box(0, 0), box_mass * (0.16 + 0.36) / 12, 1e-9);
  EXPECT_NEAR(box(1, 1), box_mass * (0.04 + 0.36) / 12, 1e-9);
  EXPECT_NEAR(box(2, 2), box_mass * (0.04 + 0.16) / 12, 1e-9);
  EXPECT_NEAR(box(0, 1), 0, 1e-9);
  const auto [ball_mass, ball] = inertia_of("sphere = {centre = [0, 1, 0], radius = 0.3}\n");
  EXPECT_NEAR(ball_mass, 500 * 4 * std::numbers::pi / 3 * 0.027, 1e-9);
  EXPECT_LT((ball - 0.4 * ball_mass * 0.09 * Mat3::Identity()).norm(), 1e-9);
  const auto [turned_mass, turned] =
      inertia_of("box = {size = [0.2, 0.4, 0.6]}\nrotate = {axis = [1, 2, 3], angle = 50}\n");
  const Mat3 R = Eigen::AngleAxisd(50 * std::numbers::pi / 180, Vec3(1, 2, 3).normalized()).toRotationMatrix();
  EXPECT_NEAR(turned_mass, box_mass, 1e-9);
  EXPECT_LT((turned - R * box * R.transpose()).norm(), 1e-9);
}

/// Twice the time between the first two passes of its first body through x = 0, s; steps of h.
double period_of(Simulation& simulation, double h) {
  std::vector<double> crossings;
  double before = centre_of(simulation, 0).x();
  for (int step = 0; step < 300 && crossings.size() < 2; ++step) {
    const StepReport report = simulation.step();
    EXPECT_TRUE(report.succeeded()) << step << ": " << report.detail;
    const double now = centre_of(simulation, 0).x();
    if (before * now < 0) crossings.push_back(h * (step + before / (before - now)));
    before = now;
  }
  return crossings.size() == 2 ? 2 * (crossings[1] - crossings[0]) : 0;
}

class RigidBodiesOfEverySolver : public ::testing::TestWithParam<std::string> {};

TEST_P(RigidBodiesOfEverySolver, APendulumOnAHingeSwingsAtItsPeriod) {
  // A rod of 1 m that hangs from its end, let go at six degrees.
  const double h = 0.005;
  Simulation simulation(parse_scene(
      fmt::format(
          "[simulation]\ndt = {}\nframes = 300\n[[rigid]]\nname = \"rod\"\nbox = {{centre = [0, -0.5, 0], size = "
          "[0.05, 1, 0.05]}}\nrotate = {{axis = [0, 0, 1], angle = 6}}\n[[joint]]\nkind = \"hinge\"\nat = [0, 0, "
          "0]\naxis = [0, 0, 1]\n",
          h),
      "pendulum", ".", {{}, GetParam()}));
  const double measured = period_of(simulation, h);
  const double inertia = (1 + 0.05 * 0.05) / 12 + 0.25;
  const double period = 2 * std::numbers::pi * std::sqrt(inertia / (kGravity * 0.5));
  EXPECT_NEAR(measured, period, 0.005 * period);
  EXPECT_LT(strain_of(simulation, 0), 1e-3);
  EXPECT_NEAR(centre_of(simulation, 0).z(), 0, 1e-6);
}

TEST_P(RigidBodiesOfEverySolver, ABoxLandsOnTheFloorAndLiesThere) {
  Simulation simulation(
      parse_scene("[simulation]\nfps = 100\nframes = 60\n[contact]\nfriction = 0.5\n[[rigid]]\nbox = {centre = [0, "
                  "0.07, 0], size = "
                  "[0.1, 0.1, 0.1]}\n[[collider]]\nname = \"floor\"\nplane = {}\n",
                  "landing", ".", {{}, GetParam()}));
  for (int step = 0; step < 60; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.advanced()) << step << ": " << report.detail;
  }
  const Vec3 centre = centre_of(simulation, 0);
  EXPECT_NEAR(centre.y(), 0.05, 5e-4);
  EXPECT_LT(Vec3(centre.x(), 0, centre.z()).norm(), 2e-3);
  EXPECT_LT(strain_of(simulation, 0), 1e-3);
  const VecX all = simulation.model()->with_carried(simulation.state()->x);
  for (Index i = simulation.model()->nodes(); i < all.size() / 3; ++i) EXPECT_GT(node(all, i).y(), 0);
}

TEST_P(RigidBodiesOfEverySolver, AForceAtOneEndTurnsABoxInShortStepsToo) {
  const auto spun = [](const std::string& solver) {
    Simulation simulation(parse_scene(
        "[simulation]\ndt = 0.002\nframes = 150\ngravity = [0, 0, 0]\n[[rigid]]\ndensity = 500\nbox = {size = [0.4, "
        "0.1, 0.1]}\n[[load]]\nwhere = \"x-max\"\nforce = [0, 2, 0]\n",
        "pulled", ".", {{}, solver}));
    for (int step = 0; step < 150; ++step) {
      const StepReport report = simulation.step();
      EXPECT_TRUE(report.advanced()) << step << ": " << report.detail;
    }
    return angular_momentum_of(simulation).z();
  };
  const double expected = spun("newton");
  EXPECT_GT(expected, 0.1);
  EXPECT_NEAR(spun(GetParam()), expected, 0.01 * expected);
}

/// A rod that swings from the world, a second one from its end, and a soft ball on that one.
constexpr const char* kDoublePendulum = R"(
[simulation]
dt = 0.01
frames = 40
[[rigid]]
name = "upper"
box = {centre = [0.25, 0, 0], size = [0.5, 0.05, 0.05]}
[[rigid]]
name = "lower"
box = {centre = [0.75, 0, 0], size = [0.5, 0.05, 0.05]}
[[joint]]
kind = "hinge"
body = "upper"
at = [0, 0, 0]
[[joint]]
kind = "hinge"
body = "lower"
to_body = "upper"
at = [0.5, 0, 0]
[[body]]
name = "fist"
sphere = {radius = 0.08, cells = 4}
translate = [1.06, 0, 0]
material = "fixed-corotated"
young = 5e4
poisson = 0.3
[[attachment]]
body = "fist"
where = "x < 1.02"
to_body = "lower"
)";

TEST_P(RigidBodiesOfEverySolver, ASoftBallSwingsWithADoublePendulumAsNewtonHasIt) {
  const auto end = [](const std::string& solver) {
    Simulation simulation(parse_scene(kDoublePendulum, "pendulum", ".", {{}, solver}));
    for (int step = 0; step < 40; ++step) {
      const StepReport report = simulation.step();
      EXPECT_TRUE(report.advanced()) << step << ": " << report.detail;
    }
    return centre_of(simulation, 0);
  };
  const Vec3 expected = end("newton"), found = end(GetParam());
  EXPECT_LT(expected.y(), -0.7);
  EXPECT_LT((found - expected).norm(), 0.02);
}

TEST_P(RigidBodiesOfEverySolver, ALinkSwingsAtItsPeriodToo) {
  const double h = 0.005;
  Simulation simulation(parse_scene(
      fmt::format("[simulation]\ndt = {}\nframes = 300\n[[link]]\njoint = \"hinge\"\npivot = [0, 0, 0]\naxis = [0, 0, "
                  "1]\ncapsule = {{begin = [0, 0, 0], end = [0.1, -1, 0], radius = 0.02}}\n",
                  h),
      "pendulum", ".", {{}, GetParam()}));
  const double measured = period_of(simulation, h);
  // A cylinder with half a ball at either end, about one of the ends of its axis.
  const double r = 0.02, length = std::sqrt(1.01), cylinder = std::numbers::pi * r * r * length,
               ball = 4 * std::numbers::pi / 3 * r * r * r;
  const double mass = cylinder + ball;
  const double inertia =
      cylinder * (length * length / 3 + r * r / 4) + ball * (0.4 * r * r + length * length / 2 + 0.375 * r * length);
  const double period = 2 * std::numbers::pi * std::sqrt(inertia / (mass * kGravity * length / 2));
  EXPECT_NEAR(measured, period, 0.005 * period);
}

/// An arm of 1 m that falls about its end, and a bead that slides along it without turning against it.
constexpr const char* kBeadOnAnArm = R"(
[[rigid]]
name = "bead"
sphere = {centre = [0.7, 0, 0], radius = 0.1}
[[rigid]]
name = "arm"
box = {centre = [0.5, 0, 0], size = [1, 0.1, 0.1]}
[[joint]]
kind = "hinge"
body = "arm"
at = [0, 0, 0]
axis = [0, 0, 1]
[[joint]]
kind = "slider"
body = "bead"
to_body = "arm"
at = [0.7, 0, 0]
axis = [1, 0, 0]
)";

/// Where that bead is by the equations of Lagrange in the arm's angle and the bead's distance from the hinge,
///
///   r'' = r w^2 - g sin a,   (I + m r^2) w' = -2 m r r' w - (M/2 + m r) g cos a,
///
/// by the method of Runge and Kutta.
Vec3 bead_on_an_arm(double end) {
  const double arm = 1000 * 0.01, bead = 1000 * 4 * std::numbers::pi / 3 * 0.001;  // kg
  const double inertia = arm * ((1 + 0.01) / 12 + 0.25) + 0.4 * bead * 0.01;
  const auto rate = [&](const Eigen::Vector4d& s) {  // of a, r, w, r'
    const double turn = -2 * bead * s[1] * s[3] * s[2] - (arm / 2 + bead * s[1]) * kGravity * std::cos(s[0]);
    return Eigen::Vector4d(s[2], s[3], turn / (inertia + bead * s[1] * s[1]),
                           s[1] * s[2] * s[2] - kGravity * std::sin(s[0]));
  };
  const int steps = 4000;
  const double h = end / steps;
  Eigen::Vector4d s(0, 0.7, 0, 0);
  for (int step = 0; step < steps; ++step) {
    const Eigen::Vector4d k1 = rate(s), k2 = rate(s + h / 2 * k1), k3 = rate(s + h / 2 * k2), k4 = rate(s + h * k3);
    s += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return {s[1] * std::cos(s[0]), s[1] * std::sin(s[0]), 0};
}

TEST_P(RigidBodiesOfEverySolver, ABeadSlidesOffAFallingArmAsLagrangeSays) {
  // It passes the arm's end at 0.4 s, and is six metres from the hinge in the end. Ten iterations with a matrix in
  // which the joint is where it was at rest follow it as long as it is on the arm.
  const std::string solver = GetParam();
  const bool has_ten = solver == "quasi-newton" || solver == "projective-dynamics" || solver == "chebyshev";
  const double end = has_ten ? 0.35 : 1;
  // Conjugate gradients are to leave less behind than steps do.
  const std::vector<std::string> settings =
      solver == "corotational-cg" ? std::vector<std::string>{"solver.tolerance=1e-8"} : std::vector<std::string>{};
  const Vec3 expected = bead_on_an_arm(end);
  const auto miss = [&](double h) {
    const int steps = static_cast<int>(std::lround(end / h));
    Simulation simulation(parse_scene(fmt::format("[simulation]\ndt = {}\nframes = {}\n{}", h, steps, kBeadOnAnArm),
                                      "arm", ".", {settings, solver}));
    for (int step = 0; step < steps; ++step) {
      const StepReport report = simulation.step();
      EXPECT_TRUE(report.advanced()) << step << ": " << report.detail;
    }
    return (centre_of(simulation, 0) - expected).norm();
  };
  const double coarse = miss(0.01), fine = miss(0.005);
  EXPECT_LT(fine, 0.02 * expected.norm());
  EXPECT_LT(fine, 0.65 * coarse);  // of first order
}

INSTANTIATE_TEST_SUITE_P(Rigid, RigidBodiesOfEverySolver, ::testing::ValuesIn(testing::solver_names()),
                         [](const auto& instance) { return testing::identifier(instance.param); });

/// A bob beside the end of a soft bar, from which a spring or a joint holds it.
constexpr const char* kBob = R"(
[simulation]
fps = 120
frames = 60
[[body]]
name = "soft"
box = {size = [1, 0.2, 0.2], cells = [8, 2, 2]}
material = "fixed-corotated"
young = 2e5
poisson = 0.4
[[pin]]
body = "soft"
where = "x-min"
)";
constexpr const char* kOnASpring = R"(
[[rigid]]
name = "bob"
sphere = {centre = [1.5, 0.1, 0.1], radius = 0.15}
[[spring]]
body = "bob"
at = [1.35, 0.1, 0.1]
to_body = "soft"
to = [1.0, 0.1, 0.1]
stiffness = 300
)";
constexpr const char* kOnAJoint = R"(
[[rigid]]
name = "bob"
box = {centre = [1.4, 0.1, 0.1], size = [0.6, 0.1, 0.1]}
[[joint]]
kind = "ball"
body = "bob"
to_body = "soft"
at = [1.05, 0.1, 0.1]
)";

TEST(RigidBodies, FallWithTheirOwnInertiaUnderConjacWhereASoftOneHoldsThem) {
  const auto fallen = [](const std::string& scene, const std::string& solver, const std::string& settings) {
    Simulation simulation(parse_scene(fmt::format("{}[solver]\nname = \"{}\"\n{}", scene, solver, settings), "bob"));
    const Vec3 before = centre_of(simulation, 1);
    for (int step = 0; step < 60; ++step) EXPECT_TRUE(simulation.step().succeeded());
    return Vec3(centre_of(simulation, 1) - before);
  };
  for (const char* bob : {kOnASpring, kOnAJoint}) {
    const std::string scene = std::string(kBob) + bob;
    const Vec3 expected = fallen(scene, "pod-newton", "");
    EXPECT_LT(expected.y(), -0.5);
    // However few nodes of the bar are dynamic, the bob's are.
    for (const char* settings : {"", "dynamic_nodes = 2\n", "dynamic_nodes = 40\n"})
      EXPECT_LT((fallen(scene, "conjac", settings) - expected).norm(), 0.1 * expected.norm()) << settings;
  }
}

TEST(RigidBodies, TumbleWithTheAngularMomentumThatTheirIntegratorKeeps) {
  const std::string body =
      "gravity = [0, 0, 0]\n[[rigid]]\nbox = {size = [0.1, 0.2, 0.4]}\nangular_velocity = [0.1, 6, 0.1]\nvelocity = "
      "[1, "
      "0, 0]\n[solver]\nname = \"newton\"\ncriterion = \"residual\"\ntolerance = 1e-10\n";
  // The implicit midpoint keeps it; the middle axis is unstable, and the body turns over.
  Simulation midpoint(
      parse_scene("[simulation]\ndt = 0.01\nframes = 200\n" + body + "integrator = \"implicit-midpoint\"\n", "free"));
  const Vec3 before = angular_momentum_of(midpoint);
  for (int step = 0; step < 200; ++step) ASSERT_TRUE(midpoint.step().succeeded()) << step;
  EXPECT_LT((angular_momentum_of(midpoint) - before).norm(), 1e-7 * before.norm());
  // Its middle is rigid; its ends lie on tangents, and are stretched by half the square of half the turn.
  EXPECT_LT(strain_of(midpoint, 0), 2 * std::pow(0.06 / 2, 2));
  // Implicit Euler: L' - L = h sum m v' x v, whatever the forces between the nodes.
  Simulation euler(parse_scene("[simulation]\ndt = 0.01\nframes = 50\n" + body, "free"));
  for (int step = 0; step < 50; ++step) {
    const VecX v = euler.state()->v;
    const Vec3 last = angular_momentum_of(euler);
    ASSERT_TRUE(euler.step().succeeded()) << step;
    Vec3 lost = Vec3::Zero();
    for (Index i = 0; i < 4; ++i)
      lost += 0.01 * euler.model()->mass().lumped()[i] * Vec3(node(euler.state()->v, i)).cross(Vec3(node(v, i)));
    EXPECT_LT((angular_momentum_of(euler) - last - lost).norm(), 1e-8 * last.norm()) << step;
  }
  EXPECT_LT(strain_of(euler, 0), 1e-4);
}

TEST(RigidBodies, AndSoftOnesKeepTheirCommonMomentum) {
  // A ball hits a soft cube, which is fastened to a rigid plate.
  Simulation simulation(parse_scene(
      "[simulation]\ndt = 0.005\nframes = 60\ngravity = [0, 0, 0]\n[contact]\nfriction = 0.3\n[[body]]\nname = "
      "\"cube\"\nbox = {size = [0.1, 0.1, 0.1], cells = [2, 2, 2]}\nyoung = 1e5\npoisson = 0.3\n[[rigid]]\nname = "
      "\"ball\"\nsphere = {centre = [-0.06, 0.06, 0.05], radius = 0.05}\nvelocity = [2, 0, 0]\n[[rigid]]\nname = "
      "\"plate\"\nbox = {centre = [0.11, 0.05, 0.05], size = [0.02, 0.1, 0.1]}\n[[attachment]]\nbody = \"cube\"\nwhere "
      "= "
      "\"x-max\"\nto_body = \"plate\"\n[solver]\nname = \"pod-newton\"\ncriterion = \"residual\"\ntolerance = 1e-9\n",
      "hit"));
  const Vec3 before = momentum_of(simulation);
  const double begin = centre_of(simulation, 2).x();
  for (int step = 0; step < 60; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << step << ": " << report.detail;
  }
  EXPECT_LT((momentum_of(simulation) - before).norm(), 1e-8);
  EXPECT_GT(centre_of(simulation, 2).x(), begin + 0.02);  // the plate has been taken along
  EXPECT_LT(strain_of(simulation, 1), 1e-3);
}

TEST(Joints, ASliderGoesAlongItsAxisToItsLimit) {
  Simulation simulation(
      parse_scene("[simulation]\ndt = 0.01\nframes = 100\n[[rigid]]\nbox = {size = [0.1, 0.1, 0.1]}\nvelocity = [1, 0, "
                  "0]\nangular_velocity = [0, 0, 1]\n[[joint]]\nkind = \"slider\"\nat = [0, 0, 0]\naxis = [1, 0, "
                  "0]\nlimits = [-0.1, "
                  "0.2]\n",
                  "slider"));
  double most = 0;
  for (int step = 0; step < 100; ++step) {
    ASSERT_TRUE(simulation.step().succeeded()) << step;
    const Vec3 centre = centre_of(simulation, 0);
    most = std::max(most, centre.x());
    EXPECT_LT(std::hypot(centre.y(), centre.z()), 1e-4) << step;
  }
  EXPECT_GT(most, 0.19);
  EXPECT_LT(most, 0.202);
}

TEST(Joints, AMotorTurnsAHingeBetweenBodiesThatFly) {
  // Two bars joined end to end; the motor folds them by 90 degrees while their centre stays.
  Simulation simulation(parse_scene(
      "[simulation]\ndt = 0.01\nframes = 100\ngravity = [0, 0, 0]\n[[rigid]]\nname = \"left\"\nbox = {centre = [-0.1, "
      "0, "
      "0], size = [0.2, 0.04, 0.04]}\n[[rigid]]\nname = \"right\"\nbox = {centre = [0.1, 0, 0], size = [0.2, 0.04, "
      "0.04]}\n[[joint]]\nkind = \"hinge\"\nbody = \"right\"\nto_body = \"left\"\nat = [0, 0, 0]\naxis = [0, 0, "
      "1]\nmotor = [{time = 0, angle = 0}, {time = 0.5, angle = 90}]\n[solver]\nname = \"newton\"\ncriterion = "
      "\"residual\"\ntolerance = 1e-9\n",
      "fold"));
  for (int step = 0; step < 100; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << step << ": " << report.detail;
  }
  EXPECT_LT(momentum_of(simulation).norm(), 1e-8);
  const auto direction = [&](std::size_t b) {
    const Body& body = simulation.model()->bodies()[b];
    const auto weights = body.rigid->slopes();
    Vec3 sum = Vec3::Zero();
    for (std::size_t k = 0; k < 4; ++k)
      sum += weights[k].x() * node(simulation.state()->x, body.nodes.begin + static_cast<Index>(k));
    return sum;
  };
  const Vec3 left = direction(0), right = direction(1);
  EXPECT_NEAR(std::atan2(left.cross(right).z(), left.dot(right)) * 180 / std::numbers::pi, 90, 0.1);
  EXPECT_LT((0.5 * (centre_of(simulation, 0) + centre_of(simulation, 1))).norm(), 1e-6);
}

TEST(Joints, AHingeStopsAtItsLimit) {
  Simulation simulation(parse_scene(
      "[simulation]\ndt = 0.01\nframes = 100\n[[rigid]]\nbox = {centre = [0.25, 0, 0], size = [0.5, 0.05, 0.05]}\n"
      "[[joint]]\nkind = \"hinge\"\nat = [0, 0, 0]\naxis = [0, 0, 1]\nlimits = [-30, 60]\n",
      "limit"));
  for (int step = 0; step < 100; ++step) ASSERT_TRUE(simulation.step().succeeded()) << step;
  const Vec3 centre = centre_of(simulation, 0);
  EXPECT_NEAR(std::atan2(centre.y(), centre.x()) * 180 / std::numbers::pi, -30, 0.2);
}

TEST(Joints, ABallJointToASoftBodyHoldsAndAFixedOneDoesNotTurn) {
  Simulation simulation(parse_scene(
      "[simulation]\ndt = 0.01\nframes = 60\n[[body]]\nname = \"beam\"\nbox = {size = [0.4, 0.1, 0.1], cells = [4, 1, "
      "1]}\nyoung = 1e6\npoisson = 0.3\n[[pin]]\nbody = \"beam\"\nwhere = \"x-min\"\n[[rigid]]\nname = "
      "\"ball\"\nsphere = "
      "{centre = [0.4, -0.1, 0.05], radius = 0.03}\n[[rigid]]\nname = \"arm\"\nbox = {centre = [0.1, 0, 1], size = "
      "[0.2, "
      "0.02, 0.02]}\n[[joint]]\nname = \"hanging\"\nbody = \"ball\"\nto_body = \"beam\"\nat = [0.4, 0.05, "
      "0.05]\n[[joint]]\nname = \"bracket\"\nkind = \"fixed\"\nbody = \"arm\"\nat = [0, 0, 1]\n",
      "held"));
  for (int step = 0; step < 60; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << step << ": " << report.detail;
  }
  for (const Tie& tie : simulation.model()->ties()->ties())
    EXPECT_LT(tie.difference(simulation.state()->x).norm(), 1e-4);
  EXPECT_NEAR(centre_of(simulation, 2).y(), 0, 1e-3);
}

TEST(Joints, AreRefusedWithAReasonThatHelps) {
  const auto message = [](const std::string& joint) {
    try {
      Simulation simulation(
          parse_scene("[simulation]\ndt = 0.01\nframes = 1\n[[body]]\nname = \"soft\"\nbox = {size = [1, "
                      "1, 1], cells = [1, 1, 1]}\nyoung = 1e5\npoisson = 0.3\n[[rigid]]\nname = \"ball\"\nsphere = "
                      "{centre = [3, 0, "
                      "0], radius = 1}\n[[joint]]\nat = [0, 0, 0]\n" +
                          joint,
                      "joints"));
      return std::string();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_NE(message("body = \"soft\"\n").find("is not rigid"), std::string::npos);
  EXPECT_NE(message("body = \"bal\"\n").find("did you mean 'ball'?"), std::string::npos);
  EXPECT_NE(message("body = \"ball\"\nknd = \"ball\"\n").find("did you mean 'kind'"), std::string::npos);
  EXPECT_NE(message("body = \"ball\"\nkind = \"slider\"\nto_body = \"soft\"\n").find("gives a slider no axis"),
            std::string::npos);
  EXPECT_NE(message("body = \"ball\"\nkind = \"hinge\"\nmotor = [{time = 0, distance = 1}]\n").find("'angle'"),
            std::string::npos);
  EXPECT_NE(message("body = \"ball\"\nlimits = [0, 1]\n").find("only hinges and sliders"), std::string::npos);
  const std::string rod =
      "to_body = \"wire\"\n[[rod]]\nname = \"wire\"\npoints = [[0, 0, 0], [2, 0, 0]]\nradius = 0.01\nyoung = 1e7\n";
  for (const char* kind : {"hinge", "fixed"})  // its axis is z, across the rod
    EXPECT_NE(message(fmt::format("body = \"ball\"\nkind = \"{}\"\n", kind) + rod).find("fasten its vertices"),
              std::string::npos);
  EXPECT_EQ(message("body = \"ball\"\n" + rod), "");
  const std::string sheet =
      "to_body = \"sheet\"\n[[body]]\nname = \"sheet\"\ncloth = {size = [4, 4], cells = [4, 4], origin = [-2, 0, "
      "-2]}\nshell = {thickness = 0.01}\nyoung = 1e6\npoisson = 0.3\n";
  EXPECT_NE(message("body = \"ball\"\nkind = \"hinge\"\naxis = [0, 1, 0]\n" + sheet).find("is a sheet"),
            std::string::npos);
  EXPECT_EQ(message("body = \"ball\"\nkind = \"hinge\"\n" + sheet), "") << "its axis lies in the sheet";
}

}  // namespace
}  // namespace pliant
