#include "pliant/sim/fibre_field.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <cmath>
#include <sstream>

#include "pliant/base/error.hpp"
#include "pliant/base/file_content.hpp"
#include "pliant/base/nearest.hpp"

namespace pliant {

std::vector<Vec3> fibre_directions(const FibreField& field, const TetMesh& mesh) {
  if (!(field.direction.norm() > 0) || !field.direction.allFinite())
    throw InputError("a fibre direction must not be zero");
  const Vec3 axis = field.direction.normalized();
  if (field.kind == FibreField::Kind::uniform) return std::vector<Vec3>(mesh.tets().size(), axis);
  std::vector<Vec3> directions;
  directions.reserve(mesh.tets().size());
  for (const Tet& tet : mesh.tets()) {
    Vec3 offset = -field.centre;
    for (Index v : tet) offset += mesh.vertices()[static_cast<std::size_t>(v)] / 4;
    const Vec3 around = axis.cross(offset);
    const double radius = around.norm();
    directions.push_back(radius > 1e-12 * offset.norm()
                             ? Vec3(std::cos(field.pitch) / radius * around + std::sin(field.pitch) * axis)
                             : axis);
  }
  return directions;
}

std::vector<Vec3> fibre_directions(const std::string& element_field, const TetMesh& mesh) {
  const auto found = mesh.element_fields().find(element_field);
  if (found == mesh.element_fields().end()) {
    std::vector<std::string> names;
    for (const auto& [name, field] : mesh.element_fields()) names.push_back(name);
    const std::string near = nearest(element_field, names);
    throw InputError(fmt::format(
        "{} has no element field '{}'{}", mesh.source(), element_field,
        near.empty() ? (names.empty() ? "; it has none at all" : "") : fmt::format("; did you mean '{}'?", near)));
  }
  if (found->second.components != 3)
    throw InputError(fmt::format("the element field '{}' of {} has {} numbers per element; a direction needs 3",
                                 element_field, mesh.source(), found->second.components));
  std::vector<Vec3> directions(mesh.tets().size());
  for (std::size_t e = 0; e < directions.size(); ++e)
    directions[e] = Eigen::Map<const Vec3>(found->second.values.data() + 3 * e);
  return directions;
}

std::vector<Vec3> read_fibre_directions(const std::filesystem::path& file, const TetMesh& mesh) {
  const FileContent content(file);
  std::istringstream in{std::string(content.bytes())};
  std::vector<Vec3> directions;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    if (directions.size() == mesh.tets().size())
      throw InputError(fmt::format("{}:{}: more lines than the {} elements of {}", file.string(), number,
                                   mesh.tets().size(), mesh.source()));
    std::istringstream words(line);
    words.imbue(std::locale::classic());
    Vec3 direction;
    std::string rest;
    if (!(words >> direction.x() >> direction.y() >> direction.z()) || (words >> rest) || !direction.allFinite())
      throw InputError(fmt::format("{}:{}: expected three numbers, a direction", file.string(), number));
    directions.push_back(direction);
  }
  if (directions.size() != mesh.tets().size())
    throw InputError(fmt::format("{} has {} directions, but {} has {} elements", file.string(), directions.size(),
                                 mesh.source(), mesh.tets().size()));
  return directions;
}

}  // namespace pliant
