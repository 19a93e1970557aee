#include "pliant/io/probe_log.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "pliant/io/probe_table.hpp"
#include "pliant/io/run.hpp"

namespace pliant {
namespace {

constexpr const char* kProbed = R"(
simulation = {dt = 0.01, frames = 6}
output = {pictures = false, checkpoint_every = 2}
[[body]]
name = "bar"
box = {size = [2, 1, 1], cells = [2, 1, 1]}
young = 1e5
poisson = 0.4
[[pin]]
where = "x-min"
[[probe]]
name = "tip, right"
where = "x-max"
quantities = ["displacement", "reaction"]
[[probe]]
name = "body"
quantities = ["volume"]
)";

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::filesystem::path probe_folder(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / name;
  std::filesystem::remove_all(folder);
  return folder;
}

TEST(ProbeLog, HasALineForTheStartAndForEveryStep) {
  const std::filesystem::path folder = probe_folder("probes_lines");
  Simulation simulation(parse_scene(kProbed, "bar.toml"));
  RunObserver observer;
  run(simulation, {.folder = folder, .start = RunStart::fresh, .last_step = std::nullopt}, observer);
  std::istringstream lines(text_of(folder / "probes.csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line,
            "step,time (s),\"tip, right.displacement_x (m)\",\"tip, right.displacement_y (m)\",\"tip, "
            "right.displacement_z (m)\",\"tip, right.reaction_x (N)\",\"tip, right.reaction_y (N)\",\"tip, "
            "right.reaction_z (N)\",body.volume (m^3)");
  std::getline(lines, line);
  EXPECT_EQ(line, "0,0,0,0,0,,,,2");  // nothing holds anything before the first step
  int count = 1;
  while (std::getline(lines, line)) EXPECT_TRUE(line.starts_with(std::to_string(count++) + ",0.0")) << line;
  EXPECT_EQ(count, 7);
}

TEST(ProbeLog, IsReadBackAndPlottedWithALineForEachComponent) {
  const std::filesystem::path folder = probe_folder("probes_plot");
  Simulation simulation(parse_scene(kProbed, "bar.toml", ".", {{"output.pictures=true"}, ""}));
  RunObserver observer;
  run(simulation, {.folder = folder, .start = RunStart::fresh, .last_step = std::nullopt}, observer);
  const ProbeTable table = read_probe_table(folder / "probes.csv");
  ASSERT_EQ(table.columns.size(), 7u);
  EXPECT_EQ(table.columns[1], "tip, right.displacement_y (m)");
  ASSERT_EQ(table.times.size(), 7u);
  EXPECT_DOUBLE_EQ(table.times[6], 0.06);
  EXPECT_DOUBLE_EQ(table.values[0][6], 2);
  EXPECT_TRUE(std::isnan(table.values[0][3]));  // a reaction before the first step
  const std::string plot = text_of(folder / "probes.svg");
  std::size_t lines = 0, plots = 0;
  for (std::size_t at = plot.find("<polyline"); at != std::string::npos; at = plot.find("<polyline", at + 1)) ++lines;
  for (std::size_t at = plot.find("class=\"title\""); at != std::string::npos;
       at = plot.find("class=\"title\"", at + 1))
    ++plots;
  EXPECT_EQ(lines, 7u);
  EXPECT_EQ(plots, 3u);
  EXPECT_NE(plot.find(">tip, right.reaction (N)</text>"), std::string::npos);
}

TEST(ProbeLog, IsTheSameAfterARunThatWasResumed) {
  const std::filesystem::path whole = probe_folder("probes_whole"), parts = probe_folder("probes_parts");
  RunObserver observer;
  {
    Simulation simulation(parse_scene(kProbed, "bar.toml"));
    run(simulation, {.folder = whole, .start = RunStart::fresh, .last_step = std::nullopt}, observer);
  }
  {
    Simulation simulation(parse_scene(kProbed, "bar.toml"));
    run(simulation, {.folder = parts, .start = RunStart::fresh, .last_step = 4}, observer);
  }
  // A line too many and one that was cut off, as a kill leaves them.
  std::ofstream(parts / "probes.csv", std::ios::app) << "5,0.05,1,1,1,1,1,1,1\n6,0.0";
  {
    Simulation simulation(parse_scene(kProbed, "bar.toml"));
    run(simulation, {.folder = parts, .start = RunStart::resume, .last_step = std::nullopt}, observer);
  }
  EXPECT_EQ(text_of(parts / "probes.csv"), text_of(whole / "probes.csv"));
}

TEST(ProbeLog, IsNotThereWithoutProbes) {
  const std::filesystem::path folder = probe_folder("probes_none");
  std::string text = kProbed;
  Simulation simulation(parse_scene(text.substr(0, text.find("[[probe]]")), "bar.toml"));
  RunObserver observer;
  run(simulation, {.folder = folder, .start = RunStart::fresh, .last_step = 1}, observer);
  EXPECT_FALSE(std::filesystem::exists(folder / "probes.csv"));
}

}  // namespace
}  // namespace pliant
