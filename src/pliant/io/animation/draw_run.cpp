#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pliant/base/atomic_file.hpp"
#include "pliant/base/child_process.hpp"
#include "pliant/base/error.hpp"
#include "pliant/io/animation/draw.hpp"
#include "pliant/render/gif.hpp"

namespace pliant {

namespace {

constexpr std::size_t kStripPictures = 6, kFramesBetween = 2;
constexpr std::size_t kFewestMoments = 3;  // where and how it came to rest is one picture, not a film
constexpr int kStripWidth[] = {160, 400};  // pixels, of each, at least and at most
constexpr int kLegendHeight = 88;          // pixels that a picture has at least to hold one
constexpr double kStripShare = 0.3125;     // of the picture's width, in between
/// Steps times nodes of a run that takes about two seconds, some six times as long as its pictures. Their cost
/// grows with their area, so that those of a shorter run are smaller, down to this share of their width.
constexpr double kShortRun = 300'000, kLeastShare = 0.2;

AnimationOptions options_for(const ScenePicture& picture) {
  AnimationOptions options;
  options.range = picture.range;
  options.springs = true;
  if (picture.colour == "body") return options;
  options.colour = picture.colour;
  options.needs_colour = picture.colour != ScenePicture().colour;
  return options;
}

/// Bodies that hardly deform have a colour each: by the default field they would all be of the darkest.
void prefer_bodies(const ScenePicture& picture, Animation& animation) {
  if (animation.field != ScenePicture().colour || picture.range || animation.high > 1.02) return;
  animation.field.clear();
  for (AnimatedSurface& surface : animation.surfaces) surface.values.clear();
}

/// `count` of the numbers below `of`, evenly spread, first and last included.
std::vector<std::size_t> spread(std::size_t count, std::size_t of) {
  std::vector<std::size_t> chosen;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t next = count < 2 ? of - 1 : k * (of - 1) / (count - 1);
    if (chosen.empty() || next > chosen.back()) chosen.push_back(next);
  }
  return chosen;
}

}  // namespace

ScenePicture changed(ScenePicture picture, const PictureChanges& changes) {
  const auto check = [](const char* what, double value, double least, double greatest) {
    if (!(value >= least && value <= greatest))
      throw InputError(fmt::format("{} must be from {} to {}, but is {}", what, least, greatest, value));
  };
  if (changes.from) picture.from = changes.from;
  if (changes.at) picture.at = changes.at;
  if (changes.background) {
    for (double share : *changes.background) check("the background's red, green and blue", share, 0, 1);
    picture.background = *changes.background;
  }
  if (changes.field_of_view) {
    check("the field of view", *changes.field_of_view, 1, 150);
    picture.field_of_view = *changes.field_of_view;
  }
  if (changes.size) {
    for (int pixels : *changes.size) check("the size of a picture", pixels, 16, 16384);
    picture.width = (*changes.size)[0];
    picture.height = (*changes.size)[1];
  }
  if (!changes.colour.empty() && changes.colour != picture.colour) {
    picture.range.reset();
    picture.colour = changes.colour;
  }
  if (changes.range) picture.range = changes.range;
  picture.legend = changes.legend.value_or(picture.legend);
  picture.stamp = changes.stamp.value_or(picture.stamp);
  picture.wireframe = changes.wireframe.value_or(picture.wireframe);
  picture.shadows = changes.shadows.value_or(picture.shadows);
  return picture;
}

ScenePicture suited_to(std::int64_t work, const ScenePicture& picture) {
  ScenePicture suited = picture;
  if (picture.is_size_given) return suited;
  const double share = std::clamp(std::sqrt(static_cast<double>(work) / kShortRun), kLeastShare, 1.0);
  const auto scaled = [&](int pixels) { return 4 * static_cast<int>(std::lround(share * pixels / 4)); };
  suited.width = scaled(picture.width);
  suited.height = scaled(picture.height);
  return suited;
}

