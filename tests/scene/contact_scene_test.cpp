#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "pliant/base/error.hpp"
#include "pliant/scene/scene.hpp"

namespace pliant {
namespace {

const std::string kScene = R"(
[simulation]
dt = 0.01
duration = 0.1
[[body]]
name = "block"
box = {size = [1, 1, 1], cells = [1, 1, 1], origin = [0, 0.1, 0]}
young = 1e5
poisson = 0.3
[[collider]]
name = "floor"
plane = {}
friction = 0.2
)";

std::string message(const std::string& text, const std::filesystem::path& folder = ".") {
  try {
    build_model(parse_scene(text, "test.toml", folder));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(ContactScene, TurnsCollidersIntoObstaclesWithCoefficientsPerPair) {
  const Scene scene = parse_scene(kScene + R"(
[[collider]]
name = "ball"
sphere = {centre = [0, -3, 0], radius = 1}
[contact]
dhat = 2e-3
friction = 0.5
[[contact.pair]]
first = "block"
second = "ball"
friction = 0.9
)",
                                  "test.toml");
  const auto model = build_model(scene);
  EXPECT_EQ(model->colliders(), nullptr);
  ASSERT_TRUE(model->contact());
  const ContactModel& contact = *model->contact();
  EXPECT_EQ(contact.options.dhat, 2e-3);
  EXPECT_EQ(contact.group_names, (std::vector<std::string>{"block", "ball", "floor"}));
  EXPECT_EQ(contact.friction_of(0, 0), 0.5);
  EXPECT_EQ(contact.friction_of(0, 1), 0.9);
  EXPECT_EQ(contact.friction_of(2, 0), 0.2);  // the floor's own
  EXPECT_GT(contact.positions(), model->nodes() + 1000);
  EXPECT_NE(describe(scene, *model).find("dhat 0.002 m"), std::string::npos);
}

TEST(ContactScene, WithoutItBodiesTouchCollidersAlone) {
  const auto model = build_model(parse_scene(kScene, "test.toml"));
  ASSERT_NE(model->contact(), nullptr);
  EXPECT_EQ(model->colliders(), nullptr);
  EXPECT_FALSE(model->contact()->options.bodies);
  EXPECT_FALSE(model->contact()->surface->may_touch(0, 0));
}

TEST(ContactScene, CollidersPushByPenaltyOnRequest) {
  const auto model = build_model(parse_scene(kScene, "test.toml", ".", {{"simulation.colliders=penalty"}, ""}));
  EXPECT_EQ(model->contact(), nullptr);
  EXPECT_NE(model->colliders(), nullptr);
}

TEST(ContactScene, ChoosesDhatFromTheMesh) {
  const auto model = build_model(parse_scene(kScene + "[contact]\n", "test.toml"));
  double shortest = std::numeric_limits<double>::infinity();
  const ContactModel& contact = *model->contact();
  for (std::size_t e = 0; e < contact.surface->edges.size(); ++e)
    if (contact.surface->edges[e][0] < model->nodes()) shortest = std::min(shortest, contact.edge_length2[e]);
  EXPECT_GT(contact.options.dhat, 0);
  EXPECT_LE(contact.options.dhat, 0.1 * std::sqrt(shortest) * (1 + 1e-12));
}

TEST(ContactScene, ReadsSurfacesAsObstacles) {
  const std::filesystem::path folder = ::testing::TempDir();
  std::ofstream(folder / "ramp.obj") << "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n";
  const std::string surface =
      "[[collider]]\nname = \"ramp\"\nsurface = {file = \"ramp.obj\", scale = 2, translate = [0, -1, 0]}\n";
  const auto model = build_model(parse_scene(kScene + surface + "[contact]\n", "test.toml", folder));
  ASSERT_EQ(model->contact()->obstacles.size(), 1u);
  const Index first = model->contact()->obstacles[0].positions.begin;
  EXPECT_EQ(Vec3(node(model->contact()->rest, first + 1)), Vec3(2, -1, 0));
  EXPECT_EQ(build_model(parse_scene(kScene + surface, "test.toml", folder))->contact()->obstacles.size(), 1u);
}

TEST(ContactScene, NamesWhatIsWrong) {
  EXPECT_NE(message(kScene + "[contact]\ndhat = -1\n").find("test.toml"), std::string::npos);
  const std::string pair = message(kScene + "[contact]\n[[contact.pair]]\nfirst = \"block\"\nsecond = \"flor\"\n");
  EXPECT_NE(pair.find("did you mean 'floor'?"), std::string::npos) << pair;
  EXPECT_NE(message(kScene + "[contact]\nkapa = 1\n").find("kappa"), std::string::npos);
}

}  // namespace
}  // namespace pliant
