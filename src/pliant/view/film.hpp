#pragma once

#include <filesystem>
#include <limits>
#include <optional>

#include "pliant/io/recorded_run.hpp"
#include "pliant/view/show.hpp"

namespace pliant::view {

/// The frames that `pliant run` has left in a folder, read one at a time as they are shown; beside them, where asked
/// for, those of another run of the same bodies at the same times.
class Film final : public Show {
 public:
  /// Throws InputError when a folder holds no result.pvd, or frames that cannot be read, and when the other run has
  /// bodies of its own.
  explicit Film(const std::filesystem::path& folder, const std::optional<std::filesystem::path>& other = {});
  /// Whether a path is a folder with a result in it.
  static bool is_result(const std::filesystem::path& path);

  Json describe() const override;
  const Surface& surface() const override { return surface_; }
  const Skin& skin() const override { return skin_; }
  std::uint32_t revision() const override { return revision_; }
  std::vector<TriangleMesh> obstacles() const override { return obstacles_; }
  int views() const override { return static_cast<int>(takes_.size()); }
  Drawing draw(int view, Colour colour) override;
  Json telemetry() override;
  Json settings() const override;
  bool advance(StepControl* control = nullptr) override;
  double step_seconds() const override;
  /// At its end it begins again.
  void play_again() override;
  void reset() override { seek(0); }

  /// Throws InputError for a frame that is not there or cannot be read; the one before is shown on.
  void seek(std::int64_t frame);
  std::int64_t frame() const { return frame_; }
  std::int64_t frames() const { return static_cast<std::int64_t>(takes_.front().run.frames().size()); }

 private:
  /// A run, and what its frame at hand shows.
  struct Take {
    RecordedRun run;
    std::string solver = "result";
    std::map<double, Json> reports = {};              ///< of steps, by the time they end at
    std::map<double, std::vector<Json>> probes = {};  ///< what probes.csv has, by time; null where a cell is empty
    VecX x = {};
    std::vector<Vec3> skin = {};                                                ///< of the vertices of visual meshes
    std::vector<double> speed = {}, stress = {}, stretch = {}, refreshed = {};  ///< at nodes, in elements
  };
  Take open(const std::filesystem::path& folder);
  void read_probes(const std::filesystem::path& file, Take& take);
  void show(const VtkGrid& grid, Take& take);
  void read(std::int64_t frame);
  void read_obstacles();
  void read_skin();
  void measure();
  void set_surface(const VtkGrid& grid, const std::string& file);
  double time() const { return takes_.front().run.frames()[at(frame_)].time; }
  Json report(const Take& take) const;
  Json poses() const;

  std::vector<Take> takes_;
  std::int64_t frame_ = -1;
  std::string trouble_;
  std::vector<std::int64_t> connectivity_;  ///< what the surface was made of
  Surface surface_;
  Skin skin_;
  std::vector<bool> rigid_cells_;           ///< of the frames' cells: which belong to rigid bodies
  std::vector<Index> skin_colours_;         ///< the vertex of the surface that each of its vertices is coloured as
  std::vector<std::int64_t> skin_points_;   ///< of the visual frames, for each vertex of the skin
  std::vector<std::string> probe_columns_;  ///< of the first run
  std::vector<Json> bodies_;
  std::vector<TriangleMesh> obstacles_;  ///< as they are at first
  std::vector<Json> obstacle_names_;
  bool obstacles_move_ = false;
  Vec3 low_ = Vec3::Constant(std::numeric_limits<double>::infinity()), high_ = -low_;
  std::uint32_t revision_ = 0;
  ColourRange range_;
};

}  // namespace pliant::view
