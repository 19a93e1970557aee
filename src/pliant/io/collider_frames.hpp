#pragma once

#include <filesystem>
#include <vector>

#include "pliant/io/obstacles.hpp"
#include "pliant/mesh/formats/vtu_writer.hpp"

namespace pliant {

/// colliders.pvd and frames/colliders_000012.vtu: the scene's colliders as triangles beside the frames of the bodies,
/// for ParaView and for whatever else reads a finished run. Colliders that stand still are written once. The cells have
/// the collider's number as `region`, and the file its name.
class ColliderFrames {
 public:
  ColliderFrames(std::filesystem::path folder, const Scene& scene, const Model& model);

  void write(std::int64_t frame, double time);
  /// A frame that an earlier run has written.
  void add_existing(std::int64_t frame, double time);
  /// Writes colliders.pvd with the frames so far; nothing where there are no colliders.
  void write_list() const;

 private:
  std::string file_name(std::int64_t frame) const;

  std::filesystem::path folder_;
  std::vector<ObstacleShell> shells_;
  std::vector<Index> triangles_, regions_;
  std::vector<std::string> names_;
  bool moves_ = false;
  std::vector<PvdFrame> list_;
};

}  // namespace pliant
