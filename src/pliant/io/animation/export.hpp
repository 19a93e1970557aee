#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "pliant/io/animation/animation.hpp"

namespace pliant {

/// Formats by the words that people type.
struct ExportFormat {
  std::string_view name;
  std::string_view summary;
  bool is_folder = false;       ///< many files in a folder rather than one
  std::size_t most_frames = 0;  ///< kept by default, since files become large; 0: all
};
std::span<const ExportFormat> export_formats();
/// Throws InputError naming those there are.
const ExportFormat& find_export_format(std::string_view name);

struct ExportOptions {
  std::string format = {};                    ///< empty: that which `out` ends in, or glb
  AnimationOptions animation = {.every = 0};  ///< every 0: all frames, or as many as the format keeps by default
  std::filesystem::path out = {};             ///< file or folder; empty: in the folder of the run
};

struct ExportResult {
  std::string format;
  std::filesystem::path out;                 ///< what to open: a file, or the folder of many
  std::vector<std::filesystem::path> files;  ///< all that were written
  std::size_t frames = 0;                    ///< exported
  std::int64_t every = 1;                    ///< as chosen
  std::size_t of_frames = 0;                 ///< of the run
};

/// Writes a finished run in a format of other programs. Throws InputError for what cannot be, std::system_error for
/// files that cannot be written.
ExportResult export_run(const std::filesystem::path& run, const ExportOptions& options);

}  // namespace pliant
