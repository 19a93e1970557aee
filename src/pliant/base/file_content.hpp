#pragma once

#include <filesystem>
#include <string_view>

namespace pliant {

/// The bytes of a file, mapped into memory: the system loads what is looked at and drops it again at will, so that a
/// file of any size costs no memory of ours. A program that shortens the file meanwhile stops this one; replacing it by
/// another of the same name is safe.
class FileContent {
 public:
  /// Throws InputError with the path and the reason.
  explicit FileContent(const std::filesystem::path& path);
  FileContent(const FileContent&) = delete;
  FileContent& operator=(const FileContent&) = delete;
  ~FileContent();

  std::string_view bytes() const { return {data_, size_}; }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace pliant
