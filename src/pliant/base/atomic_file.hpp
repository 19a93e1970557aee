#pragma once

#include <filesystem>
#include <span>
#include <string_view>

namespace pliant {

/// Writes the pieces one after another to `path`, which has either its old content or all of the new one at any time:
/// the bytes go to a file of another name in the same folder first, which then takes the place of the old one. Throws
/// std::system_error with the path and the reason (no such folder, no permission, disk full) and leaves no remains.
void write_atomically(const std::filesystem::path& path, std::span<const std::string_view> pieces);
void write_atomically(const std::filesystem::path& path, std::string_view content);
/// The same, and the new content survives a loss of power once this returns.
void write_durably(const std::filesystem::path& path, std::string_view content);

}  // namespace pliant
