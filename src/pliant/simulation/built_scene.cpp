#include "pliant/simulation/built_scene.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pliant/base/error.hpp"
#include "pliant/simulation/carry_over.hpp"

namespace pliant {

namespace {

/// Building a model puts driven nodes to rest; this keeps them where they are driven, whatever happens meanwhile.
class KeepDriven {
 public:
  explicit KeepDriven(const Scene& scene) {
    for (const SceneScript& script : scene.scripts)
      if (script.driven) kept_.emplace_back(script.driven, script.driven->positions);
  }
  ~KeepDriven() {
    for (auto& [driven, positions] : kept_) driven->positions = std::move(positions);
  }
  KeepDriven(const KeepDriven&) = delete;
  KeepDriven& operator=(const KeepDriven&) = delete;

 private:
  std::vector<std::pair<std::shared_ptr<DrivenPositions>, std::vector<Vec3>>> kept_;
};

SceneScript script_of(const Hold& hold, std::size_t number) {
  SceneScript script;
  script.name = fmt::format("hold {}", number + 1);
  script.body = hold.body;
  script.where = {{{VertexList{hold.vertices, VertexNumbering::mesh}}}, script.name};
  script.driven = std::make_shared<DrivenPositions>();
  script.imposition = Imposition::direct;
  return script;
}

/// The holds after a cut, with the copies of their vertices where these are held; positions are those of before.
std::vector<Hold> with_copies(std::vector<Hold> holds, const SceneCut& cut, const std::vector<Index>& origin,
                              std::size_t vertices_before) {
  for (Hold& hold : holds) {
    if (hold.body != cut.body) continue;
    const std::vector<Index> named = hold.vertices;
    for (std::size_t v = vertices_before; v < origin.size(); ++v)
      if (std::binary_search(named.begin(), named.end(), origin[v])) hold.vertices.push_back(static_cast<Index>(v));
  }
  return holds;
}

/// The model of a scene with holds, their nodes at rest.
std::shared_ptr<const Model> build(const Scene& scene, const std::vector<Hold>& holds,
                                   std::vector<std::shared_ptr<DrivenPositions>>& driven) {
  if (holds.empty()) return build_model(scene);
  Scene whole = scene;
  for (std::size_t k = 0; k < holds.size(); ++k) {
    whole.scripts.push_back(script_of(holds[k], k));
    driven.push_back(whole.scripts.back().driven);
  }
  return build_model(whole);
}

}  // namespace

BuiltScene build_scene(Scene scene, std::vector<Hold> holds) {
  std::vector<std::shared_ptr<DrivenPositions>> driven;
  BuiltScene built{std::move(scene), std::move(holds), nullptr};
  built.model = build(built.scene, built.holds, driven);
  for (std::size_t k = 0; k < driven.size(); ++k) {
    const std::vector<Vec3>& positions = built.holds[k].positions;
    if (positions.size() != driven[k]->positions.size())
      throw InputError(fmt::format("hold {} has {} positions for {} nodes; it belongs to another mesh", k + 1,
                                   positions.size(), driven[k]->positions.size()));
    driven[k]->positions = positions;
  }
  return built;
}

CutScene make_cut(const BuiltScene& before, const SceneCut& cut, std::span<const Vec3> where) {
  std::vector<Index> vertices;
  std::vector<std::shared_ptr<DrivenPositions>> driven;
  CutScene after;
  after.built.scene = cut_scene(before.scene, *before.model, cut, vertices, where);
  after.built.holds = with_copies(before.holds, cut, vertices, before.model->bodies()[cut.body].vertices().size());
  const KeepDriven keep(before.scene);
  after.built.model = build(after.built.scene, after.built.holds, driven);
  after.origin = node_origins(*before.model, *after.built.model, cut.body);
  const std::size_t scripts = before.scene.scripts.size();
  for (std::size_t k = 0; k < driven.size(); ++k) {
    // A node is held where all vertices it lies between are, so that what is held now is a copy of what was.
    const std::vector<Index>& nodes_before = before.model->scripts()[scripts + k].nodes;
    std::vector<Vec3>& positions = after.built.holds[k].positions;
    positions.clear();
    for (Index i : after.built.model->scripts()[scripts + k].nodes) {
      const auto same = std::find(nodes_before.begin(), nodes_before.end(), after.origin[static_cast<std::size_t>(i)]);
      positions.push_back(before.holds[k].positions[static_cast<std::size_t>(same - nodes_before.begin())]);
    }
    driven[k]->positions = positions;
  }
  return after;
}

bool is_due(const SceneCut& cut, double time, double dt) { return time >= cut.time - 1e-6 * dt; }

}  // namespace pliant
