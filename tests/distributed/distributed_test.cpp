// Run under mpirun, with any number of processes: every test runs on all of them, and the first judges. What it judges
// by is the same scene on one machine, which shares none of the code between processes.
#include <gtest/gtest.h>
#include <petscsys.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include "pliant/base/error.hpp"
#include "pliant/distributed/distributed_stepper.hpp"
#include "pliant/io/checkpoint.hpp"

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

/// On all; the state is the first's.
State together(const std::string& text, int steps) {
  Simulation simulation = simulation_of(text);
  const NewtonOptions options = distributed_options(simulation);
  DistributedNewton newton(world(), *simulation.model(), options);
  if (!world().is_first()) {
    serve(newton);
    return {};
  }
  DistributedStepper stepper(simulation.model(), newton, options);
  for (int k = 0; k < steps; ++k) {
    const StepReport report = step(simulation, stepper);
    EXPECT_TRUE(report.succeeded()) << "step " << k + 1 << ": " << report.detail;
  }
  return *simulation.state();
}

double distance(const VecX& a, const VecX& b) { return (a - b).cwiseAbs().maxCoeff(); }

void expect_as_alone(const std::string& text, double least_motion, double tolerance = 1e-8) {
  constexpr int kSteps = 30;
  const State found = together(text, kSteps);
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

/// By the way that systems of this size are solved; GAMG does not promise as much (docs/scale.md).
TEST(Distributed, TheSameNumberOfProcessesGivesTheSameBits) {
  const State first = together(kSwing, 5), second = together(kSwing, 5);
  if (!world().is_first()) return;
  EXPECT_EQ(std::memcmp(first.x.data(), second.x.data(), sizeof(double) * at(first.x.size())), 0);
  EXPECT_EQ(std::memcmp(first.v.data(), second.v.data(), sizeof(double) * at(first.v.size())), 0);
}

TEST(Distributed, TheSharesOfAllProcessesAddUpToTheWholeModel) {
  const Simulation simulation = simulation_of(kCantilever);
  const Model& whole = *simulation.model();
  const Partition parts = partition(whole, 3);
  double mass = 0;
  Index owned = 0;
  VecX lumped = VecX::Zero(whole.nodes());
  for (int rank = 0; rank < 3; ++rank) {
    const LocalModel local = local_model(whole, parts, rank);
    mass += local.model->mass().lumped().sum();
    owned += local.owned_count;
    for (std::size_t i = 0; i < local.nodes.size(); ++i) {
      lumped[local.nodes[i]] += local.model->mass().lumped()[static_cast<Eigen::Index>(i)];
      EXPECT_LT((node(local.model->rest(), static_cast<Index>(i)) - node(whole.rest(), local.nodes[i])).norm(), 1e-15);
    }
  }
  EXPECT_EQ(owned, whole.nodes());
  EXPECT_NEAR(mass, whole.bodies()[0].mass(), 1e-12 * mass);
  EXPECT_LT((lumped - whole.mass().lumped()).cwiseAbs().maxCoeff(), 1e-12 * mass);
}

TEST(Distributed, AStepThatIsAskedToEndEndsOnAllProcesses) {
  Simulation simulation = simulation_of(kSwing);
  const NewtonOptions options = distributed_options(simulation);
  DistributedNewton newton(world(), *simulation.model(), options);
  if (!world().is_first()) return serve(newton);
  DistributedStepper stepper(simulation.model(), newton, options);
  EXPECT_TRUE(step(simulation, stepper).succeeded());
  StepControl control;
  control.request_stop();
  stepper.set_control(&control);
  const VecX before = simulation.state()->x;
  EXPECT_EQ(step(simulation, stepper).outcome, Outcome::interrupted);
  EXPECT_EQ(distance(simulation.state()->x, before), 0);
}

std::string refusal(const std::string& text) {
  try {
    const Simulation simulation = simulation_of(text);
    distributed_options(simulation);
    check_divisible(*simulation.model());
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(Distributed, WhatIsNotDividedIsRefusedWithARemedy) {
  EXPECT_EQ(refusal(kSwing), "none");
  EXPECT_NE(refusal(kSwing + "\n[contact]\n").find("[contact] between bodies is not divided"), std::string::npos);
  const std::string collider = "\n[[collider]]\nplane = {point = [0, -2, 0], normal = [0, 1, 0]}\n";
  EXPECT_NE(refusal(kSwing + collider).find("simulation.colliders = \"penalty\""), std::string::npos);
  std::string other = kSwing;
  other.replace(other.find("pod-newton"), 10, "quasi-newton");
  EXPECT_NE(refusal(other).find("--solver pod-newton"), std::string::npos);
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
  const int failed = RUN_ALL_TESTS();
  PetscFinalize();
  return failed;
}
