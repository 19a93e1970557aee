#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "pliant/mesh/tet_mesh.hpp"
#include "pliant/mesh/triangle_mesh.hpp"

namespace pliant::app {

/// What `pliant mesh info` says, for people and for programs.
std::string describe_mesh(const TetMesh& mesh);
std::string describe_surface(const TriangleMesh& mesh);
nlohmann::ordered_json mesh_to_json(const TetMesh& mesh);
nlohmann::ordered_json surface_to_json(const TriangleMesh& mesh);

}  // namespace pliant::app
