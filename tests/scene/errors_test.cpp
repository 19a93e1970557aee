#include <filesystem>
#include <fstream>

#include "scene/scene_test_support.hpp"

namespace pliant::test {
namespace {

struct BadScene {
  std::string name;  ///< what is wrong with it
  std::size_t line;
  std::string text;
  std::vector<std::string> fragments;
  std::string more = {};
};

void PrintTo(const BadScene& bad, std::ostream* out) { *out << bad.name; }

class ABadScene : public testing::TestWithParam<BadScene> {};

TEST_P(ABadScene, GetsAMessageWithFileLineKeyAndRemedy) {
  const BadScene& bad = GetParam();
  const std::string message = error_of(scene_with(bad.line, bad.text, bad.more));
  ASSERT_FALSE(message.empty()) << "accepted";
  // A mistyped key may leave another one missing, which is told too, in a line of its own behind.
  const std::string first = message.substr(0, message.find('\n'));
  for (const std::string& fragment : bad.fragments)
    EXPECT_NE(first.find(fragment), std::string::npos) << "looked for: " << fragment << "\nin: " << message;
}

INSTANTIATE_TEST_SUITE_P(
    With, ABadScene,
    testing::Values(
        BadScene{
            "AnUnknownKey", 9, "yuong = 4e5", {"scene.toml:9: unknown key 'yuong' in [[body]]; did you mean 'young'?"}},
        BadScene{"AnUnknownSection",
                 19,
                 "[sovler]",
                 {"scene.toml:19: unknown key 'sovler' at the top level", "did you mean 'solver'?"}},
        BadScene{"AnUnknownNestedKey",
                 8,
                 "box = {sise = [2, 1, 1], cells = [4, 2, 2]}",
                 {"scene.toml:8: unknown key 'sise' in 'box' of [[body]]", "'size'"}},
        BadScene{
            "TextWhereANumberIsMeant",
            9,
            "young = \"soft\"",
            {"scene.toml:9: 'young' in [[body]] must be a number", "(Pa)", "\"soft\"", "for example: young = 4e5"}},
        BadScene{"ANumberWhereTextIsMeant", 7, "name = 3", {"scene.toml:7: 'name' in [[body]] must be text"}},
        BadScene{"AFractionalCellCount",
                 8,
                 "box = {size = [2, 1, 1], cells = [4.5, 2, 2]}",
                 {"scene.toml:8", "'cells'", "three whole numbers"}},
        BadScene{"AVectorOfTwo",
                 18,
                 "translate = [1, 0]",
                 {"scene.toml:18", "'translate' in [[script]] must be three numbers", "[1, 0]"}},
        BadScene{"NegativeDensity",
                 11,
                 "density = -5",
                 {"scene.toml:11: 'density' in [[body]] must be a number above 0 (kg/m^3), but is -5"}},
        BadScene{"PoissonsRatioOfOneHalf",
                 10,
                 "poisson = 0.5",
                 {"scene.toml:10: 'poisson'", "below 0.5", "incompressible", "0.49"}},
        BadScene{"ATimeStepOfZero",
                 4,
                 "dt = 0",
                 {"scene.toml:4: 'dt' in [simulation] must be a number above 0 (s), but is 0"}},
        BadScene{"NotANumber", 9, "young = nan", {"scene.toml:9: 'young'", "nan"}},
        BadScene{"AnInfiniteNumber", 18, "translate = [inf, 0, 0]", {"scene.toml:18: 'translate'", "inf"}},
        BadScene{"AMissingRequiredKey",
                 14,
                 "axes = \"x\"",
                 {"scene.toml:12: the key 'where' is missing in [[pin]]; for example: where = \"x-min\""}},
        BadScene{"NeitherOfTwoAlternatives",
                 4,
                 "",
                 {"scene.toml:3: [simulation] needs 'dt' or 'fps'; for example: dt = 0.01"}},
        BadScene{"BothOfTwoAlternatives",
                 5,
                 "duration = 0.1\nfps = 60",
                 {"scene.toml:6", "'dt' and 'fps' in [simulation] exclude each other"}},
        BadScene{"HalfOfAPairOfKeys",
                 10,
                 "",
                 {"scene.toml:9: 'young' in [[body]] also needs 'poisson'; for example: poisson = 0.4"}},
        BadScene{"AKeyUnderTwoNames", 9, "young = 4e5\nE = 4e5", {"scene.toml:10", "'E'", "another name for 'young'"}},
        BadScene{"TwoBodiesOfOneName",
                 0,
                 "",
                 {"scene.toml:22: the name 'bar' is taken"},
                 "[[body]]\nname = \"bar\"\nbox = {size = [1, 1, 1], cells = [1, 1, 1]}\nyoung = 1e5\npoisson = 0.3\n"},
        BadScene{
            "AnUnknownBody", 13, "body = \"baar\"", {"scene.toml:13: there is no body 'baar'; did you mean 'bar'?"}},
        BadScene{"AnEmptySelection",
                 14,
                 "where = \"x < -1\"",
                 {"scene.toml:12", "\"x < -1\" selects no vertex of body 'bar'", "between [0, 0, 0] and [2, 1, 1]"}},
        BadScene{"AnUnknownVertexSet",
                 14,
                 "where = \"x-mni\"",
                 {"scene.toml:12", "no vertex set 'x-mni'", "did you mean 'x-min'?"}},
        BadScene{
            "ANonsenseComparison", 14, "where = \"x < wall\"", {"scene.toml:14", "not a selection", "\"x < 0.1\""}},
        BadScene{"AComparisonWithTwoSigns", 14, "where = \"x < +-3\"", {"scene.toml:14", "not a selection"}},
        BadScene{"TwoKindsOfSelection",
                 14,
                 "where = {set = \"x-min\", vertices = [1]}",
                 {"scene.toml:14", "'set' and 'vertices' in a selection exclude each other"}},
        BadScene{"AVertexThatDoesNotExist",
                 14,
                 "where = {vertices = [1000]}",
                 {"scene.toml:12", "vertex 1000 does not exist", "0 to 44"}},
        BadScene{"OverlappingPinAndScript", 17, "where = \"all\"", {"scene.toml:15", "'wall'", "'grip'", "9 nodes"}},
        BadScene{"AMissingMeshFile",
                 8,
                 "mesh = \"nowhere.msh\"",
                 {"scene.toml:8", "no mesh file 'nowhere.msh'", "folder of the scene file"}},
        BadScene{"AnUnknownMaterial",
                 9,
                 "young = 4e5\nmaterial = \"neo-hokean\"",
                 {"scene.toml:10", "neo-hokean", "neo-hookean"}},
        BadScene{"AnUnknownSolver",
                 20,
                 "name = \"pod-newtn\"",
                 {"scene.toml:20: 'name' in [solver] must be one of", "\"pod-newtn\"; did you mean 'pod-newton'?"}},
        BadScene{"AnUnknownSolverParameter",
                 0,
                 "",
                 {"scene.toml:21: unknown key 'tolerence' of solver 'pod-newton'; did you mean 'tolerance'?"},
                 "tolerence = 1.0\n"},
        BadScene{"ASolverParameterOfTheWrongType",
                 0,
                 "",
                 {"scene.toml:21: 'tolerance' of solver 'pod-newton' must be a number of at least 0"},
                 "tolerance = \"small\"\n"},
        BadScene{"ASolverThatCannotDoStatics",
                 20,
                 "name = \"kinetic-newton\"\nintegrator = \"quasistatic\"",
                 {"scene.toml:20", "kinetic-newton", "pod-newton"}},
        BadScene{"AMisspelledChoice",
                 5,
                 "duration = 0.1\nmass = \"lumpd\"",
                 {"scene.toml:6: 'mass' in [simulation] must be one of lumped, consistent", "did you mean 'lumped'?"}},
        BadScene{"ANewerVersion", 1, "version = 2", {"scene.toml:1", "version 2", "newer pliant"}},
        BadScene{"ABrokenLine", 9, "young = = 4", {"scene.toml:9: not valid TOML"}},
        BadScene{"ADate", 9, "young = 2020-01-01", {"scene.toml:9", "dates"}},
        BadScene{
            "AZeroAxis", 18, "rotate = {axis = [0, 0, 0], angle = 90}", {"scene.toml:18", "'axis' must not be zero"}},
        BadScene{"ARotationWithoutAnAngle",
                 18,
                 "rotate = {axis = [1, 0, 0]}",
                 {"scene.toml:18", "'angle', 'revolutions' or 'angular_velocity'"}},
        BadScene{"KeyframesOutOfOrder",
                 18,
                 "keyframes = [{time = 1, translate = [0, 0, 0]}, {time = 0.5, translate = [1, 0, 0]}]",
                 {"scene.toml:18", "'time' must increase"}},
        BadScene{"AKeyframeAngleWithoutAnAxis",
                 18,
                 "keyframes = [{time = 1, angle = 90}]",
                 {"scene.toml:18", "needs an axis"}},
        BadScene{"TimesThatRunBackwards",
                 18,
                 "translate = [1, 0, 0]\ntimes = [2, 1]",
                 {"scene.toml:19", "'times' in [[script]] must be two increasing numbers"}},
        BadScene{
            "AReleaseBeforeTheStart", 18, "start = 2\nrelease = 1", {"scene.toml:19", "'release'", "after 'start'"}},
        BadScene{"AnAxisThatIsNone", 13, "axes = \"xw\"", {"scene.toml:13", "'axes' in [[pin]]", "\"xw\""}},
        BadScene{"ARegionThatIsNowhere",
                 11,
                 "[body.regions.tip]\nwhere = \"x > 5\"\nyoung = 1\npoisson = 0",
                 {"scene.toml:11", "region 'tip' holds no element"}},
        BadScene{"ARegionNumberTheMeshDoesNotHave",
                 11,
                 "[body.regions.3]\nyoung = 1\npoisson = 0",
                 {"scene.toml:11", "region 3"}}),
    [](const testing::TestParamInfo<BadScene>& bad) { return bad.param.name; });

TEST(Scene, TheGoodSceneIsGood) { EXPECT_EQ(error_of(scene_with(0, "")), ""); }

TEST(Scene, NamesAnInvertedElementOfTheMeshFile) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "pliant_inverted";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "bad.mesh")
      << "MeshVersionFormatted 1\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n1 1 1 0\n"
         "Tetrahedra\n2\n1 2 3 4 0\n5 2 3 4 0\nEnd\n";
  std::ofstream(folder / "scene.toml") << scene_with(8, "mesh = \"bad.mesh\"");
  try {
    build_model(load_scene(folder / "scene.toml"));
    FAIL() << "accepted";
  } catch (const InputError& error) {
    const std::string message = error.what();
    for (const char* fragment : {"scene.toml:6", "bad.mesh", "element 1", "invert"})
      EXPECT_NE(message.find(fragment), std::string::npos) << message;
  }
}

