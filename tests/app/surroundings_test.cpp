// What a program must bear from where it runs: closed and full streams, terminals that go away, odd folders and names.
#include <nlohmann/json.hpp>

#include "app/program.hpp"

namespace pliant::test {
namespace {

constexpr const char* kHanging = R"(name = "hanging"
[simulation]
fps = 60
frames = 12
[[body]]
box = {size = [2, 1, 1], cells = [2, 1, 1]}
young = 1e5
poisson = 0.4
[[pin]]
where = "x-min"
[output]
pictures = false
checkpoint_every = 5
)";

/// By a shell, in `folder`; `$pliant` is the program. The exit code as the shell tells it, its streams as they are.
struct Told {
  int code = -1;
  std::string out, err;
};
Told shell(const std::filesystem::path& folder, const std::string& command) {
  std::ofstream(folder / "command.sh") << "cd '" << folder.string() << "'\npliant='" PLIANT_PROGRAM "'\n"
                                       << command << '\n';
  const std::string line = "/bin/sh '" + (folder / "command.sh").string() + "' > '" + (folder / "shell.out").string() +
                           "' 2> '" + (folder / "shell.err").string() + "'";
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(folder / "shell.out"), content(folder / "shell.err")};
}

std::filesystem::path folder_with_scene(const std::string& name, const std::string& more = "") {
  const auto folder = fresh_folder("surroundings_" + name);
  std::ofstream(folder / "scene.toml") << kHanging << more;
  return folder;
}

/// That it has all its frames, and nothing else in its lists.
void expect_whole(const std::filesystem::path& out) {
  EXPECT_TRUE(std::filesystem::exists(out / "frames/frame_000012.vtu"));
  std::ifstream steps(out / "steps.jsonl");
  int lines = 0;
  for (std::string line; std::getline(steps, line); ++lines) EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  EXPECT_EQ(lines, 12);
  const auto summary = nlohmann::json::parse(content(out / "summary.json"), nullptr, false);
  ASSERT_TRUE(summary.is_object());
  EXPECT_EQ(summary["end"], "finished");
}

TEST(Surroundings, ClosedStreamsNeverEndUpInResults) {
  const auto folder = folder_with_scene("closed");
  EXPECT_EQ(shell(folder, "\"$pliant\" run scene.toml --out out --verbose <&- >&- 2>&-").code, 0);
  expect_whole(folder / "out");
  EXPECT_EQ(shell(folder, "\"$pliant\" check scene.toml >&-").code, 0);
}

TEST(Surroundings, AListThatCannotBePrintedIsAFailure) {
  const auto folder = folder_with_scene("full");
  for (const char* command : {"solvers", "materials", "check scene.toml", "docs solvers"}) {
    const Told told = shell(folder, std::string("\"$pliant\" ") + command + " > /dev/full");
    EXPECT_EQ(told.code, 1) << command;
    EXPECT_FALSE(told.err.empty()) << command;
  }
  // Who reads no further has had enough.
  EXPECT_EQ(shell(folder, "\"$pliant\" solvers | head -1").out.empty(), false);
}

TEST(Surroundings, ARunGoesOnWhenNobodyCanReadWhatItSays) {
  const auto folder = folder_with_scene("gone");
  EXPECT_EQ(shell(folder, "\"$pliant\" run scene.toml --out full --verbose > /dev/full 2> /dev/full").code, 0);
  expect_whole(folder / "full");
  shell(folder, "\"$pliant\" run scene.toml --out piped --verbose | head -1");
  expect_whole(folder / "piped");
}

