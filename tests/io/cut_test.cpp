#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "pliant/base/error.hpp"
#include "pliant/io/run.hpp"

namespace pliant {
namespace {

std::string scene_text(const std::string& solver, int order = 1, const std::string& more = "") {
  return R"(
simulation = {dt = 0.01, duration = 0.2}
[[body]]
name = "bar"
box = {size = [0.4, 0.1, 0.1], cells = [8, 2, 2]}
young = 1e5
poisson = 0.3
velocity = [0.3, 0.2, 0.1]
order = )" +
         std::to_string(order) +
         R"(
[[body]]
name = "other"
box = {size = [0.1, 0.1, 0.1], cells = [1, 1, 1], origin = [0, 1, 0]}
young = 1e5
poisson = 0.3
[[pin]]
body = "bar"
where = "x-min"
[[cut]]
body = "bar"
time = 0.05
plane = {point = [0.2, 0, 0], normal = [1, 0, 0]}
[[cut]]
body = "bar"
time = 0.1
plane = {point = [0.3, 0.05, 0.05], normal = [1, 0.4, 0.2]}
[output]
pictures = false
every = 5
checkpoint_every = 7
[solver]
name = ")" +
         solver + "\"\n" + more;
}

Vec3 momentum(const Model& model, const State& state) {
  VecX p;
  model.mass().multiply(state.v, p);
  Vec3 sum = Vec3::Zero();
  for (Index i = 0; i < model.nodes(); ++i) sum += node(p, i);
  return sum;
}

double mass(const Model& model) { return model.mass().lumped().sum(); }

TEST(Cut, KeepsMassMomentumAndEnergyAndMovesNothing) {
  for (int order : {1, 2, 3}) {
    Simulation simulation(parse_scene(scene_text("pod-newton", order), "cut.toml"));
    while (simulation.state()->time < 0.05 - 1e-9) ASSERT_TRUE(simulation.step().converged());
    const auto before = simulation.model();
    const State was = *simulation.state();
    const std::vector<Index> origin = simulation.make_due_cuts();
    const auto after = simulation.model();
    const State& is = *simulation.state();
    ASSERT_EQ(static_cast<Index>(origin.size()), after->nodes());
    EXPECT_GT(after->nodes(), before->nodes());
    EXPECT_NEAR(mass(*after), mass(*before), 1e-15 * mass(*before));
    EXPECT_LT((momentum(*after, is) - momentum(*before, was)).norm(), 1e-14 * momentum(*before, was).norm());
    for (Index i = 0; i < after->nodes(); ++i) {
      EXPECT_EQ(Vec3(node(is.x, i)), Vec3(node(was.x, origin[static_cast<std::size_t>(i)])));
      EXPECT_EQ(Vec3(node(after->rest(), i)), Vec3(node(before->rest(), origin[static_cast<std::size_t>(i)])));
    }
    EXPECT_TRUE(simulation.make_due_cuts().empty());
    EXPECT_TRUE(simulation.step().converged());
  }
}

/// The scene with a material that the solver takes.
Simulation simulation_for(const std::string& solver) {
  for (const char* law : {"neo-hookean", "fixed-corotated"}) {
    try {
      return Simulation(
          parse_scene(scene_text(solver), "cut.toml", ".",
                      {{std::string("body.0.material=") + law, std::string("body.1.material=") + law}, ""}));
    } catch (const InputError&) {
    }
  }
  return Simulation(parse_scene(scene_text(solver), "cut.toml", ".",
                                {{"body.0.material=linear-corotated", "body.1.material=linear-corotated"}, ""}));
}

TEST(Cut, LetsPiecesFallWithEverySolver) {
  for (const SolverEntry& solver : solver_catalogue()) {
    Simulation simulation = simulation_for(solver.name);
    while (simulation.state()->step < simulation.scene().steps) {
      const StepReport report = simulation.step();
      ASSERT_TRUE(simulation.took(report))
          << solver.name << ", step " << simulation.state()->step << ": " << report.detail;
    }
    // The end of the bar has been free for half of the time, the clamped part still hangs on its wall.
    const Body& bar = simulation.model()->bodies()[0];
    double lowest = 1;
    for (Index i : bar.sets().at("x-max")) lowest = std::min(lowest, node(simulation.state()->x, i).y());
    EXPECT_LT(lowest, -0.02) << solver.name;
    for (Index i : bar.sets().at("x-min"))
      EXPECT_LT((node(simulation.state()->x, i) - node(simulation.model()->rest(), i)).norm(), 1e-12) << solver.name;
  }
}

TEST(Cut, ResumesWithTheSameBits) {
  const auto folder = std::filesystem::temp_directory_path() / "pliant-cut-test";
  std::filesystem::remove_all(folder);
  RunObserver observer;
  for (const char* solver : {"pod-newton", "conjac"}) {
    const Scene scene = parse_scene(scene_text(solver), "cut.toml");
    Simulation whole(scene);
    run(whole, {folder / solver / "whole", RunStart::fresh, {}}, observer);
    for (std::int64_t stop : {5, 6, 14}) {
      const auto at = folder / solver / std::to_string(stop);
      Simulation first(scene), second(scene);
      run(first, {at, RunStart::fresh, stop}, observer);
      run(second, {at, RunStart::resume, {}}, observer);
      EXPECT_EQ(second.state()->x, whole.state()->x) << solver << ", stopped after " << stop;
      EXPECT_EQ(second.state()->v, whole.state()->v) << solver << ", stopped after " << stop;
    }
    EXPECT_TRUE(std::filesystem::exists(folder / solver / "whole" / "frames" / "frame_000004.vtu"));
  }
  std::filesystem::remove_all(folder);
}

TEST(Cut, KeepsTheDynamicNodesOfConjac) {
  Simulation simulation(parse_scene(scene_text("conjac", 1, "dynamic = \"x > 0.22 and x < 0.28\"\n"), "cut.toml"));
  while (simulation.state()->time < 0.15) ASSERT_TRUE(simulation.step().succeeded());
  // A slice of 3 x 3 nodes at x = 0.25, with copies where the second cut passes.
  const std::string nodes = std::get<std::string>(simulation.scene().solver.parameters.at("dynamic"));
  EXPECT_GE(std::count(nodes.begin(), nodes.end(), ',') + 1, 9);
  std::stringstream numbers(nodes);
  for (std::string number; std::getline(numbers, number, ',');)
    EXPECT_NEAR(node(simulation.model()->rest(), std::stoi(number)).x(), 0.25, 1e-12);
}

TEST(Cut, RefusesWhatItCannotDo) {
  const auto message = [](const std::string& text) {
    try {
      Simulation simulation(parse_scene(text, "cut.toml"));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  std::string far = scene_text("pod-newton");
  far.replace(far.find("[0.2, 0, 0]"), 11, "[9.0, 0, 0]");
  EXPECT_NE(message(far).find("passes between no two elements of body 'bar'"), std::string::npos) << message(far);
  EXPECT_NE(message(far).find("cut.toml:"), std::string::npos) << message(far);
  std::string both = scene_text("pod-newton");
  both.replace(both.find("time = 0.05"), 11, "surface = \"a.obj\"");
  EXPECT_NE(message(both).find("surface"), std::string::npos) << message(both);
}

}  // namespace
}  // namespace pliant
