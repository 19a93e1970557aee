// Run under mpirun, with any number of processes: every test runs on all of them, and the first judges. What it judges
// by is the same scene on one machine, which shares none of the code between processes.
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <petscsys.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include "pliant/base/error.hpp"
#include "pliant/distributed/distributed_simulation.hpp"
#include "pliant/io/checkpoint.hpp"
#include "pliant/simulation/probe.hpp"

namespace pliant {
namespace {

const std::string kSwing = R"(
version = 1
[simulation]
fps = 60
frames = 30
mass = "consistent"
[[body]]
box = {size = [2, 1, 1], cells = [6, 3, 3]}
young = 4e5
poisson = 0.4
[[pin]]
where = "x-min"
[solver]
name = "pod-newton"
tolerance = 1e-7
)";

const std::string kTwist = R"(
version = 1
[simulation]
fps = 60
frames = 30
[[body]]
box = {size = [4, 1, 1], cells = [12, 3, 3]}
young = 1e6
poisson = 0.45
damping = {mass = 0.5, stiffness = 0.001}
[[pin]]
where = "x-min"
[[script]]
where = "x-max"
rotate = {axis = [1, 0, 0], centre = [4, 0.5, 0.5], revolutions = 0.5}
times = [0, 0.4]
release = 0.45
[solver]
name = "projected-newton"
tolerance = 1e-6
)";

const std::string kCantilever = R"(
version = 1
[simulation]
dt = 1.0
frames = 30
integrator = "quasistatic"
[[body]]
box = {size = [2, 0.2, 0.2], cells = [8, 2, 2]}
order = 2
material = "neo-hookean"
young = 1e7
poisson = 0.3
[[pin]]
where = "x-min"
[[script]]
where = "x-max"
imposition = "direct"
translate = [0, -0.6, 0]
times = [0, 30]
[[load]]
where = "x > 0.9 and x < 1.1"
force = [0, 200, 50]
[solver]
criterion = "residual"
tolerance = 1e-6
)";

const std::string kMuscle = R"(
version = 1
[simulation]
fps = 60
frames = 30
[[body]]
box = {size = [2, 0.4, 0.4], cells = [10, 2, 2]}
material = "fixed-corotated"
young = 2e4
poisson = 0.4
damping = {mass = 1.0, stiffness = 0.005}
[[body.fibres]]
law = "muscle"
stiffness = 4e4
shape = 1.4
field = "diagonal"
muscle = "pull"
[[muscle]]
name = "pull"
activation = [[0, 0], [0.1, 0.2], [0.4, 1]]
[[pin]]
where = "x-min"
[[pin]]
where = "x-max"
[solver]
name = "kinetic-newton"
tolerance = 1e-7
)";

const std::string kColliders = R"(
version = 1
[simulation]
fps = 60
frames = 30
colliders = "penalty"
[[body]]
name = "left"
box = {size = [0.4, 0.4, 0.4], cells = [3, 3, 3], origin = [-0.5, 0.05, 0]}
material = "stable-neo-hookean"
young = 2e5
poisson = 0.4
velocity = [0.5, -1, 0]
[[body]]
name = "right"
box = {size = [0.4, 0.3, 0.4], cells = [3, 2, 3], origin = [0.3, 0.4, 0]}
young = 1e5
poisson = 0.3
[[collider]]
plane = {point = [0, 0, 0], normal = [0, 1, 0]}
friction = 0.3
[[collider]]
sphere = {centre = [0.5, 0.1, 0.2], radius = 0.2}
[solver]
name = "newton"
tolerance = 1e-7
)";

const std::string kBarriers = R"(
version = 1
[simulation]
fps = 60
frames = 30
[[body]]
name = "left"
box = {size = [0.4, 0.4, 0.4], cells = [3, 3, 3], origin = [-0.5, 0.02, 0]}
material = "stable-neo-hookean"
young = 2e5
poisson = 0.4
velocity = [0.5, -1, 0]
angular_velocity = [0, 0, 2]
[[body]]
name = "right"
box = {size = [0.4, 0.3, 0.4], cells = [4, 3, 4], origin = [0.3, 0.34, 0]}
young = 1e5
poisson = 0.3
[[collider]]
plane = {point = [0, 0, 0], normal = [0, 1, 0]}
friction = 0.3
[[collider]]
box = {centre = [0.41, 0.2, 0.16], size = [0.2, 0.2, 0.2]}
friction = 0.2
translate = [0.1, 0, 0]
times = [0, 0.5]
[solver]
name = "pod-newton"
tolerance = 1e-7
)";

Team& world() {
  static Team team(PETSC_COMM_WORLD);
  return team;
}

Simulation simulation_of(const std::string& text) { return Simulation(parse_scene(text, "test.toml")); }

