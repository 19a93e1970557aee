#include "pliant/io/animation/export.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "pliant/base/error.hpp"
#include "pliant/io/animation/creases.hpp"
#include "pliant/io/animation/draw.hpp"
#include "pliant/io/run.hpp"
#include "pliant/mesh/formats/surface_formats.hpp"
#include "support/text_file.hpp"

namespace pliant {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFalling = R"(name = "two things"
[simulation]
fps = 50
frames = 6
[[body]]
name = "left"
box = {size = [1, 1, 1], cells = [2, 2, 2]}
young = 1e5
poisson = 0.4
translate = [0, 0.5, 0]
velocity = [0, 1, 0]
[[body]]
name = "right"
box = {size = [1, 1, 1], cells = [1, 1, 1]}
young = 1e5
poisson = 0.4
translate = [3, 0.5, 0]
[[collider]]
name = "floor"
plane = {point = [0, 0, 0], normal = [0, 1, 0]}
[[collider]]
name = "ball"
sphere = {centre = [-5, 0, 0], radius = 1}
velocity = [1, 0, 0]
)";

std::filesystem::path recorded(const std::string& name, const std::string& text = kFalling,
                               const std::vector<std::string>& set = {}) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("pliant_export_" + name);
  std::filesystem::remove_all(folder);
  Simulation simulation(parse_scene(text, name, ".", {set, ""}));
  RunOptions options;
  options.folder = folder;
  RunObserver silent;
  EXPECT_EQ(run(simulation, options, silent).end, RunEnd::finished);
  return folder;
}

/// The two chunks of a .glb file.
struct Glb {
  Json json;
  std::string bytes;

  explicit Glb(const std::string& file) {
    EXPECT_EQ(file.substr(0, 4), "glTF");
    EXPECT_EQ(number(file, 4), 2u);
    EXPECT_EQ(number(file, 8), file.size());
    const std::size_t length = number(file, 12);
    EXPECT_EQ(file.substr(16, 4), "JSON");
    json = Json::parse(file.substr(20, length));
    bytes = file.substr(28 + length);
    EXPECT_EQ(number(file, 20 + length), bytes.size());
  }
  static std::uint32_t number(const std::string& file, std::size_t at) {
    std::uint32_t n = 0;
    std::memcpy(&n, file.data() + at, 4);
    return n;
  }
  std::vector<float> floats(std::size_t accessor) const {
    const Json& view = json["bufferViews"][json["accessors"][accessor]["bufferView"].get<std::size_t>()];
    std::vector<float> values(view["byteLength"].get<std::size_t>() / 4);
    std::memcpy(values.data(), bytes.data() + view["byteOffset"].get<std::size_t>(), 4 * values.size());
    return values;
  }
};

TEST(Export, ReadsARunWithItsNamesCollidersAndTimes) {
  const RecordedRun run(recorded("read"));
  EXPECT_EQ(run.name(), "two things");
  ASSERT_EQ(run.frames().size(), 7u);
  EXPECT_LT((run.up() - Vec3::UnitY()).norm(), 1e-15);
  const Animation animation = read_animation(run, {.every = 2});
  ASSERT_EQ(animation.frames(), 4u);
  EXPECT_DOUBLE_EQ(animation.times[3], 0.12);
  EXPECT_NEAR(animation.rate(), 25, 1e-9);
  ASSERT_EQ(animation.surfaces.size(), 4u);
  EXPECT_EQ(animation.surfaces[0].name, "left");
  EXPECT_EQ(animation.surfaces[1].name, "right");
  EXPECT_EQ(animation.surfaces[2].name, "floor");
  EXPECT_EQ(animation.surfaces[3].name, "ball");
  // A cube of 2 x 2 x 2 cells has 26 vertices on its surface and two triangles on each of 24 squares.
  EXPECT_EQ(animation.surfaces[0].vertices(), 26u);
  EXPECT_EQ(animation.surfaces[0].triangles.size(), 48u);
  EXPECT_EQ(animation.surfaces[0].positions.size(), 4u);
  EXPECT_EQ(animation.surfaces[2].positions.size(), 1u) << "a floor stands still";
  ASSERT_EQ(animation.surfaces[3].positions.size(), 4u) << "the ball moves";
  EXPECT_NEAR(animation.surfaces[3].positions[3][0] - animation.surfaces[3].positions[0][0], 0.12, 1e-6);
  const VtkGrid last = RecordedRun::read(run.frames()[6]);
  EXPECT_EQ(animation.surfaces[0].positions[3][1], static_cast<float>(last.points[0].y()));
}

