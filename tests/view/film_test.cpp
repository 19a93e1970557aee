#include "pliant/view/film.hpp"

#include <gtest/gtest.h>

#include "pliant/base/error.hpp"
#include "pliant/io/run.hpp"
#include "pliant/view/live_scene.hpp"
#include "scenes.hpp"

namespace pliant::view {
namespace {

/// A run of so many steps in a folder.
std::filesystem::path finished_run(const std::string& name, int steps, const std::string& more = "") {
  const std::filesystem::path folder = testing::folder_with(name, "unused.txt", "");
  Scene scene = parse_scene(testing::kBeam + more, "beam", ".", {{"simulation.gravity=[0, -9.81, 0]"}, ""});
  scene.steps = steps;
  scene.output.pictures = false;
  Simulation simulation(scene);
  RunOptions options;
  options.folder = folder / "run";
  RunObserver silent;
  run(simulation, options, silent);
  return folder / "run";
}

TEST(Film, PlaysTheFramesOfARunAndSeeks) {
  Film film(finished_run("film", 8));
  ASSERT_EQ(film.frames(), 9);
  EXPECT_EQ(film.describe()["times"].size(), 9U);
  EXPECT_EQ(film.frame(), 0);
  EXPECT_NEAR(film.step_seconds(), 0.015625, 1e-9);
  const Drawing first = film.draw(0, Colour::stress);
  EXPECT_EQ(first.positions.size(), film.surface().nodes.size());
  EXPECT_EQ(first.time, 0);
  int moved = 0;
  while (film.advance()) ++moved;
  EXPECT_EQ(moved, 8);
  const Drawing last = film.draw(0, Colour::speed);
  EXPECT_NEAR(last.time, 8 * 0.015625, 1e-9);
  EXPECT_GT(last.high, 0);
  EXPECT_EQ(film.telemetry()["views"][0]["outcome"], "budget-spent");
  EXPECT_GT(film.telemetry()["views"][0]["iterations"].get<int>(), 0);
  film.seek(0);
  EXPECT_EQ(film.draw(0, Colour::none).positions, first.positions);
  EXPECT_THROW(film.seek(9), InputError);
  film.seek(8);
  EXPECT_EQ(film.draw(0, Colour::none).positions, last.positions);
  film.play_again();
  EXPECT_EQ(film.frame(), 0);
}

TEST(Film, ShowsVisualMeshesSpringsAndProbesAsTheRunHadThem) {
  const std::filesystem::path folder = testing::folder_with("film_visual", "roof.obj", testing::kRoof);
  const std::string text = testing::dressed_beam(folder);
  Scene scene = parse_scene(text, "beam", ".");
  scene.steps = 4;
  scene.output.pictures = false;
  Simulation simulation(scene);
  RunObserver silent;
  RunOptions options;
  options.folder = folder / "run";
  run(simulation, options, silent);
  Film film(folder / "run");
  film.seek(4);
  LiveScene live(parse_scene(text, "beam", "."), "");
  for (int step = 0; step < 4; ++step) ASSERT_TRUE(live.advance());
  EXPECT_EQ(film.skin().triangles, live.skin().triangles);
  const Drawing played = film.draw(0, Colour::speed), shown = live.draw(0, Colour::speed);
  ASSERT_EQ(played.positions.size(), film.surface().nodes.size() + 5);
  ASSERT_EQ(played.positions.size(), shown.positions.size());
  ASSERT_EQ(played.values.size(), played.positions.size());
  for (std::size_t i = 0; i < played.positions.size(); ++i)
    EXPECT_LT((played.positions[i] - shown.positions[i]).norm(), 1e-6) << i;
  EXPECT_EQ(film.describe()["probes"], live.describe()["probes"]);
  EXPECT_EQ(film.describe()["probes"].size(), 4u);
  const Json played_view = film.telemetry()["views"][0], live_view = live.telemetry()["views"][0];
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_NEAR(played_view["probes"][k].get<double>(), live_view["probes"][k].get<double>(), 1e-9);
  ASSERT_EQ(live_view["springs"].size(), 1u);
  for (std::size_t end = 0; end < 2; ++end)
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(played_view["springs"][0][end][k].get<double>(), live_view["springs"][0][end][k].get<double>(), 1e-6);
}

TEST(Film, ARigidBodyHasNeitherStressNorStretch) {
  Film alone(finished_run("film_without_rigid", 3)), film(finished_run("film_rigid", 3, testing::kSpinningBlock));
  EXPECT_EQ(film.describe()["bodies"][1]["kind"], "rigid");
  EXPECT_EQ(film.describe()["bodies"][1]["uncoloured"].size(), 2U);
  for (Film* each : {&alone, &film}) each->seek(3);
  for (const Colour colour : {Colour::stress, Colour::stretch})
    EXPECT_NEAR(film.draw(0, colour).high, alone.draw(0, colour).high, 1e-3 * alone.draw(0, colour).high);
}

TEST(Film, FollowsACutByAnotherSurface) {
  Film film(finished_run("film_cut", 6, "[[cut]]\ntime = 0.04\nplane = {point = [1, 0, 0], normal = [1, 0, 0]}\n"));
  const std::uint32_t revision = film.revision();
  const std::size_t triangles = film.surface().triangles.size();
  film.seek(6);
  EXPECT_GT(film.revision(), revision);
  EXPECT_GT(film.surface().triangles.size(), triangles);
}

TEST(Film, ShowsCollidersAndHowTheyMove) {
  const auto folder = finished_run("film_colliders", 4, R"(
[[collider]]
name = "floor"
plane = {point = [0, -5, 0]}
[[collider]]
name = "hammer"
sphere = {centre = [0, 4, 0], radius = 0.5}
translate = [0, 0.064, 0]
times = [0, 0.0625]
)");
  Film film(folder);
  const Json scene = film.describe();
  ASSERT_EQ(scene["obstacles"].size(), 2U);
  EXPECT_EQ(scene["obstacles"][0], (Json{{"name", "floor"}, {"shape", "plane"}}));
  EXPECT_EQ(scene["obstacles"][1]["name"], "hammer");
  ASSERT_EQ(film.obstacles().size(), 2U);
  EXPECT_GT(film.obstacles()[1].triangles.size(), 20U);
  film.seek(4);
  const Json pose = film.telemetry()["obstacles"][1];
  EXPECT_NEAR(pose[13].get<double>(), 0.064, 1e-6) << "y of where it has moved to";
  EXPECT_NEAR(pose[0].get<double>(), 1, 1e-6);
}

TEST(Film, ComparesARunWithAnotherOfTheSameBodies) {
  const auto first = finished_run("film_first", 6), second = finished_run("film_second", 3);
  Film film(first, second);
  EXPECT_EQ(film.views(), 2);
  film.seek(2);
  EXPECT_EQ(film.draw(0, Colour::none).positions, film.draw(1, Colour::none).positions) << "they are the same so far";
  film.seek(6);
  EXPECT_NE(film.draw(0, Colour::none).positions, film.draw(1, Colour::none).positions) << "the second ended at 3";
  const Drawing apart = film.draw(1, Colour::error);
  EXPECT_GT(*std::max_element(apart.values.begin(), apart.values.end()), 1e-4);
  EXPECT_GT(film.telemetry()["views"][1]["error"].get<double>(), 1e-5);
  const auto cut =
      finished_run("film_other", 3, "[[cut]]\ntime = 0\nplane = {point = [1, 0, 0], normal = [1, 0, 0]}\n");
  Film other(first, cut);  // which have the same elements until the cut
  EXPECT_THROW(other.seek(2), InputError);
}

TEST(Film, SaysWhatIsWrongWithAFolder) {
  const auto message = [](const std::filesystem::path& folder) -> std::string {
    try {
      const Film film(folder);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const auto empty = testing::folder_with("film_empty", "a.txt", "");
  EXPECT_NE(message(empty).find("has no result.pvd"), std::string::npos);
  const auto outside = testing::folder_with(
      "film_outside", "result.pvd",
      R"(<VTKFile><Collection><DataSet timestep="0" file="../../etc/passwd"/></Collection></VTKFile>)");
  EXPECT_NE(message(outside).find("outside its folder"), std::string::npos);
  const auto run = finished_run("film_damaged", 2);
  std::filesystem::resize_file(run / "frames" / "frame_000000.vtu", 300);
  EXPECT_NE(message(run), "");
}

}  // namespace
}  // namespace pliant::view
