#pragma once

#include <filesystem>

#include "pliant/view/show.hpp"

namespace pliant::view {

/// The frames that `pliant run` has left in a folder, read one at a time as they are shown.
class Film final : public Show {
 public:
  /// Throws InputError when the folder holds no result.pvd, or frames that cannot be read.
  explicit Film(std::filesystem::path folder);
  /// Whether a path is a folder with a result in it.
  static bool is_result(const std::filesystem::path& path);

  Json describe() const override;
  const Surface& surface() const override { return surface_; }
  std::uint32_t revision() const override { return revision_; }
  std::vector<TriangleMesh> obstacles() const override { return {}; }
  int views() const override { return 1; }
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
  std::int64_t frames() const { return static_cast<std::int64_t>(list_.size()); }

 private:
  struct Entry {
    double time = 0;
    std::string file;
  };
  void read(std::int64_t frame);
  void read_reports();

  std::filesystem::path folder_;
  std::string name_, title_;
  std::vector<Entry> list_;
  std::int64_t frame_ = -1;
  std::string trouble_;
  // The frame at hand:
  VecX x_;
  std::vector<double> speed_, stress_, stretch_, refreshed_;  ///< at nodes, in elements
  std::vector<std::int64_t> connectivity_;                    ///< what the surface was made of
  Surface surface_;
  std::vector<Json> bodies_;
  std::uint32_t revision_ = 0;
  ColourRange range_;
  std::map<double, Json> reports_;  ///< of steps, by the time they end at
};

}  // namespace pliant::view
