#include "experiments/meshes.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "pliant/base/error.hpp"
#include "pliant/mesh/read_mesh.hpp"

namespace pliant::experiments {

Option meshes_option(const std::string& which) {
  return {"meshes", "", "", fmt::format("folder with {}; empty: generated bodies where the claims allow them", which)};
}

std::optional<MeshData> find_mesh(const Context& context, const std::string& name) {
  const std::string& folder = context.text("meshes");
  if (folder.empty()) return std::nullopt;
  for (const char* ending : {"", ".mesh", ".msh", ".vtk", ".vtu", ".node"})
    if (const auto path = std::filesystem::path(folder) / (name + ending); std::filesystem::is_regular_file(path))
      return read_mesh_data(path);
  throw InputError(fmt::format("option 'meshes': folder '{}' has no mesh '{}'", folder, name));
}

bool has_meshes(Context& context, const std::vector<std::string>& claims) {
  if (!context.text("meshes").empty()) return true;
  for (const std::string& id : claims)
    context.decide(Decision(id).leave_undecided("a folder of meshes is given (--option meshes=FOLDER)"));
  return false;
}

}  // namespace pliant::experiments
