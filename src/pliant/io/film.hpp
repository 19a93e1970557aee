#pragma once

#include <filesystem>
#include <vector>

#include "pliant/io/checkpoint.hpp"

namespace pliant {

/// A few moments of a run, kept to be drawn at its end.
class Film {
 public:
  static constexpr int kPictures = 6;

  /// A run of `steps` steps.
  explicit Film(std::int64_t steps) : steps_(steps) {}
  /// Keeps the state when it is one of the moments, evenly spread over the run.
  void visit(const State& state);
  /// Gives the frames so far the nodes of a model that was cut: node i where node origin[i] was.
  void renumber(std::span<const Index> origin);
  const std::vector<FilmFrame>& frames() const { return frames_; }
  void restore(std::vector<FilmFrame> frames) { frames_ = std::move(frames); }

 private:
  std::int64_t steps_;
  std::vector<FilmFrame> frames_;
};

/// Draws `picture.png`, the last state, and `film.png`, the moments kept, into the folder. Colours show the largest
/// stretch, obstacles are of glass and floors the ground; the camera looks from slightly above, up being against
/// gravity.
void draw_pictures(const std::filesystem::path& folder, const Model& model, const std::vector<FilmFrame>& frames,
                   const State& last);

}  // namespace pliant
