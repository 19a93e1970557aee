#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/program.hpp"

namespace pliant::test {
namespace {

std::filesystem::path small_scene(const std::filesystem::path& folder) {
  std::ofstream(folder / "drop.toml") << R"(name = "drop"
[simulation]
fps = 60
frames = 6
[[body]]
name = "cube"
box = {size = [1, 1, 1], cells = [2, 2, 2]}
young = 1e5
poisson = 0.4
translate = [0, 0.1, 0]
[[collider]]
name = "floor"
plane = {}
)";
  return folder / "drop.toml";
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t p = text.find(what); p != std::string::npos; p = text.find(what, p + 1)) ++n;
  return n;
}

TEST(Study, AnExportThatTheSceneAsksForAndThatFailsIsAFailureOfAWholeRun) {
  const auto folder = fresh_folder("failed_export");
  std::ofstream(folder / "beam.toml")
      << "name = \"beam\"\n[simulation]\nfps = 60\nframes = 3\n[[body]]\nbox = {size = [2, 1, "
         "1], cells = [4, 2, 2]}\nyoung = 1e5\npoisson = 0.4\n[output]\nexport = "
         "[\"usda\"]\npictures = false\n";
  ASSERT_EQ(run(folder, {"run", folder / "beam.toml", "--out", folder / "out", "--frames", "1"}).code, 0);
  std::filesystem::remove(folder / "out/beam.usda");
  std::filesystem::create_directories(folder / "out/beam.usda/in/the/way");
  const Ended ended = run(folder, {"run", folder / "beam.toml", "--out", folder / "out", "--resume"});
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_TRUE(says(ended.err, "usda could not be exported")) << ended.err;
  EXPECT_TRUE(says(ended.err, "the run is whole")) << ended.err;
  EXPECT_TRUE(std::filesystem::exists(folder / "out/frames/frame_000003.vtu"));
}

TEST(Study, ARunIsExportedDrawnAndToldStepByStep) {
  const auto folder = fresh_folder("study_run");
  const Ended ran = run(folder, {"run", small_scene(folder), "--out", folder / "out", "--verbose"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(count(ran.out, " residual "), 6u) << ran.out;
  EXPECT_TRUE(std::filesystem::exists(folder / "out/picture.png"));
  ASSERT_EQ(run(folder, {"run", small_scene(folder), "--out", folder / "bare", "--set", "output.pictures=false"}).code,
            0);
  EXPECT_FALSE(std::filesystem::exists(folder / "bare/picture.png"));
  EXPECT_TRUE(std::filesystem::exists(folder / "out/colliders.pvd"));
  const Ended exported =
      run(folder, {"export", folder / "out", "--format", "glb", "--every", "2", "--colour", "speed"});
  EXPECT_EQ(exported.code, 0) << exported.err;
  EXPECT_NE(exported.out.find("drop.glb: 4 of 7 frames (one frame in 2"), std::string::npos) << exported.out;
  const Ended drawn = run(folder, {"picture", folder / "out", "--size", "160", "90", "--colour", "body"});
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  for (const char* picture : {"picture.png", "film.png"})
    EXPECT_EQ(content(folder / "out" / picture).substr(1, 3), "PNG");
  EXPECT_EQ(run(folder, {"export", folder}).code, 2);
  EXPECT_EQ(run(folder, {"picture", folder / "out", "--film", folder / "film.avi"}).code, 2);
  const Ended film = run(folder, {"picture", folder / "out", "--film", folder / "film.gif", "--size", "160", "90"});
  EXPECT_EQ(film.code, 0) << film.err;
  EXPECT_EQ(content(folder / "film.gif").substr(0, 6), "GIF89a");
}

TEST(Study, SolversAreComparedAndAKeyIsSwept) {
  const auto folder = fresh_folder("study_compare");
  const Ended compared = run(folder, {"compare", small_scene(folder), "--solvers", "newton,quasi-newton", "--frames",
                                      "3", "--budget", "1000", "--out", folder / "compare"});
  ASSERT_EQ(compared.code, 0) << compared.err;
  EXPECT_NE(compared.out.find("pod-newton (reference)"), std::string::npos) << compared.out;
  EXPECT_NE(compared.out.find("best within 1000 ms"), std::string::npos) << compared.out;
  const auto json = nlohmann::json::parse(content(folder / "compare/compare.json"));
  EXPECT_EQ(json["trials"].size(), 2u);
  EXPECT_NE(content(folder / "compare/compare.html").find("<svg"), std::string::npos);
  // Its figures are those of `run`: the same steps, the same iterations.
  ASSERT_EQ(
      run(folder, {"run", small_scene(folder), "--solver", "newton", "--frames", "3", "--out", folder / "run"}).code,
      0);
  std::ifstream steps(folder / "run/steps.jsonl");
  std::size_t k = 0;
  for (std::string line; std::getline(steps, line); ++k) {
    const auto step = nlohmann::json::parse(line);
    EXPECT_EQ(step["iterations"], json["trials"][0]["series"]["iterations"][k].get<int>());
    EXPECT_EQ(step["residuals"]["force"], json["trials"][0]["series"]["force"][k]);
  }
  EXPECT_EQ(k, 3u);
  EXPECT_EQ(json["clock"], "wall");
  const Ended swept = run(folder, {"sweep", small_scene(folder), "--over", "body.0.young=1e5,1e6", "--frames", "2",
                                   "--threads", "1", "--out", folder / "sweep"});
  EXPECT_EQ(nlohmann::json::parse(content(folder / "sweep/compare.json"))["clock"], "processor");
  EXPECT_EQ(swept.code, 0) << swept.err;
  EXPECT_NE(swept.out.find("1e6"), std::string::npos) << swept.out;
  EXPECT_EQ(run(folder, {"sweep", small_scene(folder), "--over", "nonsense"}).code, 2);
}

TEST(Study, AReferenceThatIsNoneIsNamedBeforeAnythingRuns) {
  const auto folder = fresh_folder("study_reference");
  const std::string scene = small_scene(folder);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"compare", scene, "--reference", "newtn"},
        std::vector<std::string>{"sweep", scene, "--over", "solver.tolerance=1e-3,1e-4", "--reference", "newtn"}}) {
    const Ended ended = run(folder, command);
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(ended.err, "error: --reference: there is no solver 'newtn'; did you mean 'newton'?\n");
  }
}

