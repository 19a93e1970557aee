// What a program must bear: signals at any moment, too little memory, two runs in one folder, files that are none.
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "app/program.hpp"

namespace pliant::test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::filesystem::path write_file(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text;
  return file;
}

/// A small beam that bends.
std::string beam(const std::string& more = "", const std::string& cells = "[4, 2, 2]") {
  return "name = \"beam\"\n[simulation]\nfps = 60\nframes = 40\n[[body]]\nbox = {size = [2, 1, 1], cells = " + cells +
         "}\nyoung = 1e5\npoisson = 0.4\n[[pin]]\nwhere = \"x-min\"\n[output]\npictures = false\ncheckpoint_every = "
         "5\n" +
         more;
}

/// A step that would go on for ever.
const char* const kEndless = "[solver]\nname = \"fp-pxpbd\"\niterations = 1000000000\n";

TEST(Reliability, AStepThatGoesOnForEverIsToldOfAndLeftAtASignal) {
  const auto folder = fresh_folder("endless");
  const auto scene = write_file(folder / "beam.toml", beam(kEndless));
  const Clock::time_point begin = Clock::now();
  Program program(folder, {"run", scene, "--out", folder / "out"});
  ASSERT_TRUE(program.wait_until([&] { return std::filesystem::exists(folder / "out/frames/frame_000000.vtu"); }));
  // "step 1/40 has taken 10 s and 51234 iterations so far"
  ASSERT_TRUE(program.wait_until([&] { return says(content(folder / "stderr.txt"), " iterations so far"); }));
  EXPECT_LT(seconds_since(begin), 30);
  program.send(SIGTERM);
  const Clock::time_point asked = Clock::now();
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 130) << ended.err;
  EXPECT_LT(seconds_since(asked), 10);
  EXPECT_TRUE(says(ended.err, "interrupted")) << ended.err;
}

TEST(Reliability, ARunLeftInTheMiddleOfAStepGoesOnFromItsCheckpointWithTheSameBits) {
  const auto folder = fresh_folder("left");
  const auto scene = write_file(folder / "beam.toml", beam());
  ASSERT_EQ(run(folder, {"run", scene, "--out", folder / "whole"}).code, 0);
  ASSERT_EQ(run(folder, {"run", scene, "--out", folder / "left", "--frames", "10"}).code, 0);
  // Killed in a later step, after lines and frames that the checkpoint knows nothing of.
  Program program(folder, {"run", scene, "--out", folder / "left", "--resume"});
  program.wait_until([&] { return std::filesystem::exists(folder / "left/frames/frame_000013.vtu"); });
  program.send(SIGKILL);
  program.wait();
  ASSERT_EQ(run(folder, {"run", scene, "--out", folder / "left", "--resume"}).code, 0);
  EXPECT_EQ(content(folder / "whole/frames/frame_000040.vtu"), content(folder / "left/frames/frame_000040.vtu"));
  EXPECT_EQ(content(folder / "whole/result.pvd"), content(folder / "left/result.pvd"));
}

TEST(Reliability, TwoRunsNeverWriteToOneFolder) {
  const auto folder = fresh_folder("two_runs");
  std::filesystem::create_directories(folder / "second");
  const auto scene = write_file(folder / "beam.toml", beam(kEndless));
  Program first(folder, {"run", scene, "--out", folder / "out"});
  ASSERT_TRUE(first.wait_until([&] { return std::filesystem::exists(folder / "out/frames/frame_000000.vtu"); }));
  for (const char* how : {"--resume", "--force"}) {
    const Ended second = run(folder / "second", {"run", scene, "--out", folder / "out", how});
    EXPECT_EQ(second.code, 2) << how;
    EXPECT_TRUE(says(second.err, "is being written by another run")) << second.err;
  }
  // A killed process leaves no lock behind.
  first.send(SIGKILL);
  first.wait();
  const auto quick = write_file(folder / "quick.toml", beam());
  const Ended third = run(folder, {"run", quick, "--out", folder / "out", "--force", "--frames", "2"});
  EXPECT_EQ(third.code, 0) << third.err;
}

