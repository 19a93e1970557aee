#include "experiments/quasi_newton/scenes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/read_mesh.hpp"

namespace pliant::experiments {

namespace {

Index cells(double full, double scale) { return std::max<Index>(4, static_cast<Index>(std::lround(full * scale))); }

MeshData stand_in(const Table1Scene& scene, double scale) {
  if (scene.name == "thin sheet") {
    BoxOptions options;
    options.size = {1, 0.03, 1};
    options.cells = {cells(17, scale), 1, cells(17, scale)};
    return box(options);
  }
  if (scene.name == "sphere") {
    SphereOptions options;
    options.cells = cells(10, scale);
    return sphere(options);
  }
  if (scene.name == "twisting bar" || scene.name == "shaking bar") {
    const bool large = scene.name == "twisting bar";
    BoxOptions options;
    options.size = {2, 0.5, 0.5};
    options.cells = {cells(large ? 52 : 28, scale), cells(large ? 7 : 4, scale), cells(large ? 7 : 4, scale)};
    return box(options);
  }
  CylinderOptions options;  // a body of about the right size in place of a figure
  options.length = 1;
  options.cells = cells(std::cbrt(scene.published_vertices) * 1.1, scale);
  return cylinder(options);
}

void bring_to_size(MeshData& data, double extent) {
  Vec3 low = data.vertices.front(), high = low;
  for (const Vec3& p : data.vertices) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  const double size = (high - low).maxCoeff();
  for (Vec3& p : data.vertices) p = (p - 0.5 * (low + high)) * (extent / size);
}

std::shared_ptr<const Model> cloth_model(const Table1Scene& scene, double scale) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  const Index n = cells(80, scale);
  body.network = std::make_shared<SpringNetwork>(cloth({.size = {1, 1}, .cells = {n, n}}));
  body.springs = {scene.mu, scene.mu / 2, scene.mu / 20};
  body.density = 0.2;
  builder.add_body(body);
  builder.add_pin({"corners", {0, n}});
  return builder.build();
}

}  // namespace

std::vector<Index> end_of(const TetMesh& mesh, int axis, bool upper) {
  double low = 1e300, high = -1e300;
  for (const Vec3& p : mesh.vertices()) {
    low = std::min(low, p[axis]);
    high = std::max(high, p[axis]);
  }
  const double limit = upper ? high - 0.05 * (high - low) : low + 0.05 * (high - low);
  std::vector<Index> vertices;
  for (std::size_t i = 0; i < mesh.vertices().size(); ++i)
    if (upper ? mesh.vertices()[i][axis] >= limit : mesh.vertices()[i][axis] <= limit)
      vertices.push_back(static_cast<Index>(i));
  return vertices;
}

int longest_axis(const TetMesh& mesh) {
  Vec3 low = mesh.vertices()[0], high = low;
  for (const Vec3& p : mesh.vertices()) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  int axis = 0;
  (high - low).maxCoeff(&axis);
  return axis;
}

const std::vector<Table1Scene>& table1_scenes() {
  static const std::vector<Table1Scene> scenes = {
      {"thin sheet", "thin_sheet.mesh", "polynomial", 5, 2e5, 0, 660, 4.4, 2.7e-8, 184, 8.8e-4},
      {"sphere", "sphere.mesh", "spline-a", 2, 4e4, 1.6e5, 889, 21.2, 2.7e-7, 188, 6.9e-4},
      {"sphere", "sphere.mesh", "spline-b", 2, 4e4, 1.6e5, 889, 19.7, 6.9e-6, 187, 2.5e-4},
      {"shaking bar", "longbar.mesh", "linear-corotated", 40, 1.6e6, 4e6, 574, 7.2, 1.6e-4, 171, 4.4e-3},
      {"ditto", "ditto.mesh", "neo-hookean", 10, 2e5, 8e5, 1454, 17.8, 3e-5, 305, 1.6e-3},
      {"hippo", "hippo.mesh", "linear-corotated", 1.7, 3.4e4, 1.7e5, 2387, 40.6, 2.2e-3, 640, 3.7e-2},
      {"twisting bar", "longbar2.mesh", "neo-hookean", 40, 1.6e6, 4e6, 3472, 45.6, 9.4e-5, 681, 7.9e-3},
      {"cloth", "", "springs", 1, 12, 0, 6561, 42.3, 9.3e-4, 798, 1.2e-2},
      {"squirrel", "squirrel_modified.mesh", "polynomial", 10, 4e4, 0, 8395, 153, 8.3e-8, 2400, 9.1e-6},
  };
  return scenes;
}

const Table1Scene& table1_scene(const std::string& name) {
  const auto& scenes = table1_scenes();
  return *std::find_if(scenes.begin(), scenes.end(), [&](const auto& scene) { return scene.name == name; });
}

std::shared_ptr<const TetMesh> table1_mesh(const Table1Scene& scene, const std::string& folder, double scale) {
  MeshData data = folder.empty() ? stand_in(scene, scale) : read_mesh_data(folder + "/" + scene.mesh_file);
  bring_to_size(data, scene.size);
  return std::make_shared<TetMesh>(std::move(data));
}

std::shared_ptr<const Model> table1_model(const Table1Scene& scene, const std::string& folder, double scale) {
  if (scene.mesh_file.empty()) return cloth_model(scene, scale);
  const auto mesh = table1_mesh(scene, folder, scale);
  ModelBuilder builder;
  builder.set_gravity({0, scene.name == "squirrel" ? 0 : -9.81, 0});
  BodyOptions body;
  body.mesh = mesh;
  body.material = {find_law(scene.law), {scene.mu, scene.lambda}};
  builder.add_body(body);
  const int axis = longest_axis(*mesh);
  const auto moved = [&](bool upper) {
    Script end{"moved", end_of(*mesh, axis, upper), {}, Imposition::direct};
    end.motion.axis = Vec3::Unit(axis);
    return end;
  };
  if (scene.name == "squirrel") {  // fig. 2: its foot moves to and fro, gently
    Script foot = moved(false);
    for (int k = 0; k <= 60; ++k) {
      const double t = k / 30.0;
      foot.motion.translation.keys.push_back(
          {t, Vec3(0.02 * scene.size * (1 - std::cos(2 * std::numbers::pi * t)), 0, 0)});
    }
    builder.add_script(foot);
    return builder.build();
  }
  builder.add_pin({"held", end_of(*mesh, axis, false)});
  if (scene.name == "twisting bar") {
    Script end = moved(true);
    end.motion.angle.keys = {{0, 0.0}, {2, 2 * std::numbers::pi}};  // one full twist over 60 frames
    builder.add_script(end);
  }
  if (scene.name == "shaking bar") {
    Script end = moved(true);
    for (int k = 0; k <= 20; ++k) {
      const double side = k % 4 == 1 ? 0.1 : k % 4 == 3 ? -0.1 : 0;
      end.motion.translation.keys.push_back({0.1 * k, Vec3(0, side * scene.size, 0)});
    }
    builder.add_script(end);
  }
  return builder.build();
}

}  // namespace pliant::experiments