/// On one process.
State alone(const std::string& text, int steps) {
  Simulation simulation = simulation_of(text);
  for (int k = 0; k < steps; ++k) {
    const StepReport report = simulation.step();
    EXPECT_TRUE(report.succeeded()) << "step " << k + 1 << ": " << report.detail;
  }
  return *simulation.state();
}

/// On all; the whole state, on the first.
State together(const std::string& text, int steps, const DivisionOptions& options = {}) {
  DistributedSimulation all(
      world(), [&] { return parse_scene(text, "test.toml"); }, options);
  Simulation& simulation = all.simulation();
  for (int k = 0; k < steps; ++k) {
    const StepReport report = simulation.step();
    EXPECT_TRUE(report.succeeded()) << "step " << k + 1 << ": " << report.detail;
  }
  return simulation.snapshot().state;
}

double distance(const VecX& a, const VecX& b) { return (a - b).cwiseAbs().maxCoeff(); }

void expect_as_alone(const std::string& text, double least_motion, double tolerance = 1e-8,
                     const DivisionOptions& options = {}) {
  constexpr int kSteps = 30;
  const State found = together(text, kSteps, options);
  if (!world().is_first()) return;
  const State expected = alone(text, kSteps);
  const double error = distance(found.x, expected.x);
  std::printf("  largest distance %.2e m\n", error);
  EXPECT_LT(error, tolerance);
  EXPECT_LT(distance(found.v, expected.v), 100 * tolerance);
  EXPECT_EQ(found.time, expected.time);
  EXPECT_GT(distance(expected.x, simulation_of(text).model()->rest()), least_motion) << "nothing has moved";
}

TEST(Distributed, ASwingingBeamGoesWhereItGoesAlone) { expect_as_alone(kSwing, 0.1); }
TEST(Distributed, ABeamTwistedByAScriptGoesWhereItGoesAlone) { expect_as_alone(kTwist, 0.1); }
TEST(Distributed, AQuadraticCantileverBalancesWhereItDoesAlone) { expect_as_alone(kCantilever, 0.1); }
TEST(Distributed, AMuscleContractsAsItDoesAlone) { expect_as_alone(kMuscle, 0.01); }
TEST(Distributed, BodiesOnCollidersGoWhereTheyGoAlone) { expect_as_alone(kColliders, 0.1); }

/// Colliders as barriers, which is how a scene has them that says nothing else: a plane, a moving box, friction. The
/// box is off the middle of what falls on it, which could tip over either way otherwise.
TEST(Distributed, BodiesOnBarriersGoWhereTheyGoAlone) { expect_as_alone(kBarriers, 0.05); }

/// No process has all of such a model; nodes, sets and surfaces must be those of the whole boxes nevertheless.
TEST(Distributed, BoxesMadeInPartsGoWhereTheyGoAlone) {
  for (const std::string& text : {kTwist, kColliders, kBarriers}) expect_as_alone(text, 0.05, 1e-8, {0});
}

TEST(Distributed, EveryWayToSolveSystemsLeadsToTheSamePlace) {
  const State expected = alone(kSwing, 5);
  for (const char* lines : {"linear = \"direct\"\n", "linear = \"pcg\"\npreconditioner = \"block-jacobi\"\n",
                            "linear = \"pcg\"\npreconditioner = \"incomplete-cholesky\"\n",
                            "linear = \"pcg\"\npreconditioner = \"multigrid\"\n"}) {
    const State found = together(kSwing + lines, 5);
    if (!world().is_first()) continue;
    EXPECT_LT(distance(found.x, expected.x), 1e-8) << lines;
  }
}

/// But for MUMPS, which adds in the order of arrival (docs/scale.md).
TEST(Distributed, TheSameNumberOfProcessesGivesTheSameBits) {
  for (const std::string& text :
       {kSwing, kColliders, kSwing + "linear = \"pcg\"\npreconditioner = \"incomplete-cholesky\"\n",
        kSwing + "linear = \"pcg\"\npreconditioner = \"multigrid\"\n"})
    for (const DivisionOptions options : {DivisionOptions{}, DivisionOptions{0}}) {
      const State first = together(text, 3, options), second = together(text, 3, options);
      if (!world().is_first()) continue;
      EXPECT_EQ(std::memcmp(first.x.data(), second.x.data(), sizeof(double) * at(first.x.size())), 0) << text;
      EXPECT_EQ(std::memcmp(first.v.data(), second.v.data(), sizeof(double) * at(first.v.size())), 0) << text;
    }
}

