#include <fmt/format.h>

#include <algorithm>

#include "pliant/base/error.hpp"
#include "pliant/scene/scene.hpp"

namespace pliant {

namespace {

/// Vertices that a selection names by number, with their copies.
void follow(Selection& selection, const std::vector<Index>& origin, std::size_t before) {
  for (auto& tests : selection.any)
    for (SelectionTest& test : tests) {
      auto* list = std::get_if<VertexList>(&test);
      if (!list) continue;
      const std::vector<Index> named = list->vertices;
      for (std::size_t v = before; v < origin.size(); ++v)
        if (std::find(named.begin(), named.end(), origin[v]) != named.end())
          list->vertices.push_back(static_cast<Index>(v));
    }
}

}  // namespace

Scene cut_scene(const Scene& scene, const Model& model, const SceneCut& cut, std::vector<Index>& origin,
                std::span<const Vec3> where) {
  const Body& body = model.bodies()[cut.body];
  const auto fail = [&](const std::string& what) {
    throw InputError(fmt::format("{}cut '{}': {}", cut.origin.empty() ? "" : cut.origin + ": ", cut.name, what));
  };
  if (body.rigid) fail(fmt::format("body '{}' is rigid, and only soft solids can be cut", body.name));
  if (!body.is_solid()) fail(fmt::format("body '{}' is no solid, and only solids can be cut", body.name));
  if (!scene.energies.empty())
    fail("energies from code name nodes by number, which a cut changes; leave out one or the other");
  for (const SceneScript& script : scene.scripts)
    if (script.driven && script.body == cut.body)
      fail(fmt::format("script '{}' drives vertices of the same body from code, one by one", script.name));
  CutMesh result;
  try {
    result = cut_mesh(*body.mesh, cut.surface, where);
  } catch (const InputError& error) {
    fail(error.what());
  }
  if (result.faces == 0) {
    const InBox box = bounding_box(where.empty() ? body.vertices() : where);
    fail(
        fmt::format("it passes between no two elements of body '{}', which {} lies between [{:.4g}, {:.4g}, "
                    "{:.4g}] and [{:.4g}, {:.4g}, {:.4g}] m; move or enlarge it",
                    body.name, where.empty() ? "at rest" : "now", box.min.x(), box.min.y(), box.min.z(), box.max.x(),
                    box.max.y(), box.max.z()));
  }
  origin = std::move(result.origin);
  Scene after = scene;
  after.bodies[cut.body].mesh = {};
  after.bodies[cut.body].mesh.given = std::make_shared<const TetMesh>(std::move(result.mesh));
  const std::size_t before = body.mesh->vertices().size();
  for (ScenePin& pin : after.pins)
    if (pin.body == cut.body) follow(pin.where, origin, before);
  for (SceneScript& script : after.scripts)
    if (script.body == cut.body) follow(script.where, origin, before);
  for (SceneLoad& load : after.loads)
    if (load.body == cut.body) follow(load.where, origin, before);
  for (SceneProbe& probe : after.probes)
    if (probe.body == cut.body) follow(probe.where, origin, before);
  for (SceneAttachment& attachment : after.attachments)
    if (attachment.body == cut.body) follow(attachment.where, origin, before);
  for (SceneRegion& region : after.bodies[cut.body].regions)
    if (region.where) follow(*region.where, origin, before);
  return after;
}

}  // namespace pliant