TEST(Scene, WrongNamesOfSolverAndMaterialAreToldTogetherWithTheRest) {
  const std::string message =
      error_of(scene_with(0, ""), {{"solver.name=pod-newtn", "body.0.material=neo-hokean", "body.0.yuong=1"}, ""});
  for (const char* fragment : {"did you mean 'pod-newton'?", "did you mean 'neo-hookean'?", "did you mean 'young'?"})
    EXPECT_NE(message.find(fragment), std::string::npos) << message;
  EXPECT_EQ(message.find("quasi-newton"), std::string::npos) << "of all solvers only the one meant:\n" << message;
}

TEST(Scene, MistakesInTablesThatDoNotFitTogetherAreToldAtOnce) {
  const std::string more =
      "[[body]]\nname = \"bar\"\nmesh = \"not-there.msh\"\nyoung = 1\npoisson = 0\n"
      "[[pin]]\nbody = \"bra\"\nwhere = \"x-min\"\n"
      "[[load]]\nbody = \"bar\"\nwhere = \"x-min\"\nforce = [0, 0, 0]\nkeyframes = []\n"
      "[[collider]]\nplane = {point = [0, 0, 0], normal = [0, 0, 0]}\n"
      "[[probe]]\nspring = \"rope\"\n";
  const std::string message = error_of(scene_with(13, "nmae = \"wall\"", more), {{"solver.iteratoins=3"}, ""});
  for (const char* fragment :
       {"unknown key 'nmae' in [[pin]]", "the name 'bar' is taken", "there is no mesh file 'not-there.msh'",
        "there is no body 'bra'; did you mean 'bar'?", "the keyframes in [[load]] are empty", "'normal'",
        "there is no spring 'rope'", "'iteratoins'"})
    EXPECT_NE(message.find(fragment), std::string::npos) << "looked for: " << fragment << "\nin: " << message;
}

