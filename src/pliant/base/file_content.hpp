#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace pliant {

/// The bytes of a file, as they were when it was read. Not mapped into memory, which would cost less of it: whoever
/// shortens a mapped file (an editor, a mesher that writes it anew) ends the program that looks at it by a signal.
class FileContent {
 public:
  /// Throws InputError with the path and the reason.
  explicit FileContent(const std::filesystem::path& path);

  std::string_view bytes() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
};

}  // namespace pliant
