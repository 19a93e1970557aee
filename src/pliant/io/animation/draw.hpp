#pragma once

#include <filesystem>
#include <functional>

#include "pliant/io/animation/animation.hpp"
#include "pliant/render/picture.hpp"
#include "pliant/scene/scene.hpp"

namespace pliant {

/// Sees every body and collider in every frame, planes aside, and what is far beyond the bodies.
Camera camera_for(const Animation& animation, const ScenePicture& options);

/// Draws a frame. Planes that face up are the ground, others walls where one looks at their front; colliders with a
/// hole are glass, others solid.
Picture draw_frame(const Animation& animation, std::size_t frame, const Camera& camera, const ScenePicture& options);
/// Draws picture.png, the last frame, and film.png, a strip of six moments, of a run. The camera and the range of
/// colours are those of some thirty frames, evenly spread.
void draw_run(const RecordedRun& run, const ScenePicture& options, const std::filesystem::path& folder);
/// Every n-th frame as a film: .gif, or by the program ffmpeg .mp4 or .webm, by the name of the file. Where ffmpeg is
/// missing these throw InputError with what to do.
struct FilmOptions {
  std::int64_t every = 1;
  double rate = 0;  ///< pictures a second; 0: as fast as it happened, but at most 60
};
void draw_film(const RecordedRun& run, const ScenePicture& options, const FilmOptions& film,
               const std::filesystem::path& file,
               const std::function<bool(std::size_t, std::size_t)>& progress = nullptr);

/// Positions of all nodes of a model at some moments as an animation of its surfaces, coloured by the largest stretch.
Animation animation_of(const Scene& scene, const Model& model, const std::vector<double>& times,
                       const std::vector<VecX>& positions);

}  // namespace pliant
