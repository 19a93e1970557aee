#include "pliant/simulation/simulation.hpp"

#include <gtest/gtest.h>

#include "pliant/base/error.hpp"
#include "pliant/io/checkpoint.hpp"
#include "pliant/io/run.hpp"

namespace pliant {
namespace {

constexpr const char* kBar = R"(
simulation = {dt = 0.01, duration = 0.1}
output = {pictures = false}
[[body]]
name = "bar"
box = {size = [2, 1, 1], cells = [4, 2, 2]}
young = 1e5
poisson = 0.4
[[pin]]
where = "x-min"
)";

constexpr const char* kBall = R"(
[[body]]
name = "block"
box = {size = [1, 1, 1], cells = [1, 1, 1], origin = [0, 3, 0]}
young = 1e5
poisson = 0.4
velocity = [1, 2, 3]
)";

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Simulation, KeepsTheStateInPlaceWhileItSteps) {
  Simulation simulation(parse_scene(kBar, "bar.toml"));
  const std::shared_ptr<State> state = simulation.state();
  const double* x = state->x.data();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(simulation.step().converged());
  simulation.rebuild(parse_scene(kBar, "bar.toml"));
  EXPECT_EQ(simulation.state(), state);
  EXPECT_EQ(simulation.state()->x.data(), x);
  EXPECT_EQ(state->step, 3);
  EXPECT_DOUBLE_EQ(state->time, 0.03);
}

TEST(Simulation, MeasuresTheSameResidualAsTheStepReports) {
  for (const char* integrator : {"implicit-euler", "quasistatic"}) {
    Simulation simulation(
        parse_scene(kBar, "bar.toml", ".", {{std::string("simulation.integrator=") + integrator}, ""}));
    EXPECT_EQ(message([&] { simulation.unbalanced_forces(); }),
              "no step has been taken yet, so there are no unbalanced forces");
    simulation.step();
    const StepReport report = simulation.step();
    EXPECT_NEAR(simulation.unbalanced_forces().norm(), report.residuals.force, 1e-12);
    EXPECT_GT(report.residuals.force, 0);
  }
}

TEST(Simulation, CarriesTheStateOfKnownBodiesOverWhenRebuilt) {
  Simulation simulation(parse_scene(kBar, "bar.toml"));
  for (int i = 0; i < 3; ++i) simulation.step();
  const State before = *simulation.state();
  simulation.rebuild(parse_scene(std::string(kBar) + "body = \"bar\"\n" + kBall, "both.toml"));
  const State& after = *simulation.state();
  const Eigen::Index n = before.x.size();
  ASSERT_EQ(after.x.size(), n + 3 * 8);
  EXPECT_EQ(after.x.head(n), before.x);
  EXPECT_EQ(after.v.head(n), before.v);
  EXPECT_EQ(Vec3(after.v.tail<3>()), Vec3(1, 2, 3));
  EXPECT_EQ(after.step, 3);
}

TEST(Simulation, IsAsItWasAfterARebuildThatFails) {
  Simulation simulation(parse_scene(kBar, "bar.toml"));
  simulation.step();
  const State before = *simulation.state();
  Scene broken = parse_scene(kBar, "bar.toml");
  broken.pins[0].where.any = {{VertexList{{1000}}}};
  EXPECT_NE(message([&] { simulation.rebuild(broken); }).find("vertex 1000 does not exist"), std::string::npos);
  EXPECT_EQ(simulation.state()->x, before.x);
  EXPECT_TRUE(simulation.step().converged());
}

TEST(Simulation, LoadsWhatItSavedAndRefusesAnotherScene) {
  const auto file = std::filesystem::path(testing::TempDir()) / "pliant_simulation.pliant";
  Simulation one(parse_scene(kBar, "bar.toml"));
  for (int i = 0; i < 3; ++i) one.step();
  save(one, file);
  Simulation two(parse_scene(kBar, "bar.toml"));
  load(two, file);
  one.step();
  two.step();
  EXPECT_EQ(one.state()->x, two.state()->x);
  EXPECT_EQ(one.state()->v, two.state()->v);
  Simulation other(parse_scene(kBar, "bar.toml", ".", {{"body.young=2e5"}, ""}));
  EXPECT_NE(message([&] { load(other, file); }).find("belongs to another scene: materials and masses differ"),
            std::string::npos);
}

