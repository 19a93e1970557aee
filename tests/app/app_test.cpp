#include <nlohmann/json.hpp>

#include "app/program.hpp"

namespace pliant::test {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kScene = R"(name = "small"
[simulation]
fps = 60
frames = 60
[[body]]
name = "beam"
box = {size = [2, 1, 1], cells = [6, 3, 3]}
young = 1e5
poisson = 0.4
[[pin]]
where = "x-min"
[[script]]
where = "x-max"
rotate = {axis = [1, 0, 0], centre = [2, 0.5, 0.5], angle = 180}
release = 0.5
[output]
pictures = false
checkpoint_every = 5
)";

std::filesystem::path write_scene(const std::filesystem::path& folder, const std::string& text = kScene) {
  std::ofstream(folder / "small.toml") << text;
  return folder / "small.toml";
}

/// steps.jsonl without the clock.
std::vector<Json> steps_without_seconds(const std::filesystem::path& folder) {
  std::vector<Json> steps;
  std::ifstream in(folder / "steps.jsonl");
  for (std::string line; std::getline(in, line);) {
    steps.push_back(Json::parse(line));
    EXPECT_EQ(steps.back().erase("seconds"), 1u);
  }
  return steps;
}

std::size_t count_lines(const std::filesystem::path& file) {
  const std::string text = content(file);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Complete ones, without drafts.
std::vector<std::filesystem::path> checkpoints(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "checkpoints", none))
    if (entry.path().extension() == ".pliant") files.push_back(entry.path());
  return files;
}

std::string newest_checkpoint(const std::filesystem::path& folder) {
  const std::vector<std::filesystem::path> files = checkpoints(folder);
  return files.empty() ? "" : content(*std::max_element(files.begin(), files.end()));
}

/// The same frames, steps and final state, to the last bit.
void expect_same_results(const std::filesystem::path& a, const std::filesystem::path& b) {
  EXPECT_EQ(steps_without_seconds(a), steps_without_seconds(b));
  EXPECT_EQ(newest_checkpoint(a), newest_checkpoint(b));
  EXPECT_FALSE(newest_checkpoint(a).empty());
  EXPECT_EQ(content(a / "result.pvd"), content(b / "result.pvd"));
  std::size_t frames = 0;
  for (const auto& entry : std::filesystem::directory_iterator(a / "frames")) {
    EXPECT_EQ(content(entry.path()), content(b / "frames" / entry.path().filename())) << entry.path();
    ++frames;
  }
  EXPECT_EQ(frames, 61u);
  EXPECT_EQ(static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(b / "frames"), {})), frames);
}

