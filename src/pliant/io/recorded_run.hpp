#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pliant/energies/tie_energy.hpp"
#include "pliant/mesh/formats/vtk_grid.hpp"
#include "pliant/scene/scene.hpp"

namespace pliant {

/// The folder that a run has left, as far as it can be read without its scene: frames and colliders over time, and what
/// summary.json says of it. Also of a run that was killed or is still going on, up to the last list of its frames.
class RecordedRun {
 public:
  struct Frame {
    double time = 0;             ///< s
    std::filesystem::path file;  ///< where it is
  };

  /// Throws InputError where the folder is not one of a run.
  explicit RecordedRun(std::filesystem::path folder);

  const std::filesystem::path& folder() const { return folder_; }
  const std::vector<Frame>& frames() const { return frames_; }
  /// Empty where the scene has no colliders.
  const std::vector<Frame>& colliders() const { return colliders_; }
  /// Visual meshes; empty where no body has one.
  const std::vector<Frame>& visual() const { return visual_; }
  const std::string& name() const { return name_; }
  const std::string& title() const { return title_; }
  /// Against gravity, unit; +y where there is none.
  const Vec3& up() const { return up_; }
  /// As the scene has it.
  const ScenePicture& picture() const { return picture_; }
  /// Their nodes, weights, offsets and lengths: what Tie::ends needs.
  const std::vector<Tie>& springs() const { return springs_; }
  /// "body 3" where no summary gives its name.
  std::string body_name(std::size_t body) const;
  bool is_rigid(std::size_t body) const { return body < rigid_.size() && rigid_[body]; }
  bool is_rod(std::size_t body) const { return body < rods_.size() && rods_[body]; }

  /// Reads a frame of bodies or colliders; every cell names points that are there. Throws InputError.
  static VtkGrid read(const Frame& frame);

 private:
  std::filesystem::path folder_;
  std::vector<Frame> frames_, colliders_, visual_;
  std::string name_, title_;
  std::vector<std::string> bodies_;
  std::vector<bool> rigid_, rods_;
  std::vector<Tie> springs_;
  Vec3 up_ = Vec3::UnitY();
  ScenePicture picture_;
};

/// The array of this name, or null.
const VtkArray* find_array(const std::vector<VtkArray>& arrays, std::string_view name);
/// Its numbers; none where it is null.
std::vector<double> numbers_of(const VtkArray* array);
/// What a grid calls a region.
std::string region_name(const VtkGrid& grid, std::size_t region, const std::string& fallback);

}  // namespace pliant