TEST(Reliability, WhatAKilledRunHadBegunToWriteIsRemoved) {
  const auto folder = fresh_folder("drafts");
  const auto scene = write_file(folder / "beam.toml", beam());
  ASSERT_EQ(run(folder, {"run", scene, "--out", folder / "out", "--frames", "5"}).code, 0);
  const std::vector<std::filesystem::path> drafts = {folder / "out/frames/frame_000006.vtu.part123",
                                                     folder / "out/checkpoints/step_000000005.pliant.part9",
                                                     folder / "out/result.pvd.part77"};
  for (const auto& draft : drafts) std::ofstream(draft) << "half";
  const auto own = write_file(folder / "out/my.partition", "a person's own");
  ASSERT_EQ(run(folder, {"run", scene, "--out", folder / "out", "--frames", "8", "--resume"}).code, 0);
  for (const auto& draft : drafts) EXPECT_FALSE(std::filesystem::exists(draft)) << draft;
  EXPECT_TRUE(std::filesystem::exists(own));
}

/// Times and files of result.pvd.
std::vector<std::pair<double, std::string>> listed(const std::filesystem::path& out) {
  std::vector<std::pair<double, std::string>> frames;
  const std::string text = content(out / "result.pvd");
  for (auto at = text.find("timestep=\""); at != std::string::npos; at = text.find("timestep=\"", at + 1)) {
    const auto file = text.find("file=\"", at) + 6;
    frames.emplace_back(std::stod(text.substr(at + 10)), text.substr(file, text.find('"', file) - file));
  }
  return frames;
}

TEST(Reliability, FramesKeepTheirTimesWhenAResumedRunWritesThemLessOften) {
  const auto folder = fresh_folder("every");
  const auto scene = write_file(folder / "beam.toml", beam());
  ASSERT_EQ(run(folder, {"run", scene, "--out", folder / "out", "--frames", "5"}).code, 0);
  const Ended rest =
      run(folder, {"run", scene, "--out", folder / "out", "--resume", "--set", "output.every=2", "--frames", "5"});
  ASSERT_EQ(rest.code, 0) << rest.err;
  const auto frames = listed(folder / "out");
  std::vector<double> expected = {0, 1, 2, 3, 4, 5, 6, 8, 10};
  ASSERT_EQ(frames.size(), expected.size());
  for (std::size_t k = 0; k < frames.size(); ++k) {
    EXPECT_NEAR(frames[k].first, expected[k] / 60, 1e-9) << k;
    EXPECT_TRUE(std::filesystem::exists(folder / "out" / frames[k].second)) << frames[k].second;
  }
}

TEST(Reliability, ALostListOfStepsIsSaidAndTheRunGoesOn) {
  const auto folder = fresh_folder("lost_steps");
  const auto scene = write_file(folder / "beam.toml", beam());
  ASSERT_EQ(run(folder, {"run", scene, "--out", folder / "whole"}).code, 0);
  ASSERT_EQ(run(folder, {"run", scene, "--out", folder / "lost", "--frames", "10"}).code, 0);
  std::filesystem::remove(folder / "lost/steps.jsonl");
  const Ended rest = run(folder, {"run", scene, "--out", folder / "lost", "--resume"});
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_TRUE(says(rest.err, "has the reports of 0 of the 10 steps")) << rest.err;
  EXPECT_EQ(content(folder / "whole/frames/frame_000040.vtu"), content(folder / "lost/frames/frame_000040.vtu"));
  const std::string steps = content(folder / "lost/steps.jsonl");
  EXPECT_EQ(std::count(steps.begin(), steps.end(), '\n'), 30);
  // And once more, with the first ten missing.
  const Ended again = run(folder, {"run", scene, "--out", folder / "lost", "--resume", "--frames", "42"});
  EXPECT_EQ(again.code, 0) << again.err;
}