TEST(App, ABadSceneExitsWithTwoAndWritesNothing) {
  const auto folder = fresh_folder("bad");
  std::string text = kScene;
  text.replace(text.find("young"), 5, "yuong");
  const auto scene = write_scene(folder, text);
  const Ended ended = run(folder, {"run", scene, "--out", folder / "out"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("small.toml:8: unknown key 'yuong' in [[body]]; did you mean 'young'?"), std::string::npos)
      << ended.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST(App, ABadSettingThatOnlyTheModelShowsWritesNothingEither) {
  const auto folder = fresh_folder("empty_selection");
  const auto scene = write_scene(folder);
  const Ended ended = run(folder, {"run", scene, "--out", folder / "out", "--set", "pin.0.where=x < -3"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("selects no vertex"), std::string::npos) << ended.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST(App, BadArgumentsExitWithTwo) {
  const auto folder = fresh_folder("arguments");
  EXPECT_EQ(run(folder, {"run"}).code, 2);
  EXPECT_EQ(run(folder, {"rnu"}).code, 2);
  EXPECT_EQ(run(folder, {"run", "nowhere.toml"}).code, 2);
  EXPECT_EQ(run(folder, {"--help"}).code, 0);
}

TEST(App, TheVersionNamesTheCommit) {
  const Ended ended = run(fresh_folder("version"), {"--version"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.out.find("pliant 0."), 0u) << ended.out;
}

TEST(App, CheckSaysWhatWouldRunAndWritesNothing) {
  const auto folder = fresh_folder("check");
  const Ended ended = run(folder, {"check", write_scene(folder)});
  EXPECT_EQ(ended.code, 0) << ended.err;
  for (const char* word :
       {"beam", "112 vertices", "60 steps", "pod-newton", "could run this scene: pod-newton", "not xpbd: "})
    EXPECT_NE(ended.out.find(word), std::string::npos) << ended.out;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 3);  // scene and the two streams
}

TEST(App, ListsAreReadableByProgramsToo) {
  const auto folder = fresh_folder("lists");
  const Json solvers = Json::parse(run(folder, {"solvers", "--json"}).out);
  EXPECT_EQ(solvers.at(0).at("name"), "pod-newton");
  EXPECT_FALSE(solvers.at(0).at("parameters").empty());
  EXPECT_EQ(solvers.at(0).at("supports").at("contact"), Json({"implicit-euler", "quasistatic"}));
  const Json materials = Json::parse(run(folder, {"materials", "--json"}).out);
  EXPECT_GE(materials.size(), 6u);
  EXPECT_NE(run(folder, {"solvers"}).out.find("tolerance"), std::string::npos);
  EXPECT_NE(run(folder, {"solvers"}).out.find("consistent mass"), std::string::npos);
  EXPECT_NE(run(folder, {"materials"}).out.find("neo-hookean"), std::string::npos);
  EXPECT_EQ(run(folder, {"docs", "solvers"}).out.find("# The solvers"), 0u);
}

TEST(App, OneAndTwoThreadsGiveTheSameBits) {
  const auto folder = fresh_folder("threads");
  const auto scene = write_scene(folder);
  // Large enough that every parallel loop has several chunks.
  const std::string finer = "body.box.cells=[10, 5, 5]";
  ASSERT_EQ(run(folder, {"run", scene, "--set", finer, "--out", folder / "one", "--threads", "1"}).code, 0);
  ASSERT_EQ(run(folder, {"run", scene, "--set", finer, "--out", folder / "two", "--threads", "2"}).code, 0);
  expect_same_results(folder / "one", folder / "two");
}

TEST(App, KilledAtAnyMomentAndResumedTheBitsAreTheSame) {
  const auto folder = fresh_folder("killed");
  const auto scene = write_scene(folder);
  ASSERT_EQ(run(folder, {"run", scene, "--out", folder / "whole"}).code, 0);
  bool first = true;
  // Moments before and just after a checkpoint, and in the middle between two.
  for (std::size_t lines : {6u, 18u, 30u, 43u}) {
    std::vector<std::string> arguments = {"run", scene, "--out", folder / "killed"};
    if (!first) arguments.push_back("--resume");
    Program program(folder, arguments);
    // The first checkpoint is written while the first steps are taken: without it there is nothing to resume from.
    const auto has_come_far = [&] {
      return count_lines(folder / "killed/steps.jsonl") >= lines && !checkpoints(folder / "killed").empty();
    };
    ASSERT_TRUE(program.wait_until(has_come_far) || has_come_far());
    program.send(SIGKILL);
    const Ended ended = program.wait();
    EXPECT_TRUE(ended.signal == SIGKILL || ended.code == 0) << ended.err;  // a slow tester may come too late
    first = false;
  }
  const Ended resumed = run(folder, {"run", scene, "--out", folder / "killed", "--resume"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.out.find("resumed at step"), std::string::npos) << resumed.out;
  expect_same_results(folder / "whole", folder / "killed");
}

TEST(App, CtrlCEndsAfterTheStepAndSaysHowToResume) {
  const auto folder = fresh_folder("interrupted");
  const auto scene = write_scene(folder);
  ASSERT_EQ(run(folder, {"run", scene, "--out", folder / "whole"}).code, 0);
  Program program(folder, {"run", scene, "--out", folder / "stopped"});
  ASSERT_TRUE(program.wait_until([&] { return count_lines(folder / "stopped/steps.jsonl") >= 2; }));
  program.send(SIGINT);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 130) << ended.err;
  EXPECT_NE(ended.err.find("--resume"), std::string::npos) << ended.err;
  const Json summary = Json::parse(content(folder / "stopped/summary.json"));
  EXPECT_EQ(summary.at("end"), "interrupted");
  EXPECT_EQ(summary.at("steps"), count_lines(folder / "stopped/steps.jsonl"));
  ASSERT_EQ(run(folder, {"run", scene, "--out", folder / "stopped", "--resume"}).code, 0);
  expect_same_results(folder / "whole", folder / "stopped");
}

TEST(App, ADamagedCheckpointIsSaidAndTheOneBeforeTaken) {
  const auto folder = fresh_folder("damaged");
  const auto scene = write_scene(folder);
  ASSERT_EQ(run(folder, {"run", scene, "--out", folder / "whole"}).code, 0);
  ASSERT_EQ(run(folder, {"run", scene, "--out", folder / "half", "--frames", "12"}).code, 0);
  std::filesystem::resize_file(folder / "half/checkpoints/step_000000012.pliant", 1000);
  const Ended ended = run(folder, {"run", scene, "--out", folder / "half", "--resume"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("step_000000012.pliant is damaged or cut short"), std::string::npos) << ended.err;
  EXPECT_NE(ended.out.find("resumed at step 10"), std::string::npos) << ended.out;
  EXPECT_EQ(steps_without_seconds(folder / "whole"), steps_without_seconds(folder / "half"));
}

TEST(App, AFullDiskExitsWithOneAndTheRunCanGoOnLater) {
  const auto folder = fresh_folder("full");
  const auto scene = write_scene(folder);
  ASSERT_EQ(run(folder, {"run", scene, "--out", folder / "whole"}).code, 0);
  // Room for a frame and a checkpoint, but only for half of steps.jsonl.
  const Ended ended = Program(folder, {"run", scene, "--out", folder / "full"},
                              {.file = content(folder / "whole/steps.jsonl").size() / 2})
                          .wait();
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.err.find("steps.jsonl: cannot be written: File too large"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("what was written before is intact"), std::string::npos) << ended.err;
  ASSERT_EQ(run(folder, {"run", scene, "--out", folder / "full", "--resume"}).code, 0);
  expect_same_results(folder / "whole", folder / "full");
}

TEST(App, ResumingAnotherSceneIsRefused) {
  const auto folder = fresh_folder("another");
  const auto scene = write_scene(folder);
  ASSERT_EQ(run(folder, {"run", scene, "--out", folder / "out", "--frames", "5"}).code, 0);
  const std::string before = content(folder / "out/steps.jsonl");
  const Ended ended = run(folder, {"run", scene, "--out", folder / "out", "--resume", "--set", "body.young=2e5",
                                   "--set", "solver.tolerance=0.5"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("belongs to another scene: materials and masses, solver differ"), std::string::npos)
      << ended.err;
  EXPECT_EQ(content(folder / "out/steps.jsonl"), before);
}

TEST(App, AFolderInUseIsRefusedUnlessForcedAndForeignFilesStay) {
  const auto folder = fresh_folder("in_use");
  const auto scene = write_scene(folder);
  ASSERT_EQ(run(folder, {"run", scene, "--out", folder / "out", "--frames", "5"}).code, 0);
  std::ofstream(folder / "out/notes.txt") << "mine";
  const Ended refused = run(folder, {"run", scene, "--out", folder / "out", "--frames", "2"});
  EXPECT_EQ(refused.code, 2);
  for (const char* word : {"--resume", "--force", "--out"})
    EXPECT_NE(refused.err.find(word), std::string::npos) << refused.err;
  EXPECT_EQ(count_lines(folder / "out/steps.jsonl"), 5u);
  ASSERT_EQ(run(folder, {"run", scene, "--out", folder / "out", "--frames", "2", "--force"}).code, 0);
  EXPECT_EQ(count_lines(folder / "out/steps.jsonl"), 2u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "out/frames"), {}), 3);
  EXPECT_EQ(content(folder / "out/notes.txt"), "mine");
}

TEST(App, AFolderThatCannotBeMadeExitsWithOne) {
  const auto folder = fresh_folder("unwritable");
  const Ended ended = run(folder, {"run", write_scene(folder), "--out", "/proc/pliant"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.err.find("--out"), std::string::npos) << ended.err;
}

TEST(App, AFailedStepExitsWithOneAndSaysWhatToTry) {
  const auto folder = fresh_folder("failed");
  const auto scene = write_scene(folder);
  const Ended ended = run(folder, {"run", scene, "--out", folder / "out", "--set", "solver.max_iterations=1", "--set",
                                   "solver.tolerance=1e-9"});
  EXPECT_EQ(ended.code, 1);
  for (const char* word : {"step 1 ", "not converged after 1 iteration", "max_iterations", "simulation.dt"})
    EXPECT_NE(ended.err.find(word), std::string::npos) << ended.err;
  const Json summary = Json::parse(content(folder / "out/summary.json"));
  EXPECT_EQ(summary.at("end"), "failed");
  EXPECT_EQ(summary.at("outcomes").at("iteration-limit"), 1);
  const Ended onwards =
      run(folder, {"run", scene, "--out", folder / "out", "--force", "--frames", "3", "--set",
                   "solver.max_iterations=1", "--set", "solver.tolerance=1e-9", "--set", "solver.on_failure=continue"});
  EXPECT_EQ(onwards.code, 3) << onwards.err;
  EXPECT_NE(onwards.err.find("step 3 (iteration-limit)"), std::string::npos) << onwards.err;
  EXPECT_NE(onwards.err.find("3 steps failed, and the run went on"), std::string::npos) << onwards.err;
  // Those that failed before a run was resumed are not forgotten.
  const Ended resumed =
      run(folder, {"run", scene, "--out", folder / "out", "--resume", "--frames", "4", "--set",
                   "solver.max_iterations=1", "--set", "solver.tolerance=1e-9", "--set", "solver.on_failure=continue"});
  EXPECT_EQ(resumed.code, 3) << resumed.err;
  EXPECT_NE(resumed.err.find("4 steps failed, and the run went on"), std::string::npos) << resumed.err;
}

TEST(App, AResultInDoubtExitsWithThreeAndSaysWhy) {
  const auto folder = fresh_folder("doubt");
  // One end is pushed through the other: elements cannot but be inverted.
  const auto inside_out = write_scene(folder, R"(name = "small"
simulation = {fps = 60, frames = 20}
body = [{box = {size = [1, 0.5, 0.5], cells = [2, 1, 1]}, young = 1e5, poisson = 0.3, law = "fixed-corotated"}]
pin = [{where = "x-min"}]
script = [{where = "x-max", translate = [-1.5, 0, 0], times = [0, 0.2]}]
)");
  const Ended ended = run(folder, {"run", inside_out, "--out", folder / "out"});
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_NE(ended.err.find("are inverted at the end"), std::string::npos) << ended.err;
  const Json summary = Json::parse(content(folder / "out/summary.json"));
  EXPECT_EQ(summary["end"], "finished");
  ASSERT_EQ(summary["doubts"].size(), 1u);
  EXPECT_GT(summary["bodies"]["inverted_elements"], 0);

  const auto sound = write_scene(folder);
  EXPECT_EQ(run(folder, {"run", sound, "--out", folder / "sound"}).code, 0);
  EXPECT_TRUE(Json::parse(content(folder / "sound/summary.json"))["doubts"].empty());
}

TEST(App, ARunIsDoubtedForWhatItsLastStepDoesNotShow) {
  const auto folder = fresh_folder("quarters");
  // Rubber with a stiff end, which hangs back under ten iterations; after a second it happens to swing as it should.
  const auto scene = write_scene(folder, R"(name = "stiff"
simulation = {fps = 60, frames = 60}
solver = {name = "quasi-newton"}
pin = [{where = "x-min"}]
output = {pictures = false}
[[body]]
box = {size = [1.5, 0.3, 0.3], cells = [12, 3, 3]}
young = 2e5
poisson = 0.4
regions = {stiff = {where = "x > 0.99", young = 1e9, poisson = 0.3}}
)");
  const Ended ended = run(folder, {"run", scene, "--out", folder / "out"});
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_NE(ended.err.find("step 45 (t = 0.75 s) ended"), std::string::npos) << ended.err;
  EXPECT_FALSE(Json::parse(content(folder / "out/summary.json"))["last_step"]["is_far"]);
  // Enough iterations leave no doubt.
  const Ended patient = run(folder, {"run", scene, "--out", folder / "patient", "--set", "solver.iterations=100"});
  EXPECT_EQ(patient.code, 0) << patient.err;
}

TEST(App, SummaryHoldsWhatRanAndWhatItCost) {
  const auto folder = fresh_folder("summary");
  ASSERT_EQ(run(folder, {"run", write_scene(folder), "--out", folder / "out", "--frames", "1", "--set",
                         "output.pictures=true", "--set", "output.history=true"})
                .code,
            0);
  const Json summary = Json::parse(content(folder / "out/summary.json"));
  EXPECT_EQ(summary.at("solver").at("name"), "pod-newton");
  EXPECT_EQ(summary.at("solver").at("parameters").at("line_search"), "robust");
  EXPECT_EQ(summary.at("steps"), 1);
  EXPECT_GT(summary.at("means").at("iterations_per_step").get<double>(), 0);
  EXPECT_FALSE(summary.at("machine").at("processor").get<std::string>().empty());
  EXPECT_EQ(steps_without_seconds(folder / "out").at(0).at("history").size(),
            steps_without_seconds(folder / "out").at(0).at("iterations"));
  EXPECT_EQ(content(folder / "out/picture.png").substr(1, 3), "PNG");
  EXPECT_FALSE(std::filesystem::exists(folder / "out/film.png"));  // two frames are no film
}

}  // namespace
}  // namespace pliant::test
