// Shells of triangles against theory.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <random>

#include "pliant/base/error.hpp"
#include "pliant/mesh/spring_network.hpp"
#include "pliant/simulation/simulation.hpp"
#include "support/elastica.hpp"
#include "support/solver_names.hpp"

namespace pliant {
namespace {

constexpr int kCells = 40;
/// Hinges stand for half a cell on both of their sides: with the first cell held, a strip of n cells is n - 1/2 long.
constexpr double kCell = 1 / (kCells - 0.5), kWidth = 0.1, kThickness = 0.002, kYoung = 1e9;
constexpr double kEI = kYoung * kWidth * kThickness * kThickness * kThickness / 12;

std::string strip(const std::string& mesh, double alpha) {
  return fmt::format(
      "[[body]]\n{}\nshell = {{thickness = {}}}\nyoung = {}\npoisson = 0.0\ndensity = 1000\n[[pin]]\nwhere = \"x < "
      "{}\"\n[[load]]\nwhere = \"x > {}\"\nforce = [0, {}, 0]\n",
      mesh, kThickness, kYoung, 0.6 * kCell, 1 - 0.01 * kCell, -alpha * kEI);
}

std::string sheet() {
  return fmt::format("cloth = {{size = [{}, {}], cells = [{}, 4], origin = [{}, 0, 0]}}", 1 + kCell / 2, kWidth, kCells,
                     -kCell / 2);
}

/// The same with its inner vertices moved about.
std::filesystem::path irregular_sheet() {
  const SpringNetwork grid =
      cloth({.origin = {-kCell / 2, 0, 0}, .size = {1 + kCell / 2, kWidth}, .cells = {kCells, 4}});
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> uniform(-0.25, 0.25);
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "irregular-sheet.obj";
  std::ofstream out(path);
  for (Vec3 p : grid.vertices) {
    const bool inner = p.x() > 0.9 * kCell && p.x() < 1 - 0.1 * kCell && p.z() > 1e-6 && p.z() < kWidth - 1e-6;
    if (inner) p += Vec3(uniform(engine) * kCell, 0, uniform(engine) * kWidth / 4);
    out << fmt::format("v {} {} {}\n", p.x(), p.y(), p.z());
  }
  for (std::size_t t = 0; t < grid.triangles.size(); t += 2) {
    Triangle a = grid.triangles[t], b = grid.triangles[t + 1];
    out << fmt::format("f {} {} {}\nf {} {} {}\n", a[0] + 1, a[1] + 1, a[2] + 1, b[0] + 1, b[1] + 1, b[2] + 1);
  }
  return path;
}

Vec3 tip_of(const Simulation& simulation) {
  const VecX& rest = simulation.model()->rest();
  Vec3 sum = Vec3::Zero();
  int count = 0;
  for (Index i = 0; i < simulation.model()->nodes(); ++i)
    if (rest[3 * i] > 1 - 0.01 * kCell) {
      sum += node(simulation.state()->x, i);
      ++count;
    }
  return sum / count;
}

void expect_elastica(const std::string& mesh, double alpha, double within) {
  Simulation simulation(
      parse_scene("[simulation]\ndt = 1\nframes = 1\ngravity = [0, 0, 0]\nintegrator = "
                  "\"quasistatic\"\n" +
                      strip(mesh, alpha) + "[solver]\ncriterion = \"residual\"\ntolerance = 1e-6\n",
                  "strip"));
  const StepReport report = simulation.step();
  ASSERT_TRUE(report.succeeded()) << report.detail;
  const Vec3 tip = tip_of(simulation);
  const auto [along, across] = testing::elastica_tip(alpha);
  EXPECT_NEAR(-tip.y(), across, within * across) << mesh;
  EXPECT_NEAR(1 - tip.x(), 1 - along, within * (1 - along)) << mesh;
}

TEST(ShellStrip, TheElasticaItselfIsAsPublished) {
  // Mattiasson 1981: deflections of a cantilever, alpha = 5.
  EXPECT_NEAR(testing::elastica_tip(5)[1], 0.71379, 2e-5);
  EXPECT_NEAR(1 - testing::elastica_tip(5)[0], 0.38763, 2e-5);
}

TEST(ShellStrip, BendsAsTheElasticaDoes) {
  for (double alpha : {0.5, 2.0, 5.0}) expect_elastica(sheet(), alpha, 0.03);
}

TEST(ShellStrip, OfAnIrregularMeshIsALittleStiffer) {
  for (double alpha : {0.5, 5.0})
    expect_elastica(fmt::format("mesh = \"{}\"", irregular_sheet().string()), alpha, 0.08);
}

TEST(ShellStrip, SwingsAtThePeriodOfACantilever) {
  // Let go from a slight bend, by the implicit midpoint, which does not damp. The first mode: w = 1.8751^2 sqrt(EI/m).
  const double per_length = 1000 * kWidth * kThickness;
  const double period = 2 * std::numbers::pi / (1.875104 * 1.875104 * std::sqrt(kEI / per_length));
  const int steps = 400;
  Simulation simulation(parse_scene(
      fmt::format("[simulation]\ndt = {}\nframes = {}\ngravity = [0, 0, 0]\n{}keyframes = [{{time = 0, factor = 1}}, "
                  "{{time = {}, factor = 1}}, {{time = {}, factor = 0}}]\n[solver]\nintegrator = "
                  "\"implicit-midpoint\"\ntolerance = 1e-6\n",
                  period / 100, steps, strip(sheet(), 0.02), period / 50, period / 40),
      "swing"));
  // The pull and its end are soon over; what is left swings about zero.
  std::vector<double> crossings;
  double before = 0;
  for (int step = 1; step <= steps; ++step) {
    ASSERT_TRUE(simulation.step().succeeded());
    const double y = tip_of(simulation).y(), t = simulation.state()->time;
    if (before < 0 && y >= 0) crossings.push_back(t - period / 100 * y / (y - before));
    before = y;
  }
  ASSERT_GE(crossings.size(), 3u);
  const double measured = (crossings.back() - crossings.front()) / static_cast<double>(crossings.size() - 1);
  EXPECT_NEAR(measured, period, 0.03 * period);
}

TEST(Shell, OfABallInflatesAsLaplaceSays) {
  const double R = 0.1, t = 0.002, E = 1e6, nu = 0.3, p = 40;
  Simulation simulation(parse_scene(
      fmt::format(
          "[simulation]\ndt = 1\nframes = 1\ngravity = [0, 0, 0]\nintegrator = \"quasistatic\"\n[[body]]\nsphere "
          "= {{radius = {}, cells = 12}}\nshell = {{thickness = {}}}\nyoung = {}\npoisson = {}\n[[load]]\nwhere "
          "= \"all\"\npressure = {}\n[[pin]]\nname = \"x\"\nwhere = \"x > -1e-9 and x < 1e-9\"\naxes = "
          "\"x\"\n[[pin]]\nname = \"y\"\nwhere = \"y > -1e-9 and y < 1e-9\"\naxes = \"y\"\n[[pin]]\nname = "
          "\"z\"\nwhere = \"z > -1e-9 and z < 1e-9\"\naxes = \"z\"\n[solver]\ncriterion = "
          "\"residual\"\ntolerance = 1e-9\n",
          R, t, E, nu, -p),
      "balloon"));
  const StepReport report = simulation.step();
  ASSERT_TRUE(report.succeeded()) << report.detail;
  double sum = 0;
  for (Index i = 0; i < simulation.model()->nodes(); ++i)
    sum += node(simulation.state()->x, i).norm() - node(simulation.model()->rest(), i).norm();
  const double widened = sum / simulation.model()->nodes(), expected = p * R * R * (1 - nu) / (2 * E * t);
  EXPECT_NEAR(widened, expected, 0.02 * expected);
}

/// Writes triangles, counted from 1.
std::filesystem::path write_obj(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / name;
  std::ofstream(path) << text;
  return path;
}

TEST(Shell, WithAVertexOfThreeTrianglesFallsAsAnyOther) {
  const auto path = write_obj("three.obj",
                              "v 0 0 0\nv 0.1 0 0\nv 0.1 0 0.1\nv 0 0 0.1\nv 0.067 0 0.033\n"
                              "f 1 3 4\nf 1 5 2\nf 2 5 3\nf 3 5 1\n");
  for (const char* solver : {"pod-newton", "newton", "projected-newton", "conjac"}) {
    Simulation simulation(
        parse_scene(fmt::format("[simulation]\ndt = 0.02\nframes = 5\n[[body]]\nmesh = \"{}\"\nshell = {{thickness = "
                                "0.01}}\nyoung = 1e8\npoisson = 0.0\ndensity = 100\n",
                                path.string()),
                    "three", ".", {{}, solver}));
    for (int step = 0; step < 5; ++step) {
      const StepReport report = simulation.step();
      ASSERT_TRUE(report.succeeded()) << solver << ": " << report.detail;
      EXPECT_LE(report.iterations, 2) << solver;
    }
  }
}

TEST(Shell, TurnsTrianglesToAgreeAndHoldsGasWhicheverWayItFaces) {
  // A tetrahedron with one face turned over, then with all of them.
  const std::string vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
  for (const char* faces : {"f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 4 3\n", "f 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n"}) {
    Simulation simulation(
        parse_scene(fmt::format("[simulation]\ndt = 0.01\nframes = 1\ngravity = [0, 0, 0]\n[[body]]\nmesh = \"{}\"\n"
                                "shell = {{thickness = 0.01}}\nyoung = 1e8\npoisson = 0.3\n[[load]]\nwhere = "
                                "\"all\"\ngas = {{pressure = 120000}}\n",
                                write_obj("gas.obj", vertices + faces).string()),
                    "gas"));
    ASSERT_TRUE(simulation.step().succeeded());
    const Vec3 centre(0.25, 0.25, 0.25);
    for (Index i = 0; i < 4; ++i)
      EXPECT_GT((Vec3(node(simulation.state()->x, i)) - centre).norm(),
                (Vec3(node(simulation.model()->rest(), i)) - centre).norm());
  }
}

TEST(Shell, IsTakenByEverySolverThatTakesClothAndFallsAlike) {
  const std::string text =
      "[simulation]\ndt = 0.02\nframes = 10\n[[body]]\ncloth = {size = [0.5, 0.5], cells = [8, 8]}\nshell = {thickness "
      "= "
      "0.001}\nyoung = 1e6\npoisson = 0.3\ndensity = 500\n[[pin]]\nwhere = \"x-min\"\n";
  VecX reference;
  int taken = 0;
  for (const std::string& solver : testing::solver_names()) {
    const SolverSupport& can = find_solver(solver).supports;
    // A sheet is stiff beyond what a few local and global steps can do.
    const bool is_slow = solver == "projective-dynamics" || solver == "chebyshev";
    Scene scene = parse_scene(
        text, "sheet", ".",
        {is_slow ? std::vector<std::string>{"solver.iterations=1000"} : std::vector<std::string>(), solver});
    if (!can.cloth) {
      try {
        Simulation refused(scene);
        ADD_FAILURE() << solver;
      } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("is a shell, and it moves solids only"), std::string::npos);
      }
      continue;
    }
    Simulation simulation(scene);
    for (int step = 0; step < 10; ++step) {
      const StepReport report = simulation.step();
      ASSERT_TRUE(report.succeeded()) << solver << ": " << report.detail;
    }
    ++taken;
    if (reference.size() == 0) reference = simulation.state()->x;
    // Linearly implicit steps and few iterations are not converged ones.
    EXPECT_LT((simulation.state()->x - reference).cwiseAbs().maxCoeff(), 0.03) << solver;
  }
  EXPECT_EQ(taken, 9);
}