/// Of parts that the first process has sent, and of those that each has made for itself.
TEST(Distributed, TheSharesOfAllProcessesAddUpToTheWholeModel) {
  for (const std::string& text : {kCantilever, kColliders, kBarriers})
    for (const DivisionOptions options : {DivisionOptions{}, DivisionOptions{0}}) {
      DistributedSimulation all(
          world(), [&] { return parse_scene(text, "test.toml"); }, options);
      const Model& part = *all.simulation().model();
      const Simulation alone = simulation_of(text);
      const Model& whole = *alone.model();
      EXPECT_EQ(all.sharing().all_nodes(), whole.nodes());
      const std::span<const Index> nodes = all.sharing().nodes();
      VecX force = part.external_force();
      all.sharing().sum_copies(force);
      double surface = 0;
      for (const Body& body : part.bodies()) surface += static_cast<double>(body.surface().size());
      std::size_t expected = 0;
      for (const Body& body : whole.bodies()) expected += body.surface().size();
      EXPECT_EQ(all.sharing().sum(surface), static_cast<double>(expected));
      for (Index i = 0; i < part.nodes(); ++i) {
        const Index there = nodes[at(i)];
        EXPECT_EQ((node(part.rest(), i) - node(whole.rest(), there)).norm(), 0);
        EXPECT_NEAR(all.sharing().lumped_mass()[i], whole.mass().lumped()[there], 1e-12 * whole.bodies()[0].mass());
        EXPECT_LT((node(force, i) - node(whole.external_force(), there)).norm(), 1e-9);
        EXPECT_LT((node(part.rest_state().v, i) - node(whole.rest_state().v, there)).norm(), 1e-12);
      }
      if (!whole.contact()) continue;
      EXPECT_NEAR(part.contact()->options.dhat, whole.contact()->options.dhat, 1e-15);
      EXPECT_NEAR(part.contact()->stiffness(), whole.contact()->stiffness(), 1e-9 * whole.contact()->stiffness());
      for (Index i = 0; i < part.nodes(); ++i)
        EXPECT_NEAR(part.contact()->area_at(i), whole.contact()->area_at(nodes[at(i)]), 1e-15);
    }
}

const std::string kStatic = R"(
version = 1
[simulation]
dt = 1.0
frames = 1
integrator = "quasistatic"
[[body]]
box = {size = [2, 1, 1], cells = [20, 10, 10]}
young = 4e5
poisson = 0.4
[[pin]]
where = "x-min"
[solver]
name = "pod-newton"
linear = "pcg"
preconditioner = "multigrid"
tolerance = 1e-6
)";

/// Groups of nodes end where a process does, which must not cost more than a quarter.
TEST(Distributed, MultigridTakesHardlyMoreIterationsThanOnOneMachine) {
  DistributedSimulation all(world(), [] { return parse_scene(kStatic, "test.toml"); });
  const StepReport found = all.simulation().step();
  EXPECT_TRUE(found.succeeded()) << found.detail;
  if (!world().is_first()) return;
  const StepReport expected = simulation_of(kStatic).step();
  std::printf("  %d iterations, alone %d\n", found.linear_iterations, expected.linear_iterations);
  EXPECT_LE(found.linear_iterations, 1.25 * expected.linear_iterations);
}

const std::string kProbes = R"(
[[probe]]
name = "tip"
body = "left"
where = "x > -0.2"
quantities = ["position", "displacement", "velocity", "contact_force"]
[[probe]]
name = "inside"
body = "right"
where = "all"
quantities = ["stress", "volume", "energy", "reaction"]
[[probe]]
name = "corner"
body = "right"
where = {box = {min = [0.29, 0.33, -0.01], max = [0.31, 0.35, 0.01]}}
)";

/// One of them lies in two bodies of several parts, one in a single part, of which other processes have nothing.
TEST(Distributed, ProbesSeeWhatTheySeeAlone) {
  DistributedSimulation all(world(), [] { return parse_scene(kBarriers + kProbes, "test.toml"); });
  Simulation& simulation = all.simulation();
  const ProbeSet probes(simulation.scene(), simulation.model());
  std::vector<double> found = probes.sample(simulation);
  for (int k = 0; k < 6; ++k) simulation.step();
  for (double value : probes.sample(simulation)) found.push_back(value);
  if (!world().is_first()) return;
  Simulation alone = simulation_of(kBarriers + kProbes);
  const ProbeSet as_alone(alone.scene(), alone.model());
  std::vector<double> expected = as_alone.sample(alone);
  for (int k = 0; k < 6; ++k) alone.step();
  for (double value : as_alone.sample(alone)) expected.push_back(value);
  EXPECT_EQ(probes.columns(), as_alone.columns());
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    const std::string& column = probes.columns()[k % probes.columns().size()];
    EXPECT_EQ(std::isnan(found[k]), std::isnan(expected[k])) << column;
    if (std::isnan(expected[k])) continue;
    EXPECT_NEAR(found[k], expected[k], 1e-6 * (1 + std::abs(expected[k]))) << column;
  }
  EXPECT_GT(std::abs(expected[expected.size() / 2 + 10]), 1) << "nothing touches the floor";
}

