#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace pliant::view {

struct PageFile {
  std::string content;
  std::string_view type;  ///< as in Content-Type
};

/// The file of the page for the path of a request ("/", "/viewer.js"), from `folder` or, when that is empty, from those
/// that were built into the program. Without any, "/" is a plain page that says how to build the viewer. Only plain
/// names are found: none that leads to another folder.
std::optional<PageFile> page_file(std::string_view target, const std::filesystem::path& folder);

/// A file that was built in; see cmake/EmbedPage.cmake.
struct EmbeddedFile {
  std::string_view name;
  const char* begin;
  const char* end;
};
/// Ends with one that has no name.
extern const EmbeddedFile kEmbeddedPage[];

}  // namespace pliant::view