TEST(Scene, WithoutABodyTellsWhatElseIsWrongToo) {
  const std::string none = error_of("version = 1\n[simulation]\ndtt = 1\n");
  for (const char* fragment : {"unknown key 'dtt'", "a scene needs at least one body"})
    EXPECT_NE(none.find(fragment), std::string::npos) << none;
  const std::string empty = error_of("version = 1\nbody = []\n[simulation]\nfps = 60\nduration = 1\n");
  EXPECT_NE(empty.find("a scene needs at least one body"), std::string::npos) << empty;
  const std::string odd =
      error_of("version = 1\nbody = 3\n[simulation]\nfps = 60\nduration = 1\n[[pin]]\nwhere = \"x-min\"\n");
  EXPECT_NE(odd.find("'body'"), std::string::npos) << odd;
  EXPECT_EQ(odd.find('\n'), std::string::npos) << odd;
}

TEST(Scene, SelectionsThatHoldNothingAreToldAtOnce) {
  const std::string message =
      error_of(scene_with(14, "where = \"x < -1\"", "[[load]]\nwhere = \"y > 8\"\nforce = [0, 1, 0]\n"));
  for (const char* fragment : {"scene.toml:12: 'where' = \"x < -1\" selects no vertex", "\"y > 8\" selects no vertex"})
    EXPECT_NE(message.find(fragment), std::string::npos) << message;
}