TEST(Distributed, AStepThatIsAskedToEndEndsOnAllProcesses) {
  DistributedSimulation all(world(), [&] { return parse_scene(kSwing, "test.toml"); });
  Simulation& simulation = all.simulation();
  EXPECT_TRUE(simulation.step().succeeded());
  StepControl control;
  control.request_stop();
  const VecX before = simulation.state()->x;
  EXPECT_EQ(simulation.step(world().is_first() ? &control : nullptr).outcome, Outcome::interrupted);
  EXPECT_EQ(distance(simulation.state()->x, before), 0);
  EXPECT_TRUE(simulation.step().succeeded());
}

TEST(Distributed, ASnapshotGoesOnFromAnyProcessAndAlone) {
  DistributedSimulation all(world(), [&] { return parse_scene(kSwing, "test.toml"); });
  for (int k = 0; k < 3; ++k) all.simulation().step();
  const Snapshot middle = all.simulation().snapshot();
  for (int k = 0; k < 3; ++k) all.simulation().step();
  const Snapshot expected = all.simulation().snapshot();
  all.simulation().restore(middle);
  for (int k = 0; k < 3; ++k) all.simulation().step();
  const Snapshot again = all.simulation().snapshot();
  if (!world().is_first()) return;
  EXPECT_EQ(distance(again.state.x, expected.state.x), 0);
  EXPECT_EQ(again.state.step, 6);
  Simulation alone = simulation_of(kSwing);
  alone.restore(middle);
  for (int k = 0; k < 3; ++k) alone.step();
  EXPECT_LT(distance(alone.state()->x, expected.state.x), 1e-10);
}

std::string refusal(const std::string& text) {
  try {
    DistributedSimulation all(world(), [&] { return parse_scene(text, "test.toml"); });
  } catch (const InputError& error) {
    return error.what();
  } catch (const Elsewhere&) {
    return "elsewhere";
  }
  return "none";
}

TEST(Distributed, WhatIsNotDividedIsRefusedWithARemedyByTheFirstAlone) {
  const auto expect = [&](const std::string& text, const std::string& what) {
    const std::string found = refusal(text);
    if (world().is_first())
      EXPECT_NE(found.find(what), std::string::npos) << found;
    else
      EXPECT_EQ(found, "elsewhere");
  };
  EXPECT_EQ(refusal(kSwing), "none");
  expect(kSwing + "\n[contact]\n", "[contact] between bodies is not divided");
  expect(kSwing + "\n[[probe]]\nwhere = \"boundary\"\nquantities = [\"cavity\"]\n", "a cavity is not measured");
  expect(kSwing + "\n[[probe]]\nwhere = \"x > 5\"\n", "selects no vertex");
  expect("version = 2\n", "version");
  std::string other = kSwing;
  other.replace(other.find("pod-newton"), 10, "quasi-newton");
  expect(other, "--solver pod-newton");
}

/// Whether the last checkpoints of two runs have the same positions; for killed_and_resumed.sh.
int compare(const char* first, const char* second, double tolerance) {
  const auto last = [](const char* folder) {
    return CheckpointFolder(std::filesystem::path(folder) / "checkpoints").newest([](const std::string&) {});
  };
  const std::optional<Checkpoint> a = last(first), b = last(second);
  if (!a || !b || a->snapshot.state.step != b->snapshot.state.step) {
    std::printf("the runs have no checkpoint of the same step\n");
    return 1;
  }
  const double error = distance(a->snapshot.state.x, b->snapshot.state.x);
  std::printf("step %lld: largest distance %.2e m\n", static_cast<long long>(a->snapshot.state.step), error);
  return error <= tolerance ? 0 : 1;
}

}  // namespace
}  // namespace pliant

int main(int argc, char** argv) {
  if (argc == 5 && std::strcmp(argv[1], "--compare") == 0)
    return pliant::compare(argv[2], argv[3], std::strtod(argv[4], nullptr));
  testing::InitGoogleTest(&argc, argv);
  PetscOptionsSetValue(nullptr, "-no_signal_handler", "true");
  if (PetscInitializeNoArguments() != 0) return 1;
  int rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank != 0) {
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
  }
  int failed = 0;
  {
    const tbb::global_control threads(tbb::global_control::max_allowed_parallelism,
                                      static_cast<std::size_t>(pliant::Team(PETSC_COMM_WORLD).threads()));
    failed = RUN_ALL_TESTS();
  }
  PetscFinalize();
  return failed;
}