TEST(Simulation, RunsWithoutAFolder) {
  Simulation simulation(parse_scene(kBar, "bar.toml"));
  RunObserver silent;
  const RunResult result = run(simulation, {}, silent);
  EXPECT_EQ(result.end, RunEnd::finished);
  EXPECT_EQ(result.state.step, 10);
  EXPECT_EQ(result.totals.steps, 10);
}

/// What a run of the bar says.
std::string notices_of(const std::vector<std::string>& set, const std::string& solver) {
  struct Listener : RunObserver {
    void on_notice(const std::string& line) override { text += line + "\n"; }
    std::string text;
  } listener;
  Simulation simulation(parse_scene(kBar, "bar.toml", ".", {set, solver}));
  const RunResult result = run(simulation, {}, listener);
  EXPECT_EQ(result.end, RunEnd::finished);
  EXPECT_EQ(result.doubts.empty(), listener.text.empty());
  return listener.text;
}

TEST(Simulation, SaysWhenASolverDoesNotKeepUpWithTheScene) {
  const std::vector<std::string> nearly_incompressible = {"body.0.poisson=0.49999", "simulation.dt=0.02"};
  EXPECT_NE(notices_of(nearly_incompressible, "projective-dynamics").find("from its solution"), std::string::npos);
  EXPECT_EQ(notices_of(nearly_incompressible, "pod-newton"), "");
  for (const char* solver : {"projective-dynamics", "quasi-newton", "fp-pxpbd", "linearly-implicit", "warp-canceling"})
    EXPECT_EQ(notices_of({}, solver), "") << solver;
}

TEST(Simulation, MovesDrivenNodesWhereTheyAreToldBeforeAStep) {
  SceneObjects objects;
  const auto driven = std::make_shared<DrivenPositions>();
  objects.driven["grip"] = driven;
  const std::string text =
      std::string(kBar) + "[[script]]\nname = \"grip\"\nwhere = \"x-max\"\nimposition = \"direct\"\n";
  Simulation simulation(scene_from_tree(parse_toml(text, "bar.toml"), "bar", ".", {}, objects));
  ASSERT_EQ(driven->positions.size(), 9U);
  const Script& script = simulation.model()->scripts()[0];
  for (std::size_t k = 0; k < 9; ++k)
    EXPECT_EQ(driven->positions[k], Vec3(node(simulation.model()->rest(), script.nodes[k])));
  for (Vec3& p : driven->positions) p += Vec3(0.01, 0, 0);
  ASSERT_TRUE(simulation.step().converged());
  for (std::size_t k = 0; k < 9; ++k)
    EXPECT_EQ(Vec3(node(simulation.state()->x, script.nodes[k])), driven->positions[k]);
}

TEST(SceneObjects, AreFoundByTheNamesATreeUses) {
  SceneObjects objects;
  objects.meshes["my mesh"] = std::make_shared<TetMesh>(box({.size = {2, 1, 1}, .cells = {2, 1, 1}}));
  objects.vertices["my vertices"] = {0, 3};
  const Scene scene = scene_from_tree(parse_toml(R"(
simulation = {dt = 0.01, frames = 1}
body = [{mesh = "my mesh", young = 1, poisson = 0.3}]
pin = [{where = ["my vertices", "x-max"]}]
)",
                                                 "tree"),
                                      "tree", ".", {}, objects);
  const auto model = build_model(scene);
  EXPECT_EQ(model->bodies()[0].mesh, objects.meshes["my mesh"]);
  EXPECT_EQ(model->pins()[0].nodes, (std::vector<Index>{0, 2, 3, 5, 8, 11}));
}

}  // namespace
}  // namespace pliant
