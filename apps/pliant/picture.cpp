#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "commands.hpp"
#include "interrupt.hpp"
#include "pliant/base/error.hpp"
#include "pliant/io/animation/draw.hpp"
#include "threads.hpp"

namespace pliant::app {

namespace {

struct PictureArguments {
  std::string run, out, film;
  std::vector<double> from, at, range, background;
  std::vector<int> size;
  double fov = 0;
  int threads = 0;
  std::string colour;
  bool no_legend = false, no_stamp = false, no_wireframe = false, no_shadows = false;
  FilmOptions film_options;
};

PictureChanges changes_of(const PictureArguments& arguments) {
  PictureChanges changes;
  changes.colour = arguments.colour;
  const auto vector = [](const std::vector<double>& v) { return Vec3(v[0], v[1], v[2]); };
  if (!arguments.from.empty()) changes.from = vector(arguments.from);
  if (!arguments.at.empty()) changes.at = vector(arguments.at);
  if (!arguments.background.empty()) changes.background = vector(arguments.background);
  if (!arguments.range.empty()) changes.range = {arguments.range[0], arguments.range[1]};
  if (!arguments.size.empty()) changes.size = {arguments.size[0], arguments.size[1]};
  if (arguments.fov > 0) changes.field_of_view = arguments.fov;
  if (arguments.no_legend) changes.legend = false;
  if (arguments.no_stamp) changes.stamp = false;
  if (arguments.no_wireframe) changes.wireframe = false;
  if (arguments.no_shadows) changes.shadows = false;
  return changes;
}

int draw(const PictureArguments& arguments) {
  const ThreadLimit limit(arguments.threads);
  const RecordedRun run(arguments.run);
  const ScenePicture picture = changed(run.picture(), changes_of(arguments));
  if (!arguments.film.empty()) {
    catch_interrupts("\nstopping\n");
    draw_film(run, picture, arguments.film_options, arguments.film, [](std::size_t k, std::size_t of) {
      if (isatty(STDERR_FILENO)) fmt::print(stderr, "\rpicture {} of {}\x1b[K", k + 1, of);
      return !interrupt_requested();
    });
    if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\x1b[K");
    if (interrupt_requested()) return kInterrupted;
    fmt::print("{}\n", arguments.film);
    return kSuccess;
  }
  const std::filesystem::path folder = arguments.out.empty() ? run.folder() : std::filesystem::path(arguments.out);
  std::filesystem::create_directories(folder);
  std::string names;
  for (const std::filesystem::path& file : draw_run(run, picture, folder))
    names += (names.empty() ? "" : ", ") + file.string();
  fmt::print("{}\n", names);
  return kSuccess;
}

}  // namespace

void add_picture(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<PictureArguments>();
  CLI::App* command =
      app.add_subcommand("picture", "Draw a finished run: its last frame and a strip of frames, or a film");
  command->add_option("RUN", arguments->run, "The folder of a run")->required();
  command->add_option("--out", arguments->out, "Folder for picture.png and film.png; by default that of the run")
      ->type_name("DIR");
  command->add_option("--film", arguments->film, "Make a film instead: a file .gif, or .mp4 or .webm (by ffmpeg)")
      ->type_name("FILE");
  command->add_option("--every", arguments->film_options.every, "Every n-th frame of the run, in a film")
      ->check(above_zero())
      ->type_name("N");
  command->add_option("--fps", arguments->film_options.rate, "Pictures a second of a film; by default as it happened")
      ->check(above_zero())
      ->type_name("N");
  command
      ->add_option("--colour,--color", arguments->colour,
                   "stretch, von_mises, speed, displacement, another field of the frames, or body: one per body")
      ->type_name("FIELD");
  command->add_option("--range", arguments->range, "Values at the ends of the colour map")
      ->expected(2)
      ->type_name("LOW HIGH");
  command->add_option("--from", arguments->from, "Where the camera is, m")->expected(3)->type_name("X Y Z");
  command->add_option("--at", arguments->at, "What it looks at, m")->expected(3)->type_name("X Y Z");
  command->add_option("--fov", arguments->fov, "Field of view, degrees")->check(CLI::Range(1.0, 150.0));
  command->add_option("--size", arguments->size, "Pixels")
      ->expected(2)
      ->check(CLI::Range(16, 16384))
      ->type_name("WIDTH HEIGHT");
  command->add_option("--background", arguments->background, "Red, green, blue, each 0 to 1")
      ->expected(3)
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("R G B");
  command->add_flag("--no-legend", arguments->no_legend, "Leave out what the colours mean");
  command->add_flag("--no-stamp", arguments->no_stamp, "Leave out the time");
  command->add_flag("--no-wireframe", arguments->no_wireframe, "Leave out the edges of the mesh");
  command->add_flag("--no-shadows", arguments->no_shadows, "Faster");
  add_threads(*command, arguments->threads);
  command->callback([arguments, &exit_code] { exit_code = draw(*arguments); });
}

}  // namespace pliant::app
