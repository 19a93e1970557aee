#pragma once

#include <optional>
#include <string>

#include "experiments/experiment.hpp"
#include "pliant/mesh/tet_mesh.hpp"

namespace pliant::experiments {

/// The option by which experiments find real meshes: `--option meshes=FOLDER`.
Option meshes_option(const std::string& which);
/// Mesh `name` ("bunny", or a file name) of that folder; nothing when no folder was given, and then a generated body
/// may take its place where the claim's text allows one. Throws InputError when the folder has no such mesh.
std::optional<MeshData> find_mesh(const Context& context, const std::string& name);
/// For claims that only real meshes decide: true when there is a folder of meshes; otherwise leaves these undecided,
/// with that reason.
bool has_meshes(Context& context, const std::vector<std::string>& claims);

}  // namespace pliant::experiments