TEST(Reliability, TooLittleMemoryIsSaidWhateverTheSolverAndNeverHangs) {
  if (PLIANT_IS_SANITIZED) GTEST_SKIP() << "a sanitizer reserves terabytes of addresses for itself";
  const auto folder = fresh_folder("memory");
  const auto scene = write_file(folder / "beam.toml", beam("", "[32, 10, 10]"));
  int refused = 0;
  for (const std::string solver : {"pod-newton", "quasi-newton", "warp-canceling"})
    for (const int megabytes : {150, 350}) {
      Limits limits;
      limits.addresses = static_cast<rlim_t>(megabytes) << 20U;
      const Clock::time_point begin = Clock::now();
      Program program(
          folder,
          {"run", scene, "--out", folder / "out", "--force", "--frames", "1", "--threads", "2", "--solver", solver},
          limits);
      const bool ended = program.wait_until([&] { return seconds_since(begin) > 50; });
      if (seconds_since(begin) > 50) program.send(SIGKILL);
      const Ended result = program.wait();
      EXPECT_LT(seconds_since(begin), 50) << solver << " with " << megabytes << " MB hangs" << ended;
      EXPECT_EQ(result.signal, 0) << solver << " with " << megabytes << " MB: " << result.err;
      EXPECT_TRUE(result.code == 0 || result.code == 1 || result.code == 127) << solver << ": " << result.err;
      if (result.code == 1) {
        ++refused;
        EXPECT_TRUE(says(result.err, "memory")) << solver << " with " << megabytes << " MB: " << result.err;
      }
    }
  EXPECT_GE(refused, 1);
}

TEST(Reliability, WhateverMemoryEndsAtItIsSaidSo) {
  if (PLIANT_IS_SANITIZED) GTEST_SKIP() << "a sanitizer reserves terabytes of addresses for itself";
  const auto folder = fresh_folder("memory_everywhere");
  const auto scene = write_file(folder / "beam.toml", beam("", "[32, 10, 10]"));
  int refused = 0;
  // From what the libraries need to what the run does: threads, frames and matrices are where it ends.
  for (int kilobytes = 32'000; kilobytes < 64'000; kilobytes += 400) {
    Limits limits;
    limits.addresses = static_cast<rlim_t>(kilobytes) << 10U;
    Program program(folder, {"run", scene, "--out", folder / "out", "--force", "--frames", "1", "--threads", "2"},
                    limits);
    const Ended result = program.wait();
    EXPECT_TRUE(result.code == 0 || result.code == 1 || result.code == 127)
        << kilobytes << " kB: signal " << result.signal << ", " << result.err;
    if (result.code != 1) continue;
    ++refused;
    EXPECT_TRUE(says(result.err, "memory")) << kilobytes << " kB: " << result.err;
  }
  EXPECT_GE(refused, 10);
}

