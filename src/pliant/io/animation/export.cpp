#include "pliant/io/animation/export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "pliant/base/atomic_file.hpp"
#include "pliant/base/error.hpp"
#include "pliant/io/animation/formats.hpp"

namespace pliant {

namespace {

constexpr ExportFormat kExportFormats[] = {
    {"glb", "glTF 2.0, one file: browsers, Blender, Windows and macOS previews; morph targets", false, 120},
    {"usda", "USD as text, one file: Houdini, Maya, Omniverse, usdview", false, 0},
    {"pc2", "OBJ and a point cache for each body, with a script that loads them: Blender, Maya, 3ds Max", true, 0},
    {"mdd", "the same with Lightwave's caches: Blender, Houdini, Cinema 4D", true, 0},
    {"ply", "a file per frame with coloured vertices: MeshLab, Blender, Open3D", true, 0},
    {"obj", "a file per frame: everything", true, 0},
};

class Files {
 public:
  Files(ExportResult& result) : result_(result) {}
  void write(const std::filesystem::path& file, const std::string& content) {
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
    write_atomically(file, content);
    result_.files.push_back(file);
  }

 private:
  ExportResult& result_;
};

void write_caches(const Animation& animation, const std::string& format, const std::filesystem::path& out,
                  Files& files) {
  std::vector<std::string> stems;
  std::set<std::string> used;
  for (const AnimatedSurface& surface : animation.surfaces) {
    std::string stem = file_stem(surface.name);
    for (int n = 2; used.contains(stem); ++n) stem = fmt::format("{}_{}", file_stem(surface.name), n);
    used.insert(stem);
    stems.push_back(stem);
    files.write(out / (stem + ".obj"), write_obj_surface(surface, 0));
    files.write(out / (stem + "." + format),
                format == "pc2" ? write_pc2(surface, animation.frames()) : write_mdd(surface, animation.times));
  }
  files.write(out / "import_in_blender.py", blender_script(animation, stems, format));
}

/// The format that a file of this name has, if any has.
const ExportFormat* format_of_file(const std::filesystem::path& file) {
  for (const ExportFormat& format : kExportFormats)
    if (!format.is_folder && file.extension() == fmt::format(".{}", format.name)) return &format;
  return nullptr;
}

const ExportFormat& chosen_format(const ExportOptions& options) {
  if (!options.format.empty()) return find_export_format(options.format);
  const ExportFormat* by_name = format_of_file(options.out);
  return by_name ? *by_name : find_export_format("glb");
}

/// A file that is called something else than it is would be opened by the wrong program, or by none.
std::filesystem::path chosen_out(const ExportOptions& options, const ExportFormat& format,
                                 const std::filesystem::path& folder, const std::string& stem) {
  const std::string ending = fmt::format(".{}", format.name), file = stem + ending;
  if (options.out.empty()) return folder / (format.is_folder ? std::string(format.name) : file);
  if (!format.is_folder && std::filesystem::is_directory(options.out)) return options.out / file;
  if (!format.is_folder && options.out.extension() != ending)
    throw InputError(fmt::format("'{}' does not end in {}, as files of the format {} do; choose a format with --format",
                                 options.out.string(), ending, format.name));
  if (format.is_folder && (options.out.extension() == ending || format_of_file(options.out)))
    throw InputError(fmt::format("'{}' is the name of a file, but {} needs a folder for many; leave the ending out",
                                 options.out.string(), format.name));
  return options.out;
}

}  // namespace

std::span<const ExportFormat> export_formats() { return kExportFormats; }

const ExportFormat& find_export_format(std::string_view name) {
  std::vector<std::string> names;
  for (const ExportFormat& format : kExportFormats) {
    if (format.name == name) return format;
    names.emplace_back(format.name);
  }
  throw InputError(fmt::format("there is no format '{}'; there are: {}", name, fmt::join(names, ", ")));
}

ExportResult export_run(const std::filesystem::path& folder, const ExportOptions& options) {
  const ExportFormat& format = chosen_format(options);
  const RecordedRun run(folder);
  const std::string stem = file_stem(run.name());
  AnimationOptions chosen = options.animation;
  ExportResult result;
  result.format = format.name;
  result.out = chosen_out(options, format, folder, stem);
  result.of_frames = run.frames().size();
  if (chosen.every == 0)
    chosen.every = format.most_frames == 0
                       ? 1
                       : static_cast<std::int64_t>((result.of_frames + format.most_frames - 1) / format.most_frames);
  const Animation animation = read_animation(run, chosen);
  result.frames = animation.frames();
  result.every = chosen.every;
  Files files(result);
  if (format.name == "glb") {
    files.write(result.out, write_glb(animation));
  } else if (format.name == "usda") {
    files.write(result.out, write_usda(animation));
  } else if (format.name == "pc2" || format.name == "mdd") {
    write_caches(animation, result.format, result.out, files);
  } else {
    const bool is_obj = format.name == "obj";
    if (is_obj) files.write(result.out / (stem + ".mtl"), write_mtl(animation));
    for (std::size_t k = 0; k < animation.frames(); ++k)
      files.write(result.out / fmt::format("{}_{:06}.{}", stem, k, format.name),
                  is_obj ? write_obj_frame(animation, k, stem + ".mtl") : write_ply_frame(animation, k));
  }
  return result;
}

}  // namespace pliant