/// The stretch of a strip (nu = 0) whose end is pulled by f N/m, with the stiffening beyond its limit.
double limited_stretch(double young, double thickness, double limit, double f) {
  double low = 1, high = 10;
  for (int k = 0; k < 100; ++k) {
    const double stretch = (low + high) / 2, e = (stretch * stretch - 1) / 2, bound = limit + limit * limit / 2;
    const double beyond = limit > 0 ? std::max(0.0, e - bound) : 0;
    const double pull = stretch * thickness * young * (e + (limit > 0 ? 1000 * beyond * beyond / (2 * bound) : 0));
    (pull > f ? high : low) = stretch;
  }
  return low;
}

TEST(Shell, PulledBeyondItsStrainLimitStretchesAsTheFormulaSays) {
  for (double limit : {0.0, 0.05, 0.2}) {
    const double young = 1e5, thickness = 1e-3, pull = 150;  // N/m: a linear sheet would be 1.5 times longer
    Simulation simulation(parse_scene(
        fmt::format(
            "[simulation]\ndt = 1\nframes = 1\ngravity = [0, 0, 0]\nintegrator = \"quasistatic\"\n[[body]]\ncloth "
            "= {{size = [1, 0.2], cells = [10, 2]}}\nshell = {{thickness = {}, strain_limit = {}}}\nyoung = "
            "{}\npoisson = 0.0\n[[pin]]\nwhere = \"x-min\"\n[[load]]\nwhere = \"x-max\"\nforce = [{}, 0, "
            "0]\n[solver]\ncriterion = \"residual\"\ntolerance = 1e-6\n",
            thickness, limit, young, 0.2 * pull),
        "pulled"));
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << report.detail;
    double sum = 0;
    const Body& body = simulation.model()->bodies()[0];
    for (Index v : body.sets().at("x-max")) sum += node(simulation.state()->x, v).x();
    const double expected = limited_stretch(young, thickness, limit, pull);
    // Its end is pulled evenly over vertices, not over its width.
    EXPECT_NEAR(sum / 3, expected, 0.01 * (expected - 1)) << limit;
  }
}

