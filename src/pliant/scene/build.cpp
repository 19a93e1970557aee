#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <charconv>

#include "pliant/math/error.hpp"
#include "pliant/mesh/read_mesh.hpp"
#include "pliant/scene/scene.hpp"

namespace pliant {

namespace {

/// Runs something that throws messages without a place, and adds the place.
template <class Function>
auto at_origin(const std::string& origin, Function&& function) {
  try {
    return function();
  } catch (const InputError& error) {
    if (origin.empty()) throw;
    throw InputError(origin + ": " + error.what());
  }
}

std::shared_ptr<const TetMesh> make_mesh(const SceneMesh& source) {
  MeshData data = source.generator ? generate(*source.generator) : read_mesh_data(source.file);
  const Mat3 rotation =
      source.angle == 0 ? Mat3(Mat3::Identity()) : Eigen::AngleAxisd(source.angle, source.axis).toRotationMatrix();
  const bool turns = source.angle != 0;
  for (Vec3& p : data.vertices) {
    p = p.cwiseProduct(source.scale);
    if (turns) p = source.centre + rotation * (p - source.centre);
    p += source.translate;
  }
  return std::make_shared<const TetMesh>(std::move(data));
}

/// Elements of a region: by the mesh's number, or those whose vertices are all selected.
std::vector<std::uint8_t> elements_of(const SceneRegion& region, const TetMesh& mesh) {
  std::vector<std::uint8_t> chosen(mesh.tets().size(), 0);
  Index number = 0;
  const auto [end, error] = std::from_chars(region.name.data(), region.name.data() + region.name.size(), number);
  if (!region.where && error == std::errc{} && end == region.name.data() + region.name.size()) {
    if (mesh.regions().empty())
      throw InputError(
          fmt::format("region {} is a number, but {} has no region numbers; use 'where'", number, mesh.source()));
    for (std::size_t e = 0; e < chosen.size(); ++e) chosen[e] = mesh.regions()[e] == number;
  } else {
    const Selection named{{{NamedSet{region.name}}}, region.name};
    std::vector<std::uint8_t> inside(mesh.vertices().size(), 0);
    for (Index v : select(region.where ? *region.where : named, mesh)) inside[static_cast<std::size_t>(v)] = 1;
    for (std::size_t e = 0; e < chosen.size(); ++e) {
      const Tet& tet = mesh.tets()[e];
      chosen[e] =
          std::all_of(tet.begin(), tet.end(), [&](Index v) { return inside[static_cast<std::size_t>(v)] != 0; });
    }
  }
  if (std::none_of(chosen.begin(), chosen.end(), [](std::uint8_t c) { return c != 0; }))
    throw InputError(fmt::format("region '{}' holds no element of {}", region.name, mesh.source()));
  return chosen;
}

BodyOptions to_options(const SceneBody& body) {
  BodyOptions options;
  options.name = body.name;
  // A generator knows no place; a mesh file's messages name the file.
  options.mesh = at_origin(body.mesh.generator ? body.origin : "", [&] { return make_mesh(body.mesh); });
  options.material = {find_law(body.material), body.lame};
  options.density = body.density;
  options.order = body.order;
  options.velocity = body.velocity;
  options.angular_velocity = body.angular_velocity;
  if (!body.regions.empty()) options.lame.assign(options.mesh->tets().size(), body.lame);
  for (const SceneRegion& region : body.regions) {
    const auto chosen = at_origin(region.origin, [&] { return elements_of(region, *options.mesh); });
    for (std::size_t e = 0; e < chosen.size(); ++e)
      if (chosen[e]) options.lame[e] = region.lame;
  }
  return options;
}

std::string format(const Vec3& v) { return fmt::format("[{:.4g}, {:.4g}, {:.4g}]", v.x(), v.y(), v.z()); }

/// Global nodes of a selection of a body's vertices.
std::vector<Index> nodes_of(const Selection& where, const Body& body) {
  const std::vector<Index> vertices = select(where, *body.mesh);
  if (vertices.empty()) {
    const InBox box = bounding_box(*body.mesh);
    throw InputError(fmt::format(
        "'where' = {} selects no vertex of body '{}', which lies between {} and {} m; move or enlarge the selection",
        where.text, body.name, format(box.min), format(box.max)));
  }
  std::vector<Index> nodes = body.elements->nodes_of(vertices);
  for (Index& i : nodes) i += body.nodes.begin;
  return nodes;
}

}  // namespace

std::shared_ptr<const Model> build_model(const Scene& scene) {
  ModelBuilder builder;
  builder.set_gravity(scene.gravity);
  builder.set_mass(scene.mass);
  for (const SceneBody& body : scene.bodies) at_origin(body.origin, [&] { return builder.add_body(to_options(body)); });
  for (const ScenePin& pin : scene.pins)
    at_origin(pin.origin, [&] { builder.add_pin({pin.name, nodes_of(pin.where, builder.body(pin.body)), pin.axes}); });
  for (const SceneScript& script : scene.scripts)
    at_origin(script.origin, [&] {
      builder.add_script({script.name, nodes_of(script.where, builder.body(script.body)), script.motion,
                          script.imposition, script.sigma, script.start, script.release});
    });
  for (const SceneLoad& load : scene.loads)
    at_origin(load.origin, [&] { builder.add_load(nodes_of(load.where, builder.body(load.body)), load.force); });
  return builder.build();
}

std::unique_ptr<Stepper> make_stepper(const Scene& scene, std::shared_ptr<const Model> model) {
  return at_origin(scene.solver.origin,
                   [&] { return make_stepper(std::move(model), scene.solver.name, scene.solver.parameters); });
}

}  // namespace pliant
