#include "pliant/io/collider_frames.hpp"

#include <fmt/format.h>

#include "pliant/mesh/formats/vtk_grid.hpp"

namespace pliant {

ColliderFrames::ColliderFrames(std::filesystem::path folder, const Scene& scene, const Model& model)
    : folder_(std::move(folder)), shells_(obstacle_shells(scene, model)) {
  Index first = 0;
  for (std::size_t s = 0; s < shells_.size(); ++s) {
    const ObstacleShell& shell = shells_[s];
    for (const Triangle& t : shell.mesh.triangles) {
      for (Index i : t) triangles_.push_back(first + i);
      regions_.push_back(static_cast<Index>(s));
    }
    names_.push_back(fmt::format("{} {}", s, shell.name));
    first += static_cast<Index>(shell.mesh.vertices.size());
    moves_ = moves_ || !shell.motion.translation.keys.empty() || !shell.motion.angle.keys.empty();
  }
}

std::string ColliderFrames::file_name(std::int64_t frame) const {
  return fmt::format("frames/colliders_{:06}.vtu", moves_ ? frame : 0);
}

void ColliderFrames::write(std::int64_t frame, double time) {
  if (shells_.empty()) return;
  if (moves_ || list_.empty()) {
    std::vector<double> points;
    for (const ObstacleShell& shell : shells_)
      for (const Vec3& p : shell.positions_at(time)) points.insert(points.end(), {p.x(), p.y(), p.z()});
    const VtuCells cells[] = {{triangles_, 3}};
    const VtuField regions[] = {{"region", 1, std::span<const Index>(regions_)}};
    const VtuStrings strings[] = {{region_names_array, names_}};
    write_vtu(folder_ / file_name(frame),
              {.points = points, .cells = cells, .cell_fields = regions, .strings = strings});
  }
  add_existing(frame, time);
}

void ColliderFrames::add_existing(std::int64_t frame, double time) {
  if (!shells_.empty()) list_.push_back({time, file_name(frame)});
}

void ColliderFrames::write_list() const {
  if (!list_.empty()) write_pvd(folder_ / "colliders.pvd", list_);
}

}  // namespace pliant