TEST(Shell, KeepsToItsStrainLimitUnderEverySolverThatTakesIt) {
  // Of a linear sheet the weight at its end would take it to 2.1 times its length.
  for (const std::string& solver : testing::solver_names()) {
    if (!find_solver(solver).supports.cloth) continue;
    Simulation simulation(parse_scene(
        "[simulation]\ndt = 0.01\nframes = 60\n[[body]]\ncloth = {size = [0.5, 0.2], cells = [6, 2]}\nrotate = {axis = "
        "[0, 0, 1], angle = -90}\nshell = {thickness = 0.001, strain_limit = 0.1}\nyoung = 2e4\npoisson = 0.3\ndensity "
        "= "
        "300\ndamping = {mass = 5.0}\n[[pin]]\nwhere = \"x-min\"\n[[load]]\nwhere = \"x-max\"\nforce = [0, -10, 0]\n",
        "limited", ".", {{}, solver}));
    double lowest = 0;
    for (int step = 0; step < 60; ++step) {
      const StepReport report = simulation.step();
      ASSERT_TRUE(report.succeeded()) << solver << ": " << report.detail;
      for (Index i = 0; i < simulation.model()->nodes(); ++i)
        lowest = std::min(lowest, node(simulation.state()->x, i).y());
    }
    EXPECT_GT(lowest, -0.5 * 1.15) << solver;
    EXPECT_LT(lowest, -0.5 * 1.1) << solver;
  }
}

