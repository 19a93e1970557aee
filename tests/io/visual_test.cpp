// Visual meshes: they move with their bodies, and reach frames and exports with their textures and materials.

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <fstream>

#include "pliant/base/error.hpp"
#include "pliant/io/animation/export.hpp"
#include "pliant/io/run.hpp"
#include "pliant/mesh/read_mesh.hpp"
#include "pliant/simulation/visual_mesh.hpp"
#include "support/text_file.hpp"

namespace pliant {
namespace {

std::filesystem::path visual_folder() {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "pliant_visual";
  std::filesystem::create_directories(path);
  return path;
}

/// A pyramid over the unit square, a little larger than the box it belongs to, of two materials; one of its corners has
/// two places in the texture.
std::filesystem::path pyramid() {
  const std::filesystem::path path = visual_folder() / "pyramid.obj";
  std::ofstream(path) << "mtllib skin.mtl\nv 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nv 0.5 1.2 0.5\n"
                         "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvt 0.5 0.5\n"
                         "usemtl red\nf 1/1 5/5 2/2\nf 2/2 5/5 3/3\nusemtl blue\nf 3/3 5/5 4/4\nf 4/4 5/4 1/1\n";
  return path;
}

std::string visual_scene(const std::string& more = "") {
  return "name = \"shown\"\n[simulation]\ndt = 0.02\nframes = 4\n[[body]]\nname = \"box\"\nbox = {size = [1, 1, 1], "
         "cells = [2, 2, 2]}\nyoung = 1e5\npoisson = 0.3\nvisual = \"pyramid.obj\"\n" +
         more + "[[pin]]\nwhere = \"y-min\"\n";
}

TEST(VisualMesh, FollowsAnAffineMapExactlyInsideAndOutside) {
  pyramid();
  for (const std::string order : {"1", "2"}) {
    const Scene scene = parse_scene(visual_scene("order = " + order + "\nscale = 2\ntranslate = [1, 0, 0]\n"), "shown",
                                    visual_folder());
    const auto model = build_model(scene);
    const std::vector<VisualMesh> meshes = visual_meshes(scene, *model);
    ASSERT_EQ(meshes.size(), 1u);
    ASSERT_EQ(meshes[0].vertices(), 6);  // the tip twice
    ASSERT_EQ(meshes[0].triangles().size(), 4u);
    EXPECT_EQ(meshes[0].materials(), (std::vector<std::string>{"red", "blue"}));
    EXPECT_EQ(meshes[0].material(), (std::vector<Index>{0, 0, 1, 1}));
    Mat3 F;
    F << 1.1, 0.2, 0, -0.1, 0.9, 0.3, 0.05, 0, 1.2;
    VecX x = model->rest();
    for (Index i = 0; i < model->nodes(); ++i) node(x, i) = (F * node(x, i) + Vec3(3, 2, 1)).eval();
    std::vector<double> positions(18);
    meshes[0].positions(x, positions);
    const std::vector<Vec3> rest = {{0, 0, 0}, {0.5, 1.2, 0.5}, {1, 0, 0}, {1, 0, 1}, {0, 0, 1}, {0.5, 1.2, 0.5}};
    for (std::size_t v = 0; v < 6; ++v)
      EXPECT_LT((Vec3::Map(positions.data() + 3 * v) - F * (2 * rest[v] + Vec3(1, 0, 0)) - Vec3(3, 2, 1)).norm(), 1e-12)
          << order << ", " << v;
  }
}

TEST(VisualMesh, ReachesFramesAndExportsWithTextureAndMaterials) {
  pyramid();
  const std::filesystem::path out = visual_folder() / "run";
  std::filesystem::remove_all(out);
  Simulation simulation(parse_scene(visual_scene(), "shown", visual_folder()));
  RunOptions options;
  options.folder = out;
  RunObserver silent;
  ASSERT_EQ(run(simulation, options, silent).end, RunEnd::finished);
  const RecordedRun recorded(out);
  EXPECT_EQ(recorded.visual().size(), 5u);
  const Animation plain = read_animation(recorded), shown = read_animation(recorded, {.visual = true});
  ASSERT_EQ(plain.surfaces.size(), 1u);
  EXPECT_EQ(plain.surfaces[0].triangles.size(), 48u);
  ASSERT_EQ(shown.surfaces.size(), 2u);
  EXPECT_EQ(shown.surfaces[0].name, "box red");
  EXPECT_EQ(shown.surfaces[1].name, "box blue");
  EXPECT_EQ(shown.surfaces[0].texture, (std::vector<float>{0, 0, 0.5f, 0.5f, 1, 0, 1, 1}));
  const std::vector<float>& last = shown.surfaces[0].positions.back();
  const std::vector<VisualMesh> meshes = visual_meshes(simulation.scene(), *simulation.model());
  std::vector<double> positions(18);
  meshes[0].positions(simulation.state()->x, positions);
  for (std::size_t k = 0; k < 12; ++k) EXPECT_EQ(last[k], static_cast<float>(positions[k]));
  EXPECT_LT(last[4], 1.2f);  // the tip has sunk

  const ExportResult glb = export_run(out, {.format = "glb", .animation = {.every = 1, .visual = true}});
  const std::string file = file_content(glb.out);
  EXPECT_NE(file.find("TEXCOORD_0"), std::string::npos);
  EXPECT_NE(file.find("\"box red\""), std::string::npos);
  const ExportResult obj = export_run(out, {.format = "obj", .animation = {.every = 1, .visual = true}});
  const std::string frame = file_content(obj.files.back());
  EXPECT_NE(frame.find("usemtl box_blue"), std::string::npos);
  EXPECT_NE(frame.find("vt 0.5 0.5"), std::string::npos);
  EXPECT_NE(frame.find("f 1/1 2/2 3/3"), std::string::npos);
  const ExportResult usd = export_run(out, {.format = "usda", .animation = {.every = 1, .visual = true}});
  EXPECT_NE(file_content(usd.out).find("primvars:st"), std::string::npos);
}

TEST(VisualMesh, TakesNoneForNoMaterialAsBlenderWritesIt) {
  const std::filesystem::path path = visual_folder() / "plain.obj";
  std::ofstream(path) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl None\nf 1 2 3\n";
  EXPECT_TRUE(read_surface(path).look.none());
}

TEST(VisualMesh, SaysWhatItLacks) {
  pyramid();
  const auto refusal = [&](const std::string& text) {
    try {
      const Scene scene = parse_scene(text, "shown.toml", visual_folder());
      visual_meshes(scene, *build_model(scene));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  std::string missing = visual_scene();
  missing.replace(missing.find("pyramid.obj"), 11, "pyramids.obj");
  EXPECT_NE(refusal(missing).find("there is no mesh file 'pyramids.obj'"), std::string::npos) << refusal(missing);
  const std::string cloth =
      "[simulation]\ndt = 0.02\nframes = 1\n[[body]]\ncloth = {size = [1, 1], cells = [2, 2]}\nvisual = "
      "\"pyramid.obj\"\n";
  EXPECT_NE(refusal(cloth).find("is no solid"), std::string::npos) << refusal(cloth);
}

TEST(VisualMesh, OfAResumedRunMustBeTheOneItBeganWith) {
  pyramid();
  const std::filesystem::path out = visual_folder() / "resumed";
  std::filesystem::remove_all(out);
  const auto resume = [&](const std::string& text, RunStart start) {
    Simulation simulation(parse_scene(text, "shown", visual_folder()));
    RunOptions options;
    options.folder = out;
    options.start = start;
    options.last_step = start == RunStart::fresh ? 2 : 4;
    RunObserver silent;
    run(simulation, options, silent);
  };
  resume(visual_scene(), RunStart::fresh);
  const auto refusal = [&](const std::string& text) {
    try {
      resume(text, RunStart::resume);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  std::ofstream(visual_folder() / "other.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  std::string other = visual_scene(), none = visual_scene();
  other.replace(other.find("pyramid.obj"), 11, "other.obj");
  none.erase(none.find("visual = \"pyramid.obj\"\n"), 23);
  EXPECT_NE(refusal(other).find("frames of other visual meshes"), std::string::npos) << refusal(other);
  EXPECT_NE(refusal(none).find("visual meshes"), std::string::npos) << refusal(none);
  EXPECT_EQ(refusal(visual_scene()), "none");
}

TEST(VisualMesh, IsExportedByTheRunThatAsksForIt) {
  pyramid();
  const std::filesystem::path out = visual_folder() / "exported";
  std::filesystem::remove_all(out);
  Simulation simulation(
      parse_scene(visual_scene() + "[output]\nexport = [\"obj\"]\nvisual = true\n", "shown", visual_folder()));
  RunOptions options;
  options.folder = out;
  RunObserver silent;
  run(simulation, options, silent);
  bool has_material = false;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(out))
    if (entry.path().extension() == ".obj")
      has_material = has_material || file_content(entry.path()).find("red") != std::string::npos;
  EXPECT_TRUE(has_material);
}

}  // namespace
}  // namespace pliant
