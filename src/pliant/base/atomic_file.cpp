#include "pliant/base/atomic_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

namespace pliant {

namespace {

/// A file under construction: closed and removed when it is left before `publish`.
class Draft {
 public:
  explicit Draft(const std::filesystem::path& path)
      : path_(path.string()), draft_(path_ + ".part" + std::to_string(getpid())) {
    file_ = open(draft_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_ < 0) fail();
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
    if (file_ >= 0) close(file_);
    if (!published_) unlink(draft_.c_str());
  }

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void wait_for_disk() {
    if (fsync(file_) != 0) fail();
  }

  void publish() {
    // Network file systems report a full disk only here.
    const int closed = close(file_);
    file_ = -1;
    if (closed != 0) fail();
    if (std::rename(draft_.c_str(), path_.c_str()) != 0) fail();
    published_ = true;
  }

 private:
  [[noreturn]] void fail() const {
    const int reason = errno;
    throw std::system_error(reason, std::generic_category(), path_ + ": cannot be written");
  }

  std::string path_;
  std::string draft_;
  int file_ = -1;
  bool published_ = false;
};

}  // namespace

void write_atomically(const std::filesystem::path& path, std::span<const std::string_view> pieces) {
  Draft draft(path);
  for (std::string_view piece : pieces) draft.write(piece);
  draft.publish();
}

void write_atomically(const std::filesystem::path& path, std::string_view content) {
  write_atomically(path, std::span(&content, 1));
}

void write_durably(const std::filesystem::path& path, std::string_view content) {
  Draft draft(path);
  draft.write(content);
  draft.wait_for_disk();
  draft.publish();
  // The new name is on the disk only when the folder is; some file systems cannot be asked for that, which is no
  // failure.
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const int directory = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  fsync(directory);
  close(directory);
}

}  // namespace pliant