TEST(Shell, DrapesOverABallWithoutTouchingIt) {
  Simulation simulation(parse_scene(
      "[simulation]\ndt = 0.02\nframes = 15\n[[body]]\ncloth = {size = [0.6, 0.6], cells = [12, 12], origin = [-0.3, "
      "0.205, -0.3]}\nshell = {thickness = 0.001, bending = 0.1}\nyoung = 2e5\npoisson = 0.3\ndensity = "
      "300\n[[collider]]\nsphere = {centre = [0, 0, 0], radius = 0.2}\nfriction = 0.3\n[contact]\ndhat = 0.004\n",
      "drape"));
  double gap = 1;
  for (int step = 0; step < 15; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.succeeded()) << report.detail;
    gap = std::min(gap, report.minimum_gap);
  }
  EXPECT_GT(gap, 0);
  EXPECT_LT(gap, 0.004);
  double lowest = 1;
  for (Index i = 0; i < simulation.model()->nodes(); ++i) lowest = std::min(lowest, node(simulation.state()->x, i).y());
  EXPECT_LT(lowest, 0.1);  // its corners hang down
}

TEST(Shell, ThatLacksSomethingIsRefusedWithTheRemedy) {
  const auto refusal = [](const std::string& body) {
    try {
      Simulation(parse_scene("[simulation]\ndt = 0.01\nframes = 1\n[[body]]\n" + body, "shell.toml"));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  const std::string sheet = "cloth = {size = [1, 1], cells = [2, 2]}\n";
  const auto expect = [&](const std::string& body, const std::string& message) {
    EXPECT_NE(refusal(body).find(message), std::string::npos) << refusal(body);
  };
  expect(sheet + "shell = {}\nyoung = 1e6\npoisson = 0.3\n", "'thickness'");
  expect(sheet + "shell = {thicknes = 1e-3}\nyoung = 1e6\npoisson = 0.3\n", "'thickness'");
  expect(sheet + "shell = {thickness = 1e-3}\n", "a shell needs 'young' and 'poisson'");
  expect(sheet + "shell = {thickness = 1e-3}\nyoung = 1e6\npoisson = 0.3\nmaterial = \"arap\"\n", "is for solids");
  expect(sheet + "shell = {thickness = 1e-3, strain_limits = 0.1}\nyoung = 1e6\npoisson = 0.3\n", "'strain_limit'");
  expect(sheet + "shell = {thickness = 1e-3, strain_limit = -0.1}\nyoung = 1e6\npoisson = 0.3\n", "'strain_limit'");
  expect(sheet + "shell = {thickness = 1e-3}\nyoung = 1e6\npoisson = 0.3\nsprings = {shear = 3}\n", "does not go with");
  expect(fmt::format("mesh = \"{}\"\nyoung = 1e6\npoisson = 0.3\n", irregular_sheet().string()),
         "shell = {thickness = 0.001}");
}

}  // namespace
}  // namespace pliant
