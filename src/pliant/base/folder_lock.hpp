#pragma once

#include <filesystem>

namespace pliant {

/// Keeps a folder to one user at a time, in this process or any other of the machine. The lock is the system's, on the
/// folder itself: it ends with the process that holds it, however that ends, and leaves no file behind.
class FolderLock {
 public:
  /// Throws InputError when another one holds it, std::system_error when the folder cannot be opened. File systems
  /// without locks (some over a network) grant it always.
  explicit FolderLock(const std::filesystem::path& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  int descriptor_;
};

}  // namespace pliant
