#include <fstream>

#include "scene/scene_test_support.hpp"

namespace pliant::test {
namespace {

/// The small scene with `lines` in place of the stiffness of its body.
std::string with_material(const std::string& lines, const std::string& more = {}) {
  std::string text;
  for (std::size_t i = 0; i < good_lines().size(); ++i) {
    if (i == 9) continue;
    text += (i == 8 ? lines : good_lines()[i]) + "\n";
  }
  return text + more;
}

Body body_of(const std::string& text) { return build_model(parse_scene(text, "scene.toml", "."))->bodies()[0]; }

TEST(SceneMaterial, EveryLawIsBuiltFromItsName) {
  for (const auto& law : laws()) {
    if (law->info().name == "valanis-landel") continue;
    const Body body = body_of(with_material("material = \"" + law->info().name + "\"\nyoung = 1e5\npoisson = 0.3"));
    EXPECT_EQ(body.law->info().name, law->info().name);
  }
}

TEST(SceneMaterial, MooneyRivlinTakesItsOwnConstants) {
  const Body body = body_of(with_material("material = \"mooney-rivlin\"\nc10 = 3e4\nc01 = 1e4\nbulk = 1e6"));
  EXPECT_NEAR(body.lame[0].mu, 8e4, 1e-6);
  EXPECT_NEAR(body.lame[0].lambda + 2 * body.lame[0].mu / 3, 1e6, 1e-6);
  // Simple shear: Psi = (c10 + c01) gamma^2.
  Mat3 F = Mat3::Identity();
  F(0, 1) = 0.3;
  EXPECT_NEAR((Material{body.law, body.lame[0]}.energy(F)), 4e4 * 0.09, 1e-6);
  expect_error(with_material("c10 = 3e4\nc01 = 1e4\nbulk = 1e6"), {"scene.toml:9", "mooney-rivlin"});
  expect_error(with_material("young = 1e5\npoisson = 0.3\nc01_share = 0.5"), {"neo-hookean", "has no constant"});
}

TEST(SceneMaterial, CurvesMakeAValanisLandelLaw) {
  const Body body = body_of(
      with_material("material = \"valanis-landel\"\ncurves = {a = [[0.5, -2e5], [1, 0], [1.5, 1e5]], c_polynomial = "
                    "[0, 0, 3e5]}"));
  EXPECT_NEAR((Material{body.law, body.lame[0]}.stress(Vec3(1.5, 1, 1).asDiagonal().toDenseMatrix())(0, 0)),
              1e5 + 6e5 * 0.5, 1e-6);
  expect_error(with_material("material = \"valanis-landel\"\ncurves = {a = [[0.5, -2e5], [1, 10], [1.5, 1e5]]}"),
               {"scene.toml", "stress of 10 Pa at rest"});
  expect_error(with_material("material = \"valanis-landel\"\nyoung = 1e5\npoisson = 0.3"), {"needs 'curves'"});
  expect_error(with_material("curves = {a = [[0.5, -2e5], [1, 0], [0.9, 1e5]]}"), {"pairs of numbers"});
  expect_error(with_material("material = \"neo-hookean\""), {"needs 'young' and 'poisson'"});
}

TEST(SceneMaterial, FibresTakeEveryKindOfDirection) {
  const std::string stiff = "[[body.fibres]]\nstiffness = 1e5\n";
  const auto with_fibres = [](const std::string& lines) {
    return with_material("young = 1e5\npoisson = 0.3", lines + "\n");
  };
  EXPECT_EQ(body_of(with_fibres(stiff + "direction = [0, 0, 2]")).fibres[0].directions[0], Vec3(0, 0, 1));
  EXPECT_EQ(body_of(with_fibres(stiff + "field = \"vertical\"")).fibres[0].directions[0], Vec3(0, 1, 0));
  EXPECT_NEAR(body_of(with_fibres(stiff + "field = \"diagonal\"")).fibres[0].directions[5].x(), std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(body_of(with_fibres(stiff + "field = \"helical\"\ncentre = [0, 0.5, 0.5]\npitch = 90"))
                  .fibres[0]
                  .directions[7]
                  .x(),
              1, 1e-15);
  expect_error(with_fibres(stiff), {"[[body.fibres]] needs 'direction' or 'field'"});
  expect_error(with_fibres(stiff + "field = \"helcal\""), {"did you mean 'helical'?"});
  expect_error(with_fibres(stiff + "element_field = \"fibre\""), {"no element field 'fibre'"});
  expect_error(with_fibres(stiff + "file = \"missing.txt\""), {"missing.txt", "no such file"});
  expect_error(with_fibres(stiff + "direction = [1, 0, 0]\nlaw = \"fungi\""), {"did you mean \"fung\"?"});
  expect_error(with_fibres(stiff + "direction = [1, 0, 0]\nshape = 2"), {"has no 'shape'"});
}

TEST(SceneMaterial, FibreFilesAreCheckedLineByLine) {
  const std::string file = ::testing::TempDir() + "fibres.txt";
  const std::string text =
      with_material("young = 1e5\npoisson = 0.3", "[[body.fibres]]\nstiffness = 1e5\nfile = \"" + file + "\"\n");
  const auto write = [&](int lines, const std::string& last) {
    std::ofstream out(file);
    out << "# directions\n";
    for (int i = 0; i < lines; ++i) out << "0 1 0\n";
    out << last;
  };
  write(80, "");
  EXPECT_EQ(body_of(text).fibres[0].directions.size(), 80u);
  write(79, "");
  expect_error(text, {"79 directions", "80 elements"});
  write(79, "1 2\n");
  expect_error(text, {"fibres.txt:81", "three numbers"});
  write(81, "");
  expect_error(text, {"fibres.txt:82", "more lines"});
}

TEST(SceneMaterial, MusclesDriveTheFibresThatNameThem) {
  const auto with_muscles = [](const std::string& lines) {
    return with_material("young = 1e5\npoisson = 0.3",
                         "[[body.fibres]]\nlaw = \"muscle\"\nstiffness = 1e5\ndirection = [1, 0, 0]\nmuscle = "
                         "\"biceps\"\n" +
                             lines);
  };
  const auto model = build_model(parse_scene(
      with_muscles("[[muscle]]\nname = \"other\"\n[[muscle]]\nname = \"biceps\"\nactivation = [[0, 0], [1, 1]]\n"),
      "scene.toml", "."));
  EXPECT_EQ(model->bodies()[0].fibres[0].activation, 1);
  EXPECT_EQ(model->activation(model->rest_state(), 0.25), (std::vector<double>{0, 0.25}));
  expect_error(with_muscles(""), {"there is no muscle 'biceps'"});
  expect_error(with_muscles("[[muscle]]\nname = \"biceps\"\nactivation = [[0, 2]]\n"), {"between 0 and 1"});
}

TEST(SceneMaterial, ClothAndSpringsMakeNetworks) {
  const std::string cloth =
      "simulation = {dt = 0.01, frames = 1}\n[[body]]\ncloth = {size = [2, 1], cells = [4, 2]}\ndensity = 0.5\n";
  const Body body = body_of(cloth + "translate = [0, 3, 0]\n[[pin]]\nwhere = \"corners\"\n");
  EXPECT_FALSE(body.is_solid());
  EXPECT_EQ(body.vertices().size(), 15u);
  EXPECT_NEAR(body.mass(), 1, 1e-14);
  EXPECT_EQ(body.vertices()[0], Vec3(0, 3, 0));
  const Body edges = body_of(with_material("springs = {structural = 10}"));
  EXPECT_GT(edges.springs->stencils().count(), 100);
  EXPECT_NEAR(edges.mass(), 2000, 1e-9);
  expect_error(cloth + "young = 1e5\npoisson = 0.3\n", {"made of springs"});
  expect_error("simulation = {dt = 0.01, frames = 1}\n[[body]]\ncloth = {size = [2, 0], cells = [4, 2]}\n",
               {"'size'", "above 0"});
}

TEST(SceneMaterial, DampingReachesTheModel) {
  const Body body = body_of(with_material("young = 1e5\npoisson = 0.3\ndamping = {mass = 0.5, stiffness = 0.01}"));
  EXPECT_EQ(body.damping.mass, 0.5);
  EXPECT_EQ(body.damping.stiffness, 0.01);
  expect_error(with_material("young = 1e5\npoisson = 0.3\ndamping = {mass = -1}"), {"'mass'", "at least 0"});
}

TEST(SceneMaterial, TakesStiffnessAndRegionsFromTheMeshFile) {
  const std::string folder = ::testing::TempDir();
  {
    std::ofstream out(folder + "two.msh");
    out << "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n3 1 \"soft\"\n3 2 \"hard\"\n$EndPhysicalNames\n"
           "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n$EndNodes\n$Elements\n2\n1 4 2 1 1 1 2 3 4\n"
           "2 4 2 2 2 2 3 4 5\n$EndElements\n";
  }
  const std::string head = "simulation = {dt = 0.01, frames = 1}\n[[body]]\nmesh = \"" + folder + "two.msh\"\n";
  const Body body = body_of(head + "young = 1e4\npoisson = 0.3\n[body.regions.hard]\nyoung = 1e6\npoisson = 0.3\n");
  ASSERT_EQ(body.lame.size(), 2u);
  EXPECT_NEAR(body.lame[1].mu / body.lame[0].mu, 100, 1e-9);
  expect_error(head + "young_field = \"E\"\nyoung = 1e4\npoisson = 0.3\n", {"no element field 'E'"});
  expect_error(head + "young_field = \"E\"\n", {"needs 'young' and 'poisson' too"});
}

}  // namespace
}  // namespace pliant::test