TEST(Study, ANewSceneRunsAndIsNotOverwritten) {
  const auto folder = fresh_folder("study_new");
  for (const char* kind : {"--drop", "--young=1e6"}) {
    const std::string name = folder / (std::string("scene") + kind);
    ASSERT_EQ(run(folder, {"new", name, kind}).code, 0) << run(folder, {"new", name, kind}).err;
    const Ended checked = run(folder, {"check", name + ".toml"});
    EXPECT_EQ(checked.code, 0) << checked.err;
    EXPECT_EQ(run(folder, {"new", name}).code, 2);
  }
  ASSERT_EQ(run(folder, {"mesh", "generate", "sphere", "--cells", "4", folder / "ball.msh"}).code, 0);
  const Ended made = run(folder, {"new", folder / "not/there/ball", "--mesh", folder / "ball.msh", "--drop"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(run(folder, {"check", folder / "not/there/ball.toml"}).code, 0);
}

TEST(Study, HelpOfEveryCommandEndsWithAnExampleOfItsOwn) {
  const auto folder = fresh_folder("study_help");
  for (const std::string name : {"new", "run", "view", "check", "solvers", "materials", "mesh", "compare", "sweep",
                                 "export", "picture", "reproduce", "docs", "completion"}) {
    const Ended help = run(folder, {name, "--help"});
    EXPECT_NE(help.out.find("For example: pliant " + name), std::string::npos) << help.out;
  }
}

TEST(Study, ShellsAndTheManualKnowEveryCommand) {
  const auto folder = fresh_folder("study_shell");
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Ended printed = run(folder, {"completion", shell});
    ASSERT_EQ(printed.code, 0);
    for (const char* word : {"compare", "export", "quasi-newton", "resume"})
      EXPECT_NE(printed.out.find(word), std::string::npos) << shell << " " << word;
  }
  run(folder, {"completion", "bash"});
  const std::string script = folder / "stdout.txt";
  EXPECT_EQ(std::system(("bash -n " + script).c_str()), 0);
  const auto completes = [&](const std::string& words, int place, const std::string& word) {
    return std::system(
               fmt::format("bash -c 'source {}; COMP_WORDS=({}); COMP_CWORD={}; _pliant; [ \"${{COMPREPLY[0]}}\" "
                           "= {} ]'",
                           script, words, place, word)
                   .c_str()) == 0;
  };
  EXPECT_TRUE(completes("pliant comp", 1, "compare"));
  EXPECT_TRUE(completes("pliant run s.toml --solver chebys", 4, "chebyshev"));
  EXPECT_TRUE(completes("pliant compare s.toml --solvers newton,chebys", 4, "newton,chebyshev"));
  EXPECT_TRUE(completes("pliant new s --material mooney", 4, "mooney-rivlin"));
  EXPECT_TRUE(completes("pliant picture out --colour von", 4, "von_mises"));
  EXPECT_TRUE(completes("pliant solvers proj", 2, "projected-newton"));
  const Ended manual = run(folder, {"docs", "man"});
  EXPECT_EQ(manual.out.substr(0, 10), ".TH PLIANT");
  EXPECT_NE(manual.out.find("3: finished with a result that is in doubt"), std::string::npos);
  EXPECT_NE(manual.out.find(".SS compare SCENE"), std::string::npos) << manual.out.substr(0, 500);
}

}  // namespace
}  // namespace pliant::test
