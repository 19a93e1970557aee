#pragma once

#include <memory>
#include <vector>

#include "pliant/scene/scene.hpp"

namespace pliant {

/// Vertices of a body held at given positions, besides what the scene prescribes: pins that are set while it runs.
struct Hold {
  std::size_t body = 0;
  std::vector<Index> vertices;  ///< the body's own, ascending
  std::vector<Vec3> positions;  ///< m, of the nodes they hold (Body::nodes_of)
};

/// A scene and its model, which simulations under several solvers share.
struct BuiltScene {
  Scene scene;
  std::vector<Hold> holds;
  std::shared_ptr<const Model> model;  ///< its last scripts are the holds
};

/// Throws InputError as build_model does, and for holds of another mesh.
BuiltScene build_scene(Scene scene, std::vector<Hold> holds = {});

/// A scene in which a body has been cut.
struct CutScene {
  BuiltScene built;
  std::vector<Index> origin;  ///< for each node, the one of the model before that it was or is a copy of
};

/// Cuts a body of a scene: its mesh, selections, holds and model. What belongs to a solver or a state follows in
/// Simulation::after_cut. Throws InputError as cut_scene does; nothing has changed then.
CutScene make_cut(const BuiltScene& before, const SceneCut& cut, std::span<const Vec3> where = {});

/// Whether a cut is to be made before a step that begins at `time`.
bool is_due(const SceneCut& cut, double time, double dt);

}  // namespace pliant