std::vector<std::filesystem::path> draw_run(const RecordedRun& run, const ScenePicture& picture,
                                            const std::filesystem::path& folder) {
  AnimationOptions options = options_for(picture);
  options.frames = spread((kStripPictures - 1) * kFramesBetween + 1, run.frames().size());
  Animation animation = read_animation(run, options);
  prefer_bodies(picture, animation);
  const Staging staging = stage(animation, picture);
  std::vector<std::filesystem::path> drawn = {folder / "picture.png"};
  write_png(drawn.front(), draw_frame(animation, animation.frames() - 1, staging, picture));
  std::filesystem::remove(folder / "film.png");
  if (animation.frames() < kFewestMoments) return drawn;
  ScenePicture small = picture;
  small.width = std::clamp(static_cast<int>(kStripShare * picture.width), kStripWidth[0], kStripWidth[1]);
  small.height = std::max(16, small.width * picture.height / picture.width);
  small.legend = picture.legend && small.height >= kLegendHeight;
  Staging small_staging = stage(animation, small);
  small_staging.camera = staging.camera;
  std::vector<Picture> strip;
  for (std::size_t frame : spread(kStripPictures, animation.frames())) {
    strip.push_back(draw_frame(animation, frame, small_staging, small));
    small.legend = false;  // one is enough
  }
  drawn.push_back(folder / "film.png");
  write_png(drawn.back(), side_by_side(strip, 3, 6));
  return drawn;
}

namespace {

using Progress = std::function<bool(std::size_t, std::size_t)>;

/// By the program ffmpeg, from a folder of pictures.
void encode_video(const Animation& animation, const std::function<Picture(std::size_t)>& draw, double rate,
                  const std::filesystem::path& file, const Progress& progress) {
  const TemporaryFolder frames;
  for (std::size_t k = 0; k < animation.frames(); ++k) {
    if (progress && !progress(k, animation.frames())) return;
    write_png(frames.path() / fmt::format("{:06}.png", k), draw(k));
  }
  std::vector<std::string> command = {"ffmpeg",     "-y",
                                      "-loglevel",  "error",
                                      "-framerate", fmt::format("{:.6g}", rate),
                                      "-i",         (frames.path() / "%06d.png").string()};
  const auto add = [&](std::initializer_list<std::string> words) { command.insert(command.end(), words); };
  if (file.extension() == ".mp4")
    add({"-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "18", "-movflags", "+faststart"});
  else
    add({"-c:v", "libvpx-vp9", "-pix_fmt", "yuv420p", "-crf", "24", "-b:v", "0"});
  command.push_back(file.string());
  const ProcessResult result = run_program(command, frames.path() / "log.txt");
  if (!result.succeeded)
    throw InputError(fmt::format("ffmpeg could not make {} ({}): {}", file.string(), result.ending, result.output));
}

/// Without any other program; pictures that come too fast for players are left out.
void encode_gif(const Animation& animation, const std::function<Picture(std::size_t)>& draw,
                const ScenePicture& picture, double rate, const std::filesystem::path& file, const Progress& progress) {
  const auto step = static_cast<std::size_t>(std::ceil(rate / GifFilm::kLargestRate));
  GifFilm film(picture.width, picture.height, rate / static_cast<double>(step));
  for (std::size_t k = 0; k < animation.frames(); k += step) {
    if (progress && !progress(k, animation.frames())) return;
    film.add(draw(k));
  }
  write_atomically(file, film.finish());
}

}  // namespace

void draw_film(const RecordedRun& run, const ScenePicture& picture, const FilmOptions& film,
               const std::filesystem::path& file, const Progress& progress) {
  const std::string kind = file.extension().string();
  if (kind != ".mp4" && kind != ".webm" && kind != ".gif")
    throw InputError(fmt::format("{}: a film ends in .mp4, .webm or .gif", file.string()));
  if (kind != ".gif" && !program_exists("ffmpeg"))
    throw InputError(fmt::format(
        "{} films need the program ffmpeg (Debian: apt install ffmpeg); a name that ends in .gif needs none", kind));
  ScenePicture even = picture;  // as video codecs want it
  even.width -= even.width % 2;
  even.height -= even.height % 2;
  AnimationOptions options = options_for(picture);
  options.every = film.every;
  Animation animation = read_animation(run, options);
  prefer_bodies(picture, animation);
  const Staging staging = stage(animation, even);
  const auto draw = [&](std::size_t frame) { return draw_frame(animation, frame, staging, even); };
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
  const double rate = film.rate > 0 ? film.rate : std::min(animation.rate(), 60.0);
  if (kind == ".gif")
    encode_gif(animation, draw, even, rate, file, progress);
  else
    encode_video(animation, draw, rate, file, progress);
}

}  // namespace pliant
