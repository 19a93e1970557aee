// Rods in frames and pictures: their round surface, with the strain of their fibres.

#include <gtest/gtest.h>

#include <cmath>

#include "pliant/io/animation/animation.hpp"
#include "pliant/io/animation/draw.hpp"
#include "pliant/io/fields.hpp"
#include "pliant/io/run.hpp"

namespace pliant {
namespace {

Scene rod_scene() {
  return parse_scene(
      "name = \"rods\"\n[simulation]\ndt = 0.02\nframes = 3\n[[rod]]\nname = \"wire\"\npoints = [[0, 0, 0], [1, 0, "
      "0]]\nsegments = 10\nradius = 0.02\nyoung = 1e6\n[[rod]]\nname = \"hoop\"\npoints = [[0, 0, 1], [1, 0, 1], [1, "
      "0, "
      "2]]\nclosed = true\nradius = 0.01\nyoung = 1e7\n[[rigid]]\nname = \"ball\"\nsphere = {centre = [3, 0, 0], "
      "radius = "
      "0.2}\n[[pin]]\nbody = \"wire\"\nwhere = \"first-segment\"\n",
      "rods");
}

TEST(Rods, AreDrawnAsTubesFromTheFramesOfARunAsFromTheModel) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "pliant_rods";
  std::filesystem::remove_all(folder);
  Simulation simulation(rod_scene());
  std::vector<VecX> positions = {simulation.state()->x};
  RunOptions options;
  options.folder = folder;
  RunObserver silent;
  ASSERT_EQ(run(simulation, options, silent).end, RunEnd::finished);
  positions.push_back(simulation.state()->x);
  const RecordedRun recorded(folder);
  const Animation read = read_animation(recorded, {.colour = "stretch", .frames = std::vector<std::size_t>{0, 3}});
  const Animation made = animation_of(simulation.scene(), *simulation.model(), {0, 0.06}, positions);
  ASSERT_EQ(read.surfaces.size(), 3u);
  ASSERT_EQ(made.surfaces.size(), 3u);
  for (std::size_t b = 0; b < 3; ++b) {
    EXPECT_EQ(read.surfaces[b].name, made.surfaces[b].name);
    EXPECT_EQ(read.surfaces[b].triangles, made.surfaces[b].triangles);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(read.surfaces[b].positions_at(k), made.surfaces[b].positions_at(k));
  }
  // Ends of the wire, 10 segments with 16 triangles each.
  EXPECT_EQ(made.surfaces[0].triangles.size(), 172u);
  EXPECT_TRUE(recorded.is_rod(0));
  EXPECT_FALSE(recorded.is_rod(2));
  // The wire sags, and its outermost fibre is stretched most where it is clamped.
  const std::vector<float>& values = made.surfaces[0].values[1];
  EXPECT_GT(values[8], 1.0005f);
  EXPECT_GT(values[8], values[80]);
}

TEST(Rods, HaveTheStressOfTheirOutermostFibre) {
  const Scene scene = rod_scene();
  const auto model = build_model(scene);
  const Body& wire = model->bodies()[0];
  VecX x = model->rest();
  const double R = 2;
  for (Index i = 0; i < 11; ++i) node(x, i) = Vec3(R * std::sin(0.1 * i / R), R - R * std::cos(0.1 * i / R), 0);
  const ElementFields fields = element_fields(wire, x);
  ASSERT_EQ(fields.stretch.size(), 10u);
  for (std::size_t s = 0; s < 10; ++s) {
    EXPECT_NEAR(fields.stretch[s] - 1, 0.02 / R, 0.02 * 0.02 / R);
    EXPECT_NEAR(fields.von_mises[s], 1e6 * 0.02 / R, 0.02 * 1e6 * 0.02 / R);
  }
}

}  // namespace
}  // namespace pliant