TEST(Scene, IntegratorsAreThoseOfTheSolver) {
  const std::string good = scene_with(0, "");
  EXPECT_EQ(error_of(good, {{"simulation.integrator=implicit-midpoint"}, ""}), "");
  expect_error(good, {"the solver 'conjac' has no integrator \"implicit-midpoint\"", "pod-newton"},
               {{"simulation.integrator=implicit-midpoint"}, "conjac"});
}

TEST(Scene, WhatActsOnABodyWhereThereIsNoneIsRefused) {
  const std::string message = error_of(
      "version = 1\n[simulation]\nfps = 60\nduration = 1\n[[link]]\nbox = {centre = [0, 0, 0], size = [1, 1, 1]}\n"
      "joint = \"free\"\n[[pin]]\nwhere = \"x-min\"\n");
  EXPECT_NE(message.find("scene.toml:8: [[pin]] acts on a body, but there is none"), std::string::npos) << message;
}

TEST(Scene, ColoursThatNoPictureCanShowAreRefusedBeforeTheRun) {
  const std::string good = scene_with(0, "");
  expect_error(good, {"--set picture.colour: 'colour' in [picture]", "must be one of stretch"},
               {{"picture.colour=temperature"}, ""});
  expect_error(good, {"--set picture.colour", "add \"velocity\" to 'fields' in [output]"},
               {{"output.fields=[\"stretch\"]", "picture.colour=speed", "output.pictures=true"}, ""});
  expect_error(good, {"--set output.export_colour", "add \"von-mises\" to 'fields' in [output]"},
               {{"output.fields=[\"stretch\"]", "output.export_colour=von_mises"}, ""});
  // As `fields` writes it, too. By default bodies have their own colours where stretch is not in the frames.
  const auto colour = [&](std::vector<std::string> set) {
    return parse_scene(good, "scene", ".", {std::move(set), ""}).picture.colour;
  };
  EXPECT_EQ(colour({"picture.colour=von-mises", "output.pictures=true"}), "von_mises");
  EXPECT_EQ(colour({"output.fields=[\"velocity\"]", "output.pictures=true"}), "body");
}

TEST(Scene, AMissingFileIsNamed) {
  try {
    load_scene("no/such/scene.toml");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find("no/such/scene.toml: cannot open"), 0u) << error.what();
  }
}

TEST(Scene, ChangesFromTheCommandLineAreCheckedLikeTheFile) {
  const std::string good = scene_with(0, "");
  expect_error(good, {"--set body.0.yuong: unknown key 'yuong'", "'young'"}, {{"body.0.yuong=1"}, ""});
  expect_error(good, {"--set body.bar.poisson: 'poisson'", "below 0.5"}, {{"body.bar.poisson=0.5"}, ""});
  expect_error(good, {"--set body.ber.young", "did you mean 'bar'?"}, {{"body.ber.young=1"}, ""});
  expect_error(good, {"--set body.7.young", "no [[body]] number 7"}, {{"body.7.young=1"}, ""});
  expect_error(good, {"--set bdy.0.young: unknown key 'bdy'", "'body'"}, {{"bdy.0.young=1"}, ""});
  expect_error(good, {"--set young", "key=value"}, {{"young"}, ""});
  expect_error(good, {"--set body.0.young", "not a TOML value"}, {{"body.0.young=[1,"}, ""});
  expect_error(good, {"--set solver.tolerance: 'tolerance' of solver", "must be a number"},
               {{"solver.tolerance=soft"}, ""});
  expect_error(good, {"--solver: there is no solver 'netwon'", "newton"}, {{}, "netwon"});
}

}  // namespace
}  // namespace pliant::test
