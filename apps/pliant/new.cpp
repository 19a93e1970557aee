#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "commands.hpp"
#include "pliant/base/atomic_file.hpp"
#include "pliant/base/error.hpp"
#include "pliant/contact/aabb.hpp"
#include "pliant/scene/scene.hpp"

namespace pliant::app {

namespace {

struct NewArguments {
  std::string name, mesh, material = "neo-hookean", solver = "pod-newton";
  double young = 1e5;
  bool drop = false;
  double floor = 0;  ///< height of the one it drops on, m
};

/// A scene to be read from top to bottom: every line says what it is for.
std::string scene_text(const NewArguments& a, const std::string& stem) {
  std::string text = fmt::format(
      "# Check with `pliant check {0}.toml`, run with `pliant run {0}.toml`, watch with `pliant view {0}.toml`.\n"
      "# Every key is described by `pliant docs scene`. Units are SI: m, kg, s, N, Pa.\n"
      "version = 1\n"
      "title = \"\"                     # one sentence on what it shows\n\n"
      "[simulation]\n"
      "fps = 60                       # steps per second; or dt = 0.01\n"
      "duration = 2.0                 # s\n"
      "gravity = [0, -9.81, 0]        # m/s^2\n\n"
      "[[body]]\n"
      "name = \"body\"\n",
      stem);
  text += a.mesh.empty() ? "box = {size = [2, 0.5, 0.5], cells = [16, 4, 4]}   # or mesh = \"file.msh\"; also sphere, "
                           "cylinder, cloth, ...\n"
                         : fmt::format("mesh = \"{}\"\n#scale = 1.0                   # to metres\n", a.mesh);
  text += fmt::format(
      "material = \"{}\"{}# `pliant materials` lists them\n"
      "young = {:<23g}# Pa: 1e4 jelly, 1e6 rubber, 1e9 plastic\n"
      "poisson = 0.4                  # 0.5 keeps volume\n"
      "density = 1000                 # kg/m^3\n",
      a.material, std::string(a.material.size() < 17 ? 19 - a.material.size() : 1, ' '), a.young);
  text += a.drop ? "#translate = [0, 1, 0]         # m\n\n"
                   "[[collider]]                   # the body lands on it\n"
                   "name = \"floor\"\n"
                   "plane = {point = [0, " +
                       fmt::format("{:.3g}", a.floor) +
                       ", 0], normal = [0, 1, 0]}\n"
                       "friction = 0.5\n\n"
                 : "\n[[pin]]                        # vertices that are held\n"
                   "where = \"x-min\"                # or a box, sphere, plane or named set\n\n";
  text += fmt::format(
      "#[contact]                     # lets bodies touch each other and themselves\n\n"
      "[solver]\n"
      "name = \"{}\"{}# `pliant solvers` lists them\n\n"
      "[output]\n"
      "every = 1                      # steps from frame to frame\n"
      "#export = [\"glb\"]              # for Blender and browsers, when the run ends\n",
      a.solver, std::string(a.solver.size() < 21 ? 23 - a.solver.size() : 1, ' '));
  return text;
}

/// Half of the body's largest extent below it, rounded down to two digits.
double floor_below(NewArguments a, const std::filesystem::path& folder) {
  a.drop = false;
  const auto model = build_model(parse_scene(scene_text(a, "new"), "new", folder));
  Aabb box;
  for (Index i = 0; i < model->nodes(); ++i) box.include(node(model->rest(), i));
  const double extent = (box.max - box.min).maxCoeff();
  const double digit = std::pow(10, std::floor(std::log10(extent)) - 1);
  constexpr double kLongestFall = 2;  // m, so that it lands well before the two seconds are over
  return digit * std::floor((box.min.y() - std::min(0.5 * extent, kLongestFall)) / digit);
}

}  // namespace

void add_new(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<NewArguments>();
  CLI::App* command = app.add_subcommand("new", "Write a scene to begin with, commented");
  command->add_option("NAME", arguments->name, "Its file will be NAME.toml")->check(not_empty())->required();
  command->add_option("--mesh", arguments->mesh, "A file with tetrahedra, in place of a box")->type_name("FILE");
  command->add_option("--material", arguments->material, "A material law")->type_name("NAME")->capture_default_str();
  command->add_option("--young", arguments->young, "Young's modulus, Pa")->check(above_zero())->capture_default_str();
  command->add_option("--solver", arguments->solver, "A solver")->type_name("NAME")->capture_default_str();
  command->add_flag("--drop", arguments->drop, "Dropped on a floor, in place of held at one end");
  command->callback([arguments, &exit_code] {
    std::filesystem::path file = arguments->name;
    if (file.extension() != ".toml") file += ".toml";
    if (std::filesystem::exists(file))
      throw InputError(fmt::format("{} is there already; choose another name", file.string()));
    const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    if (!arguments->mesh.empty() && !std::filesystem::exists(arguments->mesh))
      throw InputError(fmt::format("there is no file '{}'", arguments->mesh));
    // The command line names the mesh from where it is typed, the scene from where it lies.
    std::filesystem::create_directories(folder);  // or else "../mesh" leads nowhere
    if (!arguments->mesh.empty())
      arguments->mesh = std::filesystem::proximate(arguments->mesh, std::filesystem::absolute(folder)).string();
    if (arguments->drop) arguments->floor = floor_below(*arguments, folder);
    const std::string text = scene_text(*arguments, file.stem().string());
    build_model(parse_scene(text, file.stem().string(), folder));  // what it writes also runs
    write_atomically(file, text);
    fmt::print("{0}\n  look at it    pliant view {0}\n  run it        pliant run {0}\n", file.string());
    exit_code = kSuccess;
  });
}

}  // namespace pliant::app