Animation coloured(std::vector<float> values) {
  Animation animation;
  animation.field = "stretch";
  animation.surfaces.resize(1);
  animation.surfaces[0].values = {std::move(values)};
  return animation;
}

TEST(Export, ClipsTheColoursOfAFewLargeValuesAndNotOfAGradualRise) {
  std::vector<float> rise(1000);
  for (std::size_t i = 0; i < rise.size(); ++i) rise[i] = 1.0F + 0.001F * static_cast<float>(i);
  Animation even = coloured(rise);
  even.fit_range();
  EXPECT_FALSE(even.is_clipped);
  EXPECT_NEAR(even.high, 1.999, 1e-6);
  for (std::size_t i = 995; i < rise.size(); ++i) rise[i] = 9;
  Animation spiked = coloured(rise);
  spiked.fit_range();
  EXPECT_TRUE(spiked.is_clipped);
  EXPECT_NEAR(spiked.high, 1.989, 1e-6);
  EXPECT_EQ(spiked.low, 1);
  Animation still = coloured({1.0F, 1.001F});
  still.fit_range();
  EXPECT_EQ(still.high, 1.02);
  Animation rigid = coloured({1.0F, 2.0F});
  rigid.surfaces[0].is_rigid = true;
  rigid.uncolour_rigid();
  EXPECT_TRUE(rigid.surfaces[0].values.empty());
}

