#include "pliant/io/animation/export.hpp"

#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "threads.hpp"

namespace pliant::app {

namespace {

struct ExportArguments {
  std::string run;
  ExportOptions options;
  std::string out;
  int threads = 0;
  bool surface = false;
  bool volume = false;
  bool no_colliders = false;
  std::vector<double> range;
};

std::string size_of_files(const ExportResult& result) {
  std::uintmax_t bytes = 0;
  for (const auto& file : result.files) bytes += std::filesystem::file_size(file);
  return bytes < 1'000'000 ? fmt::format("{:.0f} kB", 1e-3 * static_cast<double>(bytes))
                           : fmt::format("{:.1f} MB", 1e-6 * static_cast<double>(bytes));
}

int export_it(ExportArguments arguments) {
  const ThreadLimit limit(arguments.threads);
  ExportOptions& options = arguments.options;
  options.out = arguments.out;
  options.animation.faces = arguments.volume ? Faces::all : Faces::outside;
  options.animation.colliders = !arguments.no_colliders;
  if (arguments.range.size() == 2) options.animation.range = {arguments.range[0], arguments.range[1]};
  const ExportResult result = export_run(arguments.run, options);
  fmt::print("{}: {} of {} frames{}, {} file{}, {}\n", result.out.string(), result.frames, result.of_frames,
             result.every > 1 ? fmt::format(" (one frame in {}; --every 1 takes all)", result.every) : "",
             result.files.size(), result.files.size() == 1 ? "" : "s", size_of_files(result));
  if (result.format == "pc2" || result.format == "mdd")
    fmt::print("  in Blender    blender --python {}/import_in_blender.py\n", result.out.string());
  return kSuccess;
}

}  // namespace

void add_export(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command = app.add_subcommand("export", "Write a finished run for Blender, browsers and other programs");
  command->add_option("RUN", arguments->run, "The folder of a run")->required();
  std::string formats;
  for (const ExportFormat& format : export_formats())
    formats += fmt::format("\n  {:<6}{}", format.name, format.summary);
  command->add_option("--format", arguments->options.format, "By default glb, or what --out ends in:" + formats)
      ->type_name("NAME");
  command->add_option("--out", arguments->out, "File or folder to write; by default in the folder of the run")
      ->type_name("PATH");
  command
      ->add_option("--every", arguments->options.animation.every,
                   "Take every n-th frame; by default all, of glb at most 120")
      ->check(above_zero())
      ->type_name("N");
  command
      ->add_option("--colour,--color", arguments->options.animation.colour,
                   "Colour by a field of the frames: stretch, von_mises, speed, displacement, ...; by default a colour "
                   "per body")
      ->type_name("FIELD");
  command->add_option("--range", arguments->range, "Values at the ends of the colour map; by default what occurs")
      ->expected(2)
      ->type_name("LOW HIGH");
  CLI::Option* surface = command->add_flag("--surface", arguments->surface, "The outside of each body (the default)");
  command->add_flag("--volume", arguments->volume, "Every side of every element, to look inside")->excludes(surface);
  command->add_flag("--visual", arguments->options.animation.visual,
                    "Visual meshes in place of the bodies that have one, with places in textures and materials");
  command->add_flag("--no-colliders", arguments->no_colliders, "Bodies alone");
  add_threads(*command, arguments->threads);
  command->callback([arguments, &exit_code] { exit_code = export_it(*arguments); });
}

}  // namespace pliant::app