TEST(Surroundings, ATerminalThatIsClosedInterruptsARunUnlessItIsToGoOn) {
  const auto folder = folder_with_scene("hangup");
  const std::vector<std::string> arguments = {"run",   folder / "scene.toml", "--out", folder / "out", "--frames",
                                              "100000"};
  const auto has_begun = [&] { return std::filesystem::exists(folder / "out/frames/frame_000003.vtu"); };
  Program program(folder, arguments);
  ASSERT_TRUE(program.wait_until(has_begun));
  program.send(SIGHUP);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 130) << ended.err;
  EXPECT_TRUE(says(ended.err, "--resume")) << ended.err;
  EXPECT_EQ(run(folder, {"run", folder / "scene.toml", "--out", folder / "out", "--resume", "--frames", "1"}).signal,
            0);

  // As under nohup.
  std::filesystem::remove_all(folder / "out");
  const auto before = signal(SIGHUP, SIG_IGN);
  Program stubborn(folder, {"run", folder / "scene.toml", "--out", folder / "out"});
  signal(SIGHUP, before);
  for (int k = 0; k < 20; ++k) {
    stubborn.send(SIGHUP);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(stubborn.wait().code, 0);
  expect_whole(folder / "out");
}

TEST(Surroundings, ARunThatWasStoppedAndContinuedHasTheSameBits) {
  const auto folder = folder_with_scene("stopped");
  ASSERT_EQ(run(folder, {"run", folder / "scene.toml", "--out", folder / "whole"}).code, 0);
  Program program(folder, {"run", folder / "scene.toml", "--out", folder / "out"});
  for (int k = 0; k < 5; ++k) {
    program.send(SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    program.send(SIGCONT);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(program.wait().code, 0);
  EXPECT_EQ(content(folder / "whole/frames/frame_000012.vtu"), content(folder / "out/frames/frame_000012.vtu"));
}

TEST(Surroundings, NamesMayHaveSpacesQuotesAndLettersOfAnyLanguage) {
  const auto folder = folder_with_scene("names");
  const std::string odd = "Würfel's \"große\" Höhle\n日本 $HOME `x` -o";
  std::filesystem::create_directories(folder / odd);
  std::filesystem::copy(folder / "scene.toml", folder / odd / "scène.toml");
  EXPECT_EQ(run(folder, {"run", folder / odd / "scène.toml", "--out", folder / odd / "out"}).code, 0);
  expect_whole(folder / odd / "out");
  for (const char* command : {"picture", "export"})
    EXPECT_EQ(run(folder, {command, folder / odd / "out"}).code, 0) << command;
  // What it says to try is a command that a shell takes.
  const auto out = folder / odd / "interrupted";
  Program program(folder, {"run", folder / odd / "scène.toml", "--out", out, "--frames", "99999"});
  ASSERT_TRUE(program.wait_until([&] { return std::filesystem::exists(out / "frames/frame_000002.vtu"); }));
  program.send(SIGTERM);
  const Ended ended = program.wait();
  ASSERT_EQ(ended.code, 130) << ended.err;
  const auto at = ended.err.find("  pliant run ");
  ASSERT_NE(at, std::string::npos) << ended.err;
  const auto resumed = shell(folder, "pliant() { \"$pliant\" \"$@\" --frames 1; }\n" + ended.err.substr(at));
  EXPECT_EQ(resumed.code, 0) << resumed.err;
}

TEST(Surroundings, APlainEnvironmentIsEnough) {
  const auto folder = folder_with_scene("plain");
  EXPECT_EQ(shell(folder, "env -i \"$pliant\" run scene.toml --out out").code, 0);
  expect_whole(folder / "out");
  EXPECT_EQ(shell(folder, "TERM=dumb LANG=xx_YY.nonsense LC_ALL=nonsense NO_COLOR=1 \"$pliant\" check scene.toml").code,
            0);
}

TEST(Surroundings, FoldersThatCannotBeWrittenAreToldWithTheirName) {
  const auto folder = folder_with_scene("folders");
  std::ofstream(folder / "file") << "x";
  for (const char* out : {"/proc/pliant", "file", "file/below", "/dev/null", "/dev/null/below"}) {
    const Ended ended = run(
        folder, {"run", folder / "scene.toml", "--out", out[0] == '/' ? std::string(out) : (folder / out).string()});
    EXPECT_TRUE(ended.code == 1 || ended.code == 2) << out << ended.err;
    EXPECT_TRUE(says(ended.err, out)) << ended.err;
    EXPECT_TRUE(says(ended.err, "--out")) << ended.err;
  }
}

}  // namespace
}  // namespace pliant::test