TEST(Reliability, ScenesThatAreNoneAreRefusedAtOnce) {
  const auto folder = fresh_folder("hostile");
  std::string dotted = "a";
  for (int k = 0; k < 20'000; ++k) dotted += ".a";
  const auto deep = write_file(folder / "deep.toml", dotted + " = 1\n");
  const auto header = write_file(folder / "header.toml", "[" + dotted + "]\n");
  const auto brackets = write_file(folder / "brackets.toml", "a = " + std::string(100'000, '[') + "\n");
  const auto title = write_file(folder / "title.toml", "title = \"" + std::string(10'000'000, 'x') + "\"\n" + beam());
  const auto choice =
      write_file(folder / "choice.toml", beam("[solver]\nname = \"" + std::string(15'000, 'y') + "\"\n"));
  const auto fifo = folder / "fifo.toml";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const auto fibres = write_file(folder / "fibres.toml",
                                 "name = \"f\"\n[simulation]\nfps = 60\nframes = 1\n[[body]]\nbox = {size = [1, 1, 1], "
                                 "cells = [1, 1, 1]}\nyoung = 1e5\npoisson = 0.4\n[[body.fibres]]\nlaw = "
                                 "\"reinforcement\"\nstiffness = 1e4\nfile = \"/dev/zero\"\n");
  for (const std::filesystem::path& scene :
       {deep, header, brackets, title, choice, fifo, std::filesystem::path("/dev/zero"), fibres}) {
    const Clock::time_point begin = Clock::now();
    Program program(folder, {"check", scene});
    program.wait_until([&] { return seconds_since(begin) > 20; });
    if (seconds_since(begin) > 20) program.send(SIGKILL);
    const Ended ended = program.wait();
    EXPECT_EQ(ended.code, 2) << scene << ": signal " << ended.signal << "\n" << ended.err.substr(0, 300);
    EXPECT_LT(seconds_since(begin), 10) << scene;
    EXPECT_LT(ended.err.size(), 7000u) << scene;
  }
}

TEST(Reliability, AChainOfTwoHundredLinksTakesSeconds) {
  const auto folder = fresh_folder("links");
  std::string text =
      "name = \"links\"\n[simulation]\nfps = 60\nframes = 2\n[solver]\nname = \"conjac\"\n[output]\npictures = "
      "false\n[[body]]\nbox = {size = [0.1, 0.1, 0.1], cells = [1, 1, 1], origin = [0, 5, 0]}\nyoung = 1e5\npoisson = "
      "0.3\n";
  for (int k = 0; k < 200; ++k) {
    const std::string begin = std::to_string(0.1 * k), end = std::to_string(0.1 * k + 0.08);
    text += "[[link]]\nname = \"link" + std::to_string(k) + "\"\ndensity = 1500\ncapsule = {begin = [" + begin +
            ", 0, 0], end = [" + end + ", 0, 0], radius = 0.008}\n" +
            (k == 0 ? std::string("joint = \"fixed\"\n")
                    : "parent = \"link" + std::to_string(k - 1) + "\"\njoint = \"hinge\"\naxis = [0, 0, 1]\npivot = [" +
                          begin + ", 0, 0]\n");
  }
  const auto scene = write_file(folder / "links.toml", text);
  const auto used = [] {  // by programs that have ended: the clock of a busy machine says little
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
  };
  const double before = used();
  const Ended ended = run(folder, {"run", scene, "--out", folder / "out"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  if (!PLIANT_IS_SANITIZED) {
    EXPECT_LT(used() - before, 10);
  }
}

TEST(Reliability, NumbersBeyondAllBoundsAreRefusedInFewWords) {
  const auto folder = fresh_folder("bounds");
  const auto scene = write_file(folder / "beam.toml", beam());
  const std::vector<std::vector<std::string>> wrong = {
      {"run", scene, "--frames", "9223372036854775807"},
      {"run", scene, "--frames", "0"},
      {"run", scene, "--frames", "99999999999999999999"},
      {"check", scene, "--set", "simulation.fps=1e-320"},
      {"check", scene, "--set", "simulation.frames=9223372036854775807"},
      {"check", scene, "--set", "output.every=4294967297"},
      {"check", scene, "--set", "body.box.cells=[4294967297, 1, 1]"}};
  for (std::vector<std::string> arguments : wrong) {
    if (arguments[0] == "run") arguments.insert(arguments.end(), {"--out", folder / "out"});
    const Ended ended = run(folder, arguments);
    EXPECT_EQ(ended.code, 2) << arguments[3] << ended.err;
    EXPECT_LT(ended.err.size(), 300u) << ended.err;
  }
}

TEST(Reliability, AFileNameThatIsNotUtf8IsNoReasonToFail) {
  const auto folder = fresh_folder("names");
  const auto scene = write_file(folder / "be\xFF\xFE.toml", beam().substr(14));  // without its name
  const Ended ended = run(folder, {"run", scene, "--out", folder / "out", "--frames", "2"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(nlohmann::json::accept(content(folder / "out/summary.json")));
}

TEST(Reliability, MistypedWordsGetASuggestion) {
  const auto folder = fresh_folder("words");
  const auto scene = write_file(folder / "beam.toml", beam());
  const Ended command = run(folder, {"chekc", scene});
  EXPECT_EQ(command.code, 2);
  EXPECT_TRUE(says(command.err, "did you mean 'check'")) << command.err;
  const Ended foo = run(folder, {"foo"});
  EXPECT_TRUE(says(foo.err, "there is no command 'foo'")) << foo.err;
  const Ended key = run(folder, {"check", scene, "--set", "body.yung=3"});
  EXPECT_EQ(key.code, 2);
  EXPECT_TRUE(says(key.err, "young")) << key.err;
}

TEST(Reliability, WordsThatAreMissingOrEmptyAreSaidInFewWords) {
  const auto folder = fresh_folder("missing_words");
  const std::string scene = write_file(folder / "beam.toml", beam());
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{}, "needs a command, one of new, run"},
      {{""}, "there is no command ''"},
      {{"-x"}, "there is no option '-x' before a command"},
      {{"mesh"}, "pliant mesh needs a command, one of info"},
      {{"mesh", "generate"}, "pliant mesh generate needs a command, one of box"},
      {{"docs", "nothing"}, "there is no command 'nothing'"},
      {{"new", ""}, "is empty"},
      {{"run", scene, "--out", ""}, "is empty"},
      {{"check", scene, "--solver", ""}, "is empty"},
      {{"view", scene, "--port", "99999"}, "must be from 0 to 65535"},
      {{"reproduce", "--all", "--jobs", "-1"}, "must be a number above 0"},
      {{"run", scene, "--thread", "4"}, "pliant run has no option '--thread'; did you mean '--threads'?"},
      {{"mesh", "info", scene, "--jsno=1"}, "pliant mesh info has no option '--jsno'; did you mean '--json'?"},
      {{"run", scene, "--zzzzzzzzzz"}, "pliant run --help lists what it takes"},
      {{"run"}, "pliant run: it needs SCENE"},
      {{"run", scene, "again"}, "pliant run: 'again' is one word too many"},
      {{"run", scene, "--frames"}, "pliant run: --frames needs a value"},
      {{"sweep", scene}, "pliant sweep: it needs --over"},
      {{"run", scene, "--threads", "nan"}, "at least 1"}};
  for (const auto& [arguments, part] : wrong) {
    const Ended ended = run(folder, arguments);
    EXPECT_EQ(ended.code, 2) << part;
    EXPECT_TRUE(says(ended.err, part)) << ended.err;
    EXPECT_LT(ended.err.size(), 400u) << ended.err;
  }
  EXPECT_EQ(run(folder, {"--help"}).code, 0);
  EXPECT_EQ(run(folder, {"mesh", "--help"}).code, 0);
}

TEST(Reliability, AMistakeThatEveryEntryOfAListHasIsToldOnce) {
  const auto folder = fresh_folder("list_of_mistakes");
  const auto scene = write_file(folder / "beam.toml", beam());
  const Ended ended = run(folder, {"check", scene, "--set", "simulation.gravity_keyframes=[1,2,3,4,5,6,7,8]"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
}

TEST(Reliability, CheckNamesEveryWrongKeyAtOnce) {
  const auto folder = fresh_folder("all_errors");
  const auto scene =
      write_file(folder / "wrong.toml",
                 "[simulation]\nfps = -1\nframes = 4\ngravty = [0, 0, 0]\n[[body]]\nbox = {size = [2, 1, "
                 "1], cells = [4, 2, 2]}\nyung = 3\npoisson = 0.4\n[[body]]\ndensity = \"heavy\"\n");
  const Ended ended = run(folder, {"check", scene});
  EXPECT_EQ(ended.code, 2);
  for (const char* word : {"'fps'", "gravty", "yung", "'density'"}) EXPECT_TRUE(says(ended.err, word)) << ended.err;
}

TEST(Reliability, CheckWarnsOfADistanceOfContactThatIsLongerThanEdgesOrBodies) {
  const auto folder = fresh_folder("dhat");
  const std::string two =
      "name = \"two\"\n[simulation]\nfps = 60\nframes = 4\n[[body]]\nbox = {size = [0.2, 0.2, 0.2], cells = [4, 4, "
      "4]}\n"
      "young = 1e5\npoisson = 0.4\n[[collider]]\nplane = {point = [0, -0.5, 0], normal = [0, 1, 0]}\nfriction = "
      "0.4\n[contact]\n";
  const Ended wide = run(folder, {"check", write_file(folder / "wide.toml", two + "dhat = 0.2\n")});
  EXPECT_EQ(wide.code, 0) << wide.err;
  EXPECT_TRUE(says(wide.out, "more than half of the smallest body")) << wide.out;
  EXPECT_TRUE(says(wide.out, "friction 0.4")) << wide.out;
  const Ended longer = run(folder, {"check", write_file(folder / "longer.toml", two + "dhat = 0.08\n")});
  EXPECT_TRUE(says(longer.out, "longer than the edges")) << longer.out;
  const Ended fine = run(folder, {"check", write_file(folder / "fine.toml", two + "dhat = 0.01\n")});
  EXPECT_FALSE(says(fine.out, "warning")) << fine.out;
}

}  // namespace
}  // namespace pliant::test
