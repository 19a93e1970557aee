#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "pliant/contact/aabb.hpp"
#include "pliant/io/animation/animation.hpp"
#include "pliant/render/picture.hpp"
#include "pliant/scene/scene.hpp"

namespace pliant {

/// What all frames of an animation share when they are drawn.
struct Staging {
  enum class Corner { upper_left, upper_right, lower_right };

  Camera camera;      ///< sees every body and collider in every frame, planes aside, and what is far beyond the bodies
  Aabb bodies;        ///< in all frames
  double lowest = 0;  ///< along the vertical: where the ground is if nothing says so
  Corner legend = Corner::upper_left;  ///< where it hides nothing, if there is such a corner
};
Staging stage(const Animation& animation, const ScenePicture& options);

/// What somebody asks for in place of what the scene says; what is not given stays.
struct PictureChanges {
  std::optional<Vec3> from, at;            ///< m
  std::optional<Vec3> background;          ///< red, green, blue, each 0 to 1
  std::optional<double> field_of_view;     ///< degrees
  std::optional<std::array<int, 2>> size;  ///< pixels
  std::optional<std::array<double, 2>> range;
  std::string colour;  ///< a field of the frames; empty: as it was
  std::optional<bool> legend, stamp, wireframe, shadows;
};
/// Throws InputError for sizes, angles and colours that no picture has. The range of another field is not kept.
ScenePicture changed(ScenePicture picture, const PictureChanges& changes);

/// Draws a frame. Planes that face up are the ground, others walls where one looks at their front; colliders with a
/// hole are glass, others solid.
Picture draw_frame(const Animation& animation, std::size_t frame, const Staging& staging, const ScenePicture& options);
/// The settings by which a run of this many steps times nodes draws its own pictures: smaller where they
/// would otherwise take more than a fifth of its time, unless the scene gives a size. Counted, not timed: the same run
/// has the same pictures everywhere.
ScenePicture suited_to(std::int64_t work, const ScenePicture& picture);
/// Draws picture.png, the last frame, and film.png, a strip of six moments, of a run; of one that has but a first and a
/// last frame, as statics have, the former alone. The camera and the range of colours are those of eleven frames,
/// evenly spread. Returns what was written.
std::vector<std::filesystem::path> draw_run(const RecordedRun& run, const ScenePicture& options,
                                            const std::filesystem::path& folder);
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
