#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <sstream>

#include "scene/scene_test_support.hpp"

namespace pliant::test {
namespace {

Scene parse(const std::string& text, const SceneChanges& changes = {}) {
  return parse_scene(text, "scene.toml", ".", changes);
}

TEST(Scene, FillsInDefaultsFromTheTable) {
  const Scene scene = parse(scene_with(11, ""));
  EXPECT_EQ(scene.bodies[0].density, 1000);
  EXPECT_EQ(scene.bodies[0].material, "neo-hookean");
  EXPECT_EQ(scene.gravity, Vec3(0, -9.81, 0));
  EXPECT_EQ(scene.mass, MassKind::lumped);
  EXPECT_EQ(scene.steps, 10);
  EXPECT_EQ(scene.output.every, 1);
  EXPECT_EQ(scene.solver.on_failure, OnFailure::stop);
  EXPECT_EQ(scene.scripts[0].imposition, Imposition::penalty);
  EXPECT_EQ(scene.scripts[0].sigma, 1e8);
}

TEST(Scene, TakesAliasesForTheCommonNames) {
  const Scene scene = parse(
      "simulation = {dt = 1, frames = 1}\n[[body]]\nbox = {size = [1, 1, 1], cells = [1, 1, 1]}\nE = 1e6\nnu = "
      "0.25\nrho = 500\n");
  EXPECT_NEAR(scene.bodies[0].lame.mu, 4e5, 1e-9);
  EXPECT_EQ(scene.bodies[0].density, 500);
}

TEST(Scene, ADurationIsAWholeNumberOfStepsWhateverTheRounding) {
  EXPECT_EQ(parse(scene_with(4, "fps = 60"), {{"simulation.duration=3"}, ""}).steps, 180);
  EXPECT_EQ(parse(scene_with(4, "fps = 30"), {{"simulation.duration=3.01"}, ""}).steps, 91);
  EXPECT_EQ(parse(scene_with(5, "frames = 7\n"), {{"output.every=3"}, ""}).steps, 21);
}

TEST(Scene, BodiesPinsAndScriptsReachTheModel) {
  const std::string text = scene_with(8,
                                      "box = {size = [2, 1, 1], cells = [4, 2, 2]}\nscale = 2\nrotate = {axis = [0, 0, "
                                      "1], angle = 90}\ntranslate = [0, 0, 5]\norder = 2");
  const auto model = build_model(parse(text));
  const Body& body = model->bodies()[0];
  const InBox box = bounding_box(body.vertices());
  EXPECT_NEAR((box.min - Vec3(-2, 0, 5)).norm(), 0, 1e-12);  // 4 x 2 x 2 m, turned to y, moved up
  EXPECT_NEAR((box.max - Vec3(0, 4, 7)).norm(), 0, 1e-12);
  EXPECT_NEAR(model->mass().lumped().sum(), 16000, 1e-8);
  // The set x-min is the box's own side, which the rotation has put at y = 0: 3 x 3 vertices and 16 edge nodes between.
  EXPECT_EQ(model->pins()[0].nodes.size(), 25u);
  for (Index i : model->pins()[0].nodes) EXPECT_NEAR(node(model->rest(), i).y(), 0, 1e-12);
  EXPECT_EQ(model->scripts()[0].nodes.size(), 25u);
}

TEST(Scene, ScriptsMoveAsTheFileSays) {
  const double h = 1e-12;
  const auto motion_of = [](const std::string& lines) { return parse(scene_with(18, lines)).scripts[0].motion; };
  const Vec3 p(2, 1, 0);
  EXPECT_NEAR((motion_of("translate = [1, 0, 0]\ntimes = [1, 3]").position(0, p, 2) - Vec3(2.5, 1, 0)).norm(), 0, h);
  EXPECT_NEAR((motion_of("velocity = [1, 0, 0]\ntimes = [1, 3]").position(0, p, 2.5) - Vec3(3.5, 1, 0)).norm(), 0, h);
  EXPECT_NEAR(
      (motion_of("rotate = {axis = [2, 0, 0], angle = 180}\ntimes = [0, 2]").position(0, p, 1) - Vec3(2, 0, 1)).norm(),
      0, h);
  EXPECT_NEAR(
      (motion_of("rotate = {axis = [1, 0, 0], revolutions = 0.5}\ntimes = [0, 2]").position(0, p, 1) - Vec3(2, 0, 1))
          .norm(),
      0, h);
  const std::string spin =
      "rotate = {axis = [1, 0, 0], angular_velocity = " + std::to_string(std::numbers::pi) + "}\ntimes = [0, 2]";
  EXPECT_NEAR((motion_of(spin).position(0, p, 0.5) - Vec3(2, 0, 1)).norm(), 0, 1e-5);
  const Motion keyed = motion_of(
      "rotate = {axis = [1, 0, 0]}\nkeyframes = [{time = 0, translate = [0, 0, 0], angle = 0}, {time = 2, translate = "
      "[0, 0, 4], angle = 180}]");
  EXPECT_NEAR((keyed.position(0, p, 1) - Vec3(2, 0, 3)).norm(), 0, h);
}

TEST(Scene, RegionsChangeTheStiffnessOfTheirElements) {
  const auto model = build_model(parse(scene_with(11, "[body.regions.tip]\nwhere = \"x >= 1\"\nmu = 7\nlambda = 5")));
  const Body& body = model->bodies()[0];
  ASSERT_EQ(body.lame.size(), body.mesh->tets().size());
  for (std::size_t e = 0; e < body.lame.size(); ++e) {
    double lowest = 2;
    for (Index v : body.mesh->tets()[e])
      lowest = std::min(lowest, body.mesh->vertices()[static_cast<std::size_t>(v)].x());
    EXPECT_EQ(body.lame[e].mu == 7, lowest >= 1);
  }
}

TEST(Scene, SelectionsPickByPlaceNameAndNumber) {
  const TetMesh mesh(box({.size = Vec3(2, 1, 1), .cells = {4, 2, 2}}));
  const auto count = [&](const std::string& where) {
    const Scene scene = parse(scene_with(14, "where = " + where));
    return select(scene.pins[0].where, mesh).size();
  };
  EXPECT_EQ(count("\"all\""), 45u);
  EXPECT_EQ(count("\"boundary\""), 42u);
  EXPECT_EQ(count("\"z-max\""), 15u);
  EXPECT_EQ(count("\"x < 0.6\""), 18u);
  EXPECT_EQ(count("\"x < 0.5\""), 9u);
  EXPECT_EQ(count("\"x <= 0.5 and y >= 1\""), 6u);
  EXPECT_EQ(count("[\"x-min\", \"x-max\"]"), 18u);
  EXPECT_EQ(count("{box = {min = [0, 0, 0], max = [0.5, 0.5, 0.5]}}"), 8u);
  EXPECT_EQ(count("{sphere = {centre = [0, 0, 0], radius = 0.5}}"), 4u);
  EXPECT_EQ(count("{plane = {point = [1, 0, 0], normal = [-1, 0, 0]}}"), 27u);
  EXPECT_EQ(count("{vertices = [0, 3, 3]}"), 2u);
}

TEST(Scene, ChangesFromTheCommandLineReplaceValuesAndTheirRivals) {
  const Scene scene =
      parse(scene_with(0, ""),
            {{"body.bar.young=1e6", "body.density=2000", "simulation.fps=50", "simulation.frames=4",
              "solver.name=newton", "pin.0.where=y-min and x < 1", "body.0.box.cells=[2, 1, 1]", "output.every=2"},
             ""});
  EXPECT_NEAR(scene.bodies[0].lame.mu, 1e6 / 2.8, 1e-6);
  EXPECT_EQ(scene.bodies[0].density, 2000);
  EXPECT_EQ(scene.dt, 0.02);
  EXPECT_EQ(scene.steps, 8);
  EXPECT_EQ(scene.solver.name, "newton");
  EXPECT_EQ(std::get<BoxOptions>(*scene.bodies[0].mesh.generator).cells[0], 2);
  const Scene lame = parse(scene_with(0, ""), {{"body.0.mu=3", "body.0.lambda=4"}, ""});
  EXPECT_EQ(lame.bodies[0].lame.lambda, 4);
}

TEST(Scene, GeneratesEveryKindOfMesh) {
  const auto volume = [](const std::string& mesh) {
    const Scene scene = parse("[simulation]\ndt = 0.01\nframes = 1\n[[body]]\nyoung = 1e5\npoisson = 0.3\n" + mesh +
                                  "\n[[pin]]\nwhere = \"x-min\"\n",
                              {});
    return build_model(scene)->bodies()[0].mesh->total_volume();
  };
  EXPECT_NEAR(volume("cylinder = {radius = 0.5, length = 3, axis = \"x\", cells = 12, along = 4}"), 2.33, 0.03);
  EXPECT_NEAR(volume("tube = {inner_radius = 0.4, outer_radius = 0.5, length = 1, layers = 1}"), 0.28, 0.01);
  EXPECT_NEAR(volume("sphere = {center = [1, 2, 3], radius = 1}"), 4.0, 0.2);
  EXPECT_NEAR(volume("torus = {radius = 1, ring_radius = 0.2, cells = 8}"), 0.77, 0.03);
  EXPECT_NEAR(volume("sheet = {size = [2, 3], normal = \"y\", cells = [4, 6], layers = 2}"), 0.06, 1e-12);
  EXPECT_NEAR(volume("lattice = {cells = [1, 1, 1], strut = 0.2}"), 8 * 0.008 + 12 * 0.04 * 0.6, 1e-12);
}

TEST(Scene, NamesTheKeyOfAWrongGenerator) {
  const auto error = [](const std::string& mesh) { return error_of(scene_with(8, mesh)); };
  EXPECT_NE(error("sphere = {cells = 2}").find("'cells' in 'sphere' of [[body]] must be a whole number from 4 to"),
            std::string::npos);
  EXPECT_NE(error("tube = {inner_radius = 1}").find("the inner one must be the smaller"), std::string::npos);
  EXPECT_NE(error("sheet = {size = [1, 2, 3]}").find("must be two numbers [a, b], each above 0"), std::string::npos);
  EXPECT_NE(error("sphere = {}\nbox = {size = [1, 1, 1], cells = [1, 1, 1]}").find("exclude each other"),
            std::string::npos);
}

TEST(Scene, AnotherSolverKeepsTheParametersItHas) {
  const Scene scene = parse(scene_with(0, "", "projection = \"numerical\"\ntolerance = 0.5\n"), {{}, "kinetic-newton"});
  EXPECT_EQ(scene.solver.name, "kinetic-newton");
  EXPECT_EQ(std::get<double>(scene.solver.parameters.at("tolerance")), 0.5);
  EXPECT_EQ(scene.solver.parameters.count("projection"), 0u);
  ASSERT_EQ(scene.notices.size(), 1u);
  EXPECT_NE(scene.notices[0].find("scene.toml:21: 'projection'"), std::string::npos) << scene.notices[0];
}

TEST(Scene, TheIntegratorReachesTheSolver) {
  const Scene scene = parse(scene_with(5, "duration = 1\nintegrator = \"quasistatic\""));
  EXPECT_EQ(std::get<std::string>(scene.solver.parameters.at("integrator")), "quasistatic");
}

TEST(Scene, ASettingGivenTwiceIsRefusedOnlyWhereSomebodyGaveBoth) {
  const std::string statics = "integrator = \"quasistatic\"\n";
  EXPECT_EQ(error_of(scene_with(0, "", statics)), "");  // the default of [simulation] does not count
  expect_error(scene_with(5, "duration = 0.1\nintegrator = \"implicit-euler\"", statics),
               {"scene.toml:22: 'integrator' is given in [simulation] and, differently, in [solver]"});
}

TEST(Scene, ASolverThatCannotRunItIsRefusedWithThoseThatCan) {
  expect_error(scene_with(5, "duration = 0.1\nmass = \"consistent\""),
               {"--solver: the solver 'xpbd' cannot run this scene: it needs mass = \"lumped\"",
                "Solvers that can: pod-newton, newton, projected-newton, kinetic-newton"},
               {{}, "xpbd"});
  expect_error(scene_with(5, "duration = 0.1\nintegrator = \"quasistatic\""),
               {"scene.toml:6: the solver 'kinetic-newton' has no integrator \"quasistatic\"", "fp-pxpbd"},
               {{}, "kinetic-newton"});
  expect_error(scene_with(0, "", "integrator = \"implicit-midpoint\"\n[contact]\n"),
               {"scene.toml:20: the solver 'pod-newton' cannot run this scene", "take \"implicit-euler\"",
                "Solvers that can: none"});
}

TEST(Scene, SaysWhichSolversCouldRunIt) {
  const Scene scene = parse(scene_with(0, ""));
  const std::string text = describe_solvers(scene, *build_model(scene));
  EXPECT_NE(text.find("could run this scene: pod-newton, newton"), std::string::npos) << text;
  EXPECT_NE(text.find("not xpbd: body 'bar' is made of neo-hookean"), std::string::npos) << text;
}

std::string document(const std::string& name) {
  std::ifstream file(std::filesystem::path(PLIANT_SOURCE_DIR) / "docs" / name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Scene, AChangeByTheNameOfABodyIsNotOneOfAKeyOfThatName) {
  const std::string text =
      "[simulation]\ndt = 0.01\nframes = 1\n[[body]]\nname = \"box\"\nbox = {size = [1, 1, 1], cells = [1, 1, "
      "1]}\nyoung = 1e5\npoisson = 0\n";
  EXPECT_DOUBLE_EQ(parse_scene(text, "box", ".", {{"body.box.young=3e5"}, ""}).bodies[0].lame.mu, 1.5e5);
  const Scene sized = parse_scene(text, "box", ".", {{"body.box.size=[2, 1, 1]"}, ""});
  EXPECT_NEAR(build_model(sized)->bodies()[0].mass(), 2000, 1e-9);
}

constexpr const char* kLinked = R"(
[simulation]
dt = 0.01
frames = 1
[[link]]
name = "upper"
joint = "fixed"
box = {centre = [0, 1, 0], size = [0.2, 0.2, 0.2]}
[[link]]
name = "lower"
parent = "upper"
joint = "hinge"
pivot = [0.1, 1, 0]
capsule = {begin = [0.15, 1, 0], end = [0.5, 1, 0], radius = 0.02}
[[body]]
name = "flesh"
box = {size = [0.1, 0.1, 0.1], cells = [1, 1, 1]}
translate = [0.5, 0.95, -0.05]
young = 1e5
poisson = 0.3
[[attachment]]
where = "x-min"
link = "lower"
)";

TEST(Scene, LinksAreRigidBodiesWithJointsForSolversWithoutTheirCoordinates) {
  const Scene scene = parse_scene(kLinked, "arm", ".", {{}, "quasi-newton"});
  EXPECT_TRUE(scene.links.empty());
  ASSERT_EQ(scene.bodies.size(), 3u);
  EXPECT_EQ(scene.bodies[2].name, "lower");
  ASSERT_EQ(scene.joints.size(), 2u);
  EXPECT_EQ(scene.joints[0].joint.kind, RigidJoint::fixed);
  EXPECT_EQ(scene.joints[1].joint.to_body, 1u);
  EXPECT_EQ(scene.attachments[0].to_body, 2u);
  const auto model = build_model(scene);
  EXPECT_EQ(model->articulation(), nullptr);
  EXPECT_NEAR(model->bodies()[1].mass(), 8, 1e-9);
  const Scene reduced = parse_scene(kLinked, "arm", ".", {{}, "conjac"});
  EXPECT_EQ(reduced.links.size(), 2u);
  const auto chain = build_model(reduced);
  ASSERT_NE(chain->articulation(), nullptr);
  const std::string text = describe_solvers(reduced, *chain);
  EXPECT_NE(text.find("could run this scene: pod-newton, newton"), std::string::npos) << text;
  EXPECT_NE(text.find("conjac"), std::string::npos) << text;
}

TEST(Scene, TheDocumentationInTheTreeIsTheTable) {
  EXPECT_EQ(document("scene.md"), scene_documentation()) << "run: build/pliant docs scene > docs/scene.md";
  EXPECT_EQ(document("solvers.md"), solver_documentation()) << "run: build/pliant docs solvers > docs/solvers.md";
}

TEST(Scene, TheDescriptionSaysThatFewerNodesAreDynamicThanWereAskedFor) {
  const auto described = [](int nodes) {
    const Scene scene = parse(fmt::format(
        "[simulation]\nfps = 60\nframes = 1\n[[body]]\nbox = {{size = [1, 0.2, 0.2], cells = [8, 2, 2]}}\nyoung = "
        "2e5\npoisson = 0.4\n[[pin]]\nwhere = \"x-min\"\n[solver]\nname = \"conjac\"\ndynamic_nodes = {}\n",
        nodes));
    return describe(scene, *build_model(scene));
  };
  // Seven nodes of this bar are not on its surface.
  EXPECT_EQ(described(7).find("dynamic nodes are placed"), std::string::npos);
  EXPECT_NE(described(40).find("note: 7 of 40 dynamic nodes are placed"), std::string::npos) << described(40);
}

TEST(Scene, EveryExampleIsGood) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(PLIANT_SOURCE_DIR) / "scenes")) {
    if (entry.path().extension() != ".toml") continue;
    ++count;
    EXPECT_NO_THROW({
      const Scene scene = load_scene(entry.path());
      const auto model = build_model(scene);
      EXPECT_FALSE(scene.title.empty()) << entry.path();
      EXPECT_EQ(scene.name, entry.path().stem().string());
      EXPECT_NE(describe(scene, *model).find(scene.bodies[0].name), std::string::npos);
    }) << entry.path();
  }
  EXPECT_GE(count, 5u);
}

}  // namespace
}  // namespace pliant::test
