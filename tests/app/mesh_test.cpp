#include <nlohmann/json.hpp>

#include "app/program.hpp"

namespace pliant::test {
namespace {

using Json = nlohmann::ordered_json;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(MeshCommand, GeneratesInfoAndConverts) {
  const auto folder = fresh_folder("mesh");
  const std::string vtu = (folder / "ring.vtu").string();
  const std::string msh = (folder / "ring.msh").string();
  const Ended made =
      run(folder, {"mesh", "generate", "torus", vtu, "--radius", "1", "--ring-radius", "0.25", "--axis", "y"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(contains(made.out, "tetrahedra (VTK XML, compressed)")) << made.out;
  EXPECT_EQ(run(folder, {"mesh", "convert", vtu, msh, "--format", "gmsh22-binary"}).code, 0);

  const Ended first = run(folder, {"mesh", "info", vtu, "--json"});
  const Ended second = run(folder, {"mesh", "info", msh, "--json"});
  const Json a = Json::parse(first.out);
  const Json b = Json::parse(second.out);
  EXPECT_EQ(a["volume_m3"], b["volume_m3"]);  // to the last bit
  EXPECT_EQ(a["mean_ratio_histogram"], b["mean_ratio_histogram"]);
  EXPECT_EQ(a["sets"], b["sets"]);
  EXPECT_NEAR(a["volume_m3"].get<double>(), 1.2337, 0.06);

  const Ended text = run(folder, {"mesh", "info", msh});
  EXPECT_EQ(text.code, 0);
  for (const char* part : {"tetrahedra", "bounds", "m^3", "dihedral", "0.9 to 1.0", "#", "worst", "element", "y-max"}) {
    EXPECT_TRUE(contains(text.out, part)) << part << "\n" << text.out;
  }
}

TEST(MeshCommand, SaysWhatAFormatCannotCarry) {
  const auto folder = fresh_folder("mesh_loss");
  const Ended made =
      run(folder, {"mesh", "generate", "box", (folder / "a.mesh").string(), "--size", "2,1,1", "--cells", "[4, 2, 2]"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(contains(made.err, "medit files carry no vertex sets: 7 left out")) << made.err;
}

TEST(MeshCommand, WritesAndDescribesTheSurface) {
  const auto folder = fresh_folder("mesh_surface");
  const std::string obj = (folder / "ball.obj").string();
  EXPECT_EQ(run(folder, {"mesh", "generate", "sphere", obj, "--cells", "6"}).code, 0);
  const Ended info = run(folder, {"mesh", "info", obj});
  EXPECT_TRUE(contains(info.out, "closed      yes; it encloses 0.4")) << info.out;
  EXPECT_EQ(run(folder, {"mesh", "convert", obj, (folder / "ball.stl").string()}).code, 0);
  EXPECT_EQ(Json::parse(run(folder, {"mesh", "info", (folder / "ball.stl").string(), "--json"}).out)["closed"], true);
}

TEST(MeshCommand, NamesWhatIsWrong) {
  const auto folder = fresh_folder("mesh_wrong");
  const auto error = [&](std::vector<std::string> arguments) {
    const Ended ended = run(folder, std::move(arguments));
    EXPECT_EQ(ended.code, 2);
    return ended.err;
  };
  EXPECT_TRUE(contains(error({"mesh", "info", "no.mesh"}), "no.mesh: no such file"));
  EXPECT_TRUE(contains(error({"mesh", "generate", "sphere", "a.vtu", "--cells", "2"}),
                       "--cells: 'cells' of sphere must be a whole number from 4"));
  EXPECT_TRUE(
      contains(error({"mesh", "generate", "box", "a.vtu", "--cells", "2,2,2"}), "the key 'size' is missing of box"));
  EXPECT_TRUE(contains(error({"mesh", "generate", "sphere", "a.xyz"}), "no format has the ending '.xyz'"));
  EXPECT_TRUE(contains(error({"mesh", "generate", "sphere", "a.vtu", "--format", "gmsh4"}), "did you mean 'gmsh41'?"));
  std::ofstream(folder / "open.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  EXPECT_TRUE(contains(error({"mesh", "tetrahedralise", (folder / "open.obj").string(), "a.vtu"}),
                       "the surface cannot be filled: 3 edges belong to one triangle only"));
  EXPECT_TRUE(
      contains(error({"mesh", "convert", (folder / "open.obj").string(), "a.vtu"}), "no format has the ending"));
}

}  // namespace
}  // namespace pliant::test
