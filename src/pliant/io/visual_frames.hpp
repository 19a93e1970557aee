#pragma once

#include <filesystem>
#include <vector>

#include "pliant/mesh/formats/vtu_writer.hpp"
#include "pliant/simulation/visual_mesh.hpp"

namespace pliant {

/// visual.pvd and frames/visual_000012.vtu: the visual meshes of bodies beside the frames of their elements. The cells
/// have the number of their body as `body`, and as `region` that of their body and material, which the file names; the
/// points have `texture` (u, v, 0) where a file has given it.
class VisualFrames {
 public:
  VisualFrames(std::filesystem::path folder, const Scene& scene, const Model& model);

  /// Throws InputError where the frames that an earlier run has written are of other meshes, or there are none.
  void check_existing() const;
  /// After a cut: the meshes move with what the body is now.
  void follow(const Scene& scene, const Model& model);
  void write(std::int64_t frame, double time, const VecX& x);
  /// A frame that an earlier run has written.
  void add_existing(std::int64_t frame, double time);
  /// Writes visual.pvd with the frames so far; nothing where no body has a visual mesh.
  void write_list() const;

 private:
  std::string file_name(std::int64_t frame) const;

  std::filesystem::path folder_;
  std::string digest_;  ///< of the meshes that it began with; goes into visual.pvd
  std::vector<VisualMesh> meshes_;
  VtuPackedCells cells_;
  std::vector<Index> bodies_, regions_;
  std::vector<std::string> names_;
  std::vector<double> texture_, points_;
  std::vector<PvdFrame> list_;
};

}  // namespace pliant
