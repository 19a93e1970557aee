#pragma once

#include "pliant/scene/scene.hpp"

namespace pliant {

/// The mesh of a solid body, put where the scene says.
std::shared_ptr<const TetMesh> make_mesh(const SceneMesh& source);

}  // namespace pliant
