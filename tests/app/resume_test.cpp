#include <gtest/gtest.h>

#include "app/program.hpp"
#include "pliant/io/checkpoint.hpp"
#include "support/catalogue_scenes.hpp"

namespace pliant::test {
namespace {

constexpr const char* kFrames = "10";

std::string last_snapshot(const std::filesystem::path& run) {
  return to_bytes(read_checkpoint(run / "checkpoints" / "step_000000010.pliant").snapshot);
}

/// To its end, in doubt or not: one linear system a step may be far from where the bar strikes.
bool is_finished(const Ended& ended) { return ended.code == 0 || ended.code == 3; }

class ResumeOf : public testing::TestWithParam<std::string> {};

/// A new process goes on from a checkpoint just as the one that wrote it would have.
TEST_P(ResumeOf, GoesOnInANewProcessWithTheSameBits) {
  const auto folder = fresh_folder("resume_" + GetParam());
  int taken = 0;
  for (const Feature& feature : kFeatures) {
    const auto scene = folder / "bar.toml";
    std::ofstream(scene) << swinging_bar(feature, GetParam());
    if (run(folder, {"check", scene}).code != 0) continue;  // the solver has not this feature
    ++taken;
    const std::string name(feature.name);
    const Ended whole = run(folder, {"run", scene, "--out", folder / name / "whole", "--frames", kFrames});
    ASSERT_TRUE(is_finished(whole)) << name << ": " << whole.err;
    const Ended half = run(folder, {"run", scene, "--out", folder / name / "halves", "--frames", "5"});
    ASSERT_TRUE(is_finished(half)) << name << ": " << half.err;
    const Ended rest = run(folder, {"run", scene, "--out", folder / name / "halves", "--frames", kFrames, "--resume"});
    ASSERT_EQ(rest.code, whole.code) << name << ": " << rest.err;
    EXPECT_EQ(last_snapshot(folder / name / "whole"), last_snapshot(folder / name / "halves")) << name;
    EXPECT_EQ(content(folder / name / "whole/frames/frame_000010.vtu"),
              content(folder / name / "halves/frames/frame_000010.vtu"))
        << name;
  }
  EXPECT_GE(taken, 3);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, ResumeOf, testing::ValuesIn(solver_names()), solver_test_name);

}  // namespace
}  // namespace pliant::test