TEST(Export, DrawsShortRunsSmallerUnlessASizeIsGiven) {
  ScenePicture picture;
  EXPECT_EQ(suited_to(10'000'000, picture).width, 1280);
  EXPECT_EQ(suited_to(75'000, picture).width, 640);
  EXPECT_EQ(suited_to(75'000, picture).height, 360);
  EXPECT_EQ(suited_to(0, picture).width, 256);
  picture.is_size_given = true;
  EXPECT_EQ(suited_to(0, picture).width, 1280);
}

TEST(Export, ColoursByAFieldOfTheFramesAndNamesThemWhereItIsUnknown) {
  const RecordedRun run(recorded("field"));
  const Animation speed = read_animation(run, {.colour = "speed"});
  // Both fall from t = 0, one with 1 m/s upwards: in the first frame speeds are 1 and 0.
  EXPECT_FLOAT_EQ(speed.surfaces[0].values[0][0], 1.0f);
  EXPECT_FLOAT_EQ(speed.surfaces[1].values[0][0], 0.0f);
  EXPECT_TRUE(speed.surfaces[3].values.empty());
  EXPECT_DOUBLE_EQ(speed.low, 0);
  const Animation given = read_animation(run, {.colour = "stretch", .range = {{1.0, 3.0}}});
  EXPECT_EQ(given.high, 3.0);
  try {
    read_animation(run, {.colour = "temperature"});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("it has: displacement, velocity, contact_force, contact_pressure, von_mises, stretch, body"),
              std::string::npos)
        << error.what();
  }
}

TEST(Export, GlbHasATargetPerFrameThatLeadsToItsPositions) {
  const auto folder = recorded("glb");
  const ExportResult result = export_run(folder, {.format = "glb"});
  EXPECT_EQ(result.frames, 7u);
  const Glb glb(file_content(folder / "two_things.glb"));
  ASSERT_EQ(glb.json["meshes"].size(), 4u);
  EXPECT_EQ(glb.json["meshes"][0]["name"], "left");
  const Json& primitive = glb.json["meshes"][0]["primitives"][0];
  ASSERT_EQ(primitive["targets"].size(), 6u);
  EXPECT_FALSE(glb.json["meshes"][2]["primitives"][0].contains("targets"));
  // A cube keeps its edges: 24 vertices at corners, 3 for each of 12 edges' middles twice, one in the middle of faces.
  const std::vector<float> base = glb.floats(primitive["attributes"]["POSITION"]);
  EXPECT_EQ(base.size() / 3, 24u + 24u + 6u);
  const std::vector<float> change = glb.floats(primitive["targets"][5]["POSITION"]);
  const Animation animation = read_animation(RecordedRun(folder));
  const CreasedSurface creased =
      split_creases(animation.surfaces[0].triangles, animation.surfaces[0].positions.front());
  const std::vector<float> end = creased.positions(animation.surfaces[0].positions[6]);
  for (std::size_t i = 0; i < base.size(); ++i) EXPECT_NEAR(base[i] + change[i], end[i], 1e-6);
  // At the k-th key the k-th frame alone counts.
  const Json& sampler = glb.json["animations"][0]["samplers"][0];
  const std::vector<float> times = glb.floats(sampler["input"]), weights = glb.floats(sampler["output"]);
  ASSERT_EQ(times.size(), 7u);
  ASSERT_EQ(weights.size(), 42u);
  EXPECT_NEAR(times[6], 0.12, 1e-7);
  for (std::size_t k = 0; k < 7; ++k)
    for (std::size_t t = 0; t < 6; ++t) EXPECT_EQ(weights[6 * k + t], k == t + 1 ? 1.0f : 0.0f);
  EXPECT_EQ(glb.json["animations"][0]["channels"].size(), 3u) << "two bodies and a moving ball";
}

TEST(Export, PointCachesHoldEveryFrameInTheirByteOrder) {
  const auto folder = recorded("cache");
  export_run(folder, {.format = "pc2"});
  export_run(folder, {.format = "mdd"});
  const std::string pc2 = file_content(folder / "pc2/left.pc2"), mdd = file_content(folder / "mdd/left.mdd");
  ASSERT_EQ(pc2.size(), 32u + 7u * 26u * 12u);
  ASSERT_EQ(mdd.size(), 8u + 7u * 4u + 7u * 26u * 12u);
  EXPECT_EQ(pc2.substr(0, 12), std::string("POINTCACHE2\0", 12));
  EXPECT_EQ(Glb::number(pc2, 16), 26u);
  EXPECT_EQ(Glb::number(pc2, 28), 7u);
  EXPECT_EQ(mdd.substr(0, 8), std::string("\0\0\0\7\0\0\0\32", 8));
  for (std::size_t i = 0; i < 7u * 26u * 3u; ++i) {
    std::string big = mdd.substr(36 + 4 * i, 4);
    std::reverse(big.begin(), big.end());
    ASSERT_EQ(big, pc2.substr(32 + 4 * i, 4));
  }
  const TriangleMesh mesh = read_obj(file_content(folder / "pc2/left.obj"), "left.obj");
  EXPECT_EQ(mesh.vertices.size(), 26u);
  float first = 0;
  std::memcpy(&first, pc2.data() + 32, 4);
  EXPECT_EQ(static_cast<float>(mesh.vertices[0].x()), first);
}

TEST(Export, SequencesReadBackAsTheSameSurfaces) {
  const auto folder = recorded("sequence");
  EXPECT_EQ(export_run(folder, {.format = "obj"}).files.size(), 8u);
  EXPECT_EQ(export_run(folder, {.format = "ply", .animation = {.every = 3, .colour = "stretch"}}).files.size(), 3u);
  const Animation animation = read_animation(RecordedRun(folder));
  std::size_t vertices = 0, triangles = 0;
  for (const AnimatedSurface& surface : animation.surfaces) {
    vertices += surface.vertices();
    triangles += surface.triangles.size();
  }
  const TriangleMesh obj = read_obj(file_content(folder / "obj/two_things_000006.obj"), "obj");
  const TriangleMesh ply = read_ply(file_content(folder / "ply/two_things_000002.ply"), "ply");
  EXPECT_EQ(obj.vertices.size(), vertices);
  EXPECT_EQ(ply.vertices.size(), vertices);
  EXPECT_EQ(obj.triangles, ply.triangles);
  EXPECT_EQ(obj.triangles.size(), triangles);
  EXPECT_EQ(static_cast<float>(ply.vertices[0].y()), animation.surfaces[0].positions[6][1]);
}

TEST(Export, UsdaSamplesPointsAtEveryTimeCode) {
  const auto folder = recorded("usda");
  export_run(folder, {.format = "usda", .animation = {.every = 0, .colour = "speed"}});
  const std::string text = file_content(folder / "two_things.usda");
  const auto count = [&](const std::string& what) {
    std::size_t n = 0;
    for (std::size_t p = text.find(what); p != std::string::npos; p = text.find(what, p + 1)) ++n;
    return n;
  };
  EXPECT_EQ(text.substr(0, 10), "#usda 1.0\n");
  EXPECT_EQ(count("def Mesh \""), 4u);
  EXPECT_EQ(count("point3f[] points.timeSamples"), 3u);
  EXPECT_EQ(count("primvars:displayColor.timeSamples"), 2u);
  EXPECT_EQ(count("            6: ["), 3u * 2u + 2u) << "points and extents of three, colours of two";
  EXPECT_EQ(count("endTimeCode = 6"), 1u);
  EXPECT_EQ(count("timeCodesPerSecond = 50"), 1u);
  EXPECT_EQ(count("{"), count("}"));
}

TEST(Export, ACutBodyHasTheTrianglesOfItsEndThroughout) {
  const auto folder = recorded("cut", R"(name = "cut"
[simulation]
fps = 50
frames = 4
[[body]]
name = "bar"
box = {size = [2, 1, 1], cells = [2, 1, 1]}
young = 1e5
poisson = 0.4
[[cut]]
time = 0.04
plane = {point = [1, 0, 0], normal = [1, 0, 0]}
[solver]
name = "newton"
)");
  const Animation animation = read_animation(RecordedRun(folder));
  ASSERT_EQ(animation.surfaces.size(), 1u);
  EXPECT_EQ(animation.surfaces[0].vertices(), 16u) << "two cubes apart";
  EXPECT_EQ(animation.surfaces[0].triangles.size(), 24u);
  for (const auto& frame : animation.surfaces[0].positions) EXPECT_EQ(frame.size(), 48u);
}

TEST(Export, CurvedElementsBecomeAsManyFlatTrianglesAsTheirOrderSquared) {
  for (int order : {2, 3}) {
    const auto folder = recorded("order", kFalling, {"body.1.order=" + std::to_string(order), "simulation.frames=1"});
    const Animation animation = read_animation(RecordedRun(folder));
    const AnimatedSurface& body = animation.surfaces[1];
    EXPECT_EQ(body.triangles.size(), 12u * static_cast<unsigned>(order * order));
    // A closed surface: V - E + F = 2.
    EXPECT_EQ(body.vertices() + body.triangles.size(), 3 * body.triangles.size() / 2 + 2);
    double volume = 0;
    const std::vector<float>& x = body.positions.front();
    for (const Triangle& t : body.triangles) {
      const auto p = [&](std::size_t k) { return Vec3(x[3 * at(t[k])], x[3 * at(t[k]) + 1], x[3 * at(t[k]) + 2]); };
      volume += p(0).dot(p(1).cross(p(2))) / 6;
    }
    EXPECT_NEAR(volume, 1, 1e-5) << "outward";
  }
}

TEST(Export, VolumeShowsEverySideOfEveryElement) {
  const auto folder = recorded("volume");
  const Animation animation = read_animation(RecordedRun(folder), {.faces = Faces::all});
  EXPECT_EQ(animation.surfaces[0].vertices(), 27u);
  EXPECT_EQ(animation.surfaces[0].triangles.size() % 4, 0u);
  EXPECT_GT(animation.surfaces[0].triangles.size(), 48u);
}

TEST(Export, SceneAsksForFormatsWhenARunEnds) {
  const auto folder = recorded("asked", kFalling, {"output.export=[\"glb\", \"usda\"]"});
  EXPECT_TRUE(std::filesystem::exists(folder / "two_things.glb"));
  EXPECT_TRUE(std::filesystem::exists(folder / "two_things.usda"));
}

TEST(Export, SceneChoosesFramesAndColoursOfItsFiles) {
  const auto folder =
      recorded("asked_so", kFalling,
               {"output.export=[\"ply\", \"usda\"]", "output.export_every=3", "output.export_colour=\"speed\""});
  EXPECT_TRUE(std::filesystem::exists(folder / "ply/two_things_000002.ply"));
  EXPECT_FALSE(std::filesystem::exists(folder / "ply/two_things_000003.ply")) << "frames 0, 3 and 6";
  EXPECT_NE(file_content(folder / "two_things.usda").find("displayColor.timeSamples"), std::string::npos);
}

TEST(Export, TheEndingOfAFileNamesItsFormat) {
  const auto folder = recorded("ending");
  EXPECT_EQ(export_run(folder, {.out = folder / "a.usda"}).format, "usda");
  EXPECT_EQ(file_content(folder / "a.usda").substr(0, 10), "#usda 1.0\n");
  EXPECT_EQ(export_run(folder, {.out = folder / "a.glb"}).format, "glb");
  EXPECT_EQ(export_run(folder, {.format = "usda", .out = folder / "frames"}).out, folder / "frames/two_things.usda");
  for (const auto& [format, out] : {std::pair("", "a.fbx"), std::pair("glb", "a.usda"), std::pair("", "a"),
                                    std::pair("ply", "a.ply"), std::pair("obj", "a.glb")})
    EXPECT_THROW(export_run(folder, {.format = format, .out = folder / out}), InputError) << format << " " << out;
}

TEST(Export, SaysWhatItCannotDo) {
  const auto message = [](const std::filesystem::path& folder, const ExportOptions& options) {
    try {
      export_run(folder, options);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message(testing::TempDir(), {}).find("has no result.pvd"), std::string::npos);
  EXPECT_NE(message(recorded("bad"), {.format = "fbx"}).find("there are: glb, usda, pc2, mdd, ply, obj"),
            std::string::npos);
}

}  // namespace
}  // namespace pliant
