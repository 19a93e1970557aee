#include "pliant/io/visual_frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pliant/base/bytes.hpp"
#include "pliant/base/error.hpp"
#include "pliant/base/file_content.hpp"
#include "pliant/mesh/formats/vtk_grid.hpp"

namespace pliant {

namespace {

std::string digest_of(const std::vector<VisualMesh>& meshes, const VecX& rest) {
  std::uint64_t hash = checksum({});
  const auto add = [&](const auto& values) {
    const auto bytes = std::as_bytes(std::span(values));
    hash = checksum({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, hash);
  };
  for (const VisualMesh& mesh : meshes) {
    std::vector<double> points(3 * at(mesh.vertices()));
    mesh.positions(rest, points);
    add(points);
    add(mesh.triangles());
    add(mesh.texture());
    add(mesh.material());
    for (const std::string& name : mesh.materials()) add(name);
  }
  return fmt::format("visual meshes {:016x}", hash);
}

}  // namespace

VisualFrames::VisualFrames(std::filesystem::path folder, const Scene& scene, const Model& model)
    : folder_(std::move(folder)) {
  follow(scene, model);
  digest_ = digest_of(meshes_, model.rest());
}

void VisualFrames::check_existing() const {
  const std::filesystem::path list = folder_ / "visual.pvd";
  const bool is_there = std::filesystem::exists(list);
  if (!is_there && meshes_.empty()) return;
  if (is_there && !meshes_.empty()) {
    const FileContent content(list);
    if (content.bytes().find(digest_) != std::string_view::npos) return;
  }
  throw InputError(fmt::format(
      "{} has frames {} visual meshes; put 'visual' of the bodies and its files back as they were, or start over with "
      "--force",
      folder_.string(), !is_there ? "without" : "of other"));
}

void VisualFrames::follow(const Scene& scene, const Model& model) {
  meshes_ = visual_meshes(scene, model);
  bodies_.clear();
  regions_.clear();
  names_.clear();
  texture_.clear();
  std::vector<Index> triangles;
  Index first = 0;
  const bool has_texture =
      std::any_of(meshes_.begin(), meshes_.end(), [](const VisualMesh& mesh) { return !mesh.texture().empty(); });
  for (const VisualMesh& mesh : meshes_) {
    const auto region = static_cast<Index>(names_.size());
    const std::string& body = scene.bodies[mesh.body()].name;
    if (mesh.materials().empty()) names_.push_back(fmt::format("{} {}", region, body));
    for (const std::string& material : mesh.materials())
      names_.push_back(fmt::format("{} {} {}", names_.size(), body, material));
    // Those of no material come after the others.
    const auto plain = static_cast<Index>(names_.size());
    bool has_plain = false;
    for (std::size_t t = 0; t < mesh.triangles().size(); ++t) {
      for (Index v : mesh.triangles()[t]) triangles.push_back(first + v);
      bodies_.push_back(static_cast<Index>(mesh.body()));
      const bool is_plain = !mesh.material().empty() && mesh.material()[t] < 0;
      has_plain = has_plain || is_plain;
      regions_.push_back(mesh.material().empty() ? region : is_plain ? plain : region + mesh.material()[t]);
    }
    if (has_plain) names_.push_back(fmt::format("{} {}", plain, body));
    first += mesh.vertices();
    if (!has_texture) continue;
    for (std::size_t v = 0; v < at(mesh.vertices()); ++v) {
      const std::array<double, 2> place = mesh.texture().empty() ? std::array<double, 2>{} : mesh.texture()[v];
      texture_.insert(texture_.end(), {place[0], place[1], 0.0});
    }
  }
  points_.resize(3 * at(first));
  const VtuCells cells[] = {{triangles, 3}};
  cells_ = VtuPackedCells(cells);
}

std::string VisualFrames::file_name(std::int64_t frame) const { return fmt::format("frames/visual_{:06}.vtu", frame); }

void VisualFrames::write(std::int64_t frame, double time, const VecX& x) {
  if (meshes_.empty()) return;
  std::size_t first = 0;
  for (const VisualMesh& mesh : meshes_) {
    mesh.positions(x, std::span(points_).subspan(first));
    first += 3 * at(mesh.vertices());
  }
  for (double& p : points_)
    if (!std::isfinite(p)) p = 0;
  const VtuField fields[] = {{"body", 1, std::span<const Index>(bodies_)},
                             {"region", 1, std::span<const Index>(regions_)}};
  const VtuField texture[] = {{"texture", 3, std::span<const double>(texture_)}};
  const VtuStrings strings[] = {{region_names_array, names_}};
  VtuGrid grid;
  grid.points = points_;
  grid.packed_cells = &cells_;
  grid.cell_fields = fields;
  if (!texture_.empty()) grid.point_fields = texture;
  grid.strings = strings;
  std::filesystem::create_directories(folder_ / "frames");
  write_vtu(folder_ / file_name(frame), grid);
  add_existing(frame, time);
}

void VisualFrames::add_existing(std::int64_t frame, double time) {
  if (!meshes_.empty()) list_.push_back({time, file_name(frame)});
}

void VisualFrames::write_list() const {
  if (!list_.empty()) write_pvd(folder_ / "visual.pvd", list_, digest_);
}

}  // namespace pliant
