#include "pliant/base/file_content.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "pliant/base/error.hpp"
#include "pliant/base/memory.hpp"

namespace pliant {

namespace {

/// Closes a file however it is left.
struct Descriptor {
  int number;
  explicit Descriptor(const char* path) : number(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

[[noreturn]] void fail(const std::filesystem::path& path) {
  const int reason = errno;
  if (reason == ENOENT) throw InputError(fmt::format("{}: no such file.", path.string()));
  throw InputError(fmt::format("{}: cannot be read: {}.", path.string(), std::generic_category().message(reason)));
}

}  // namespace

FileContent::FileContent(const std::filesystem::path& path) {
  const Descriptor file(path.c_str());
  if (file.number < 0) fail(path);
  struct stat status = {};
  if (fstat(file.number, &status) != 0) fail(path);
  if (!S_ISREG(status.st_mode)) throw InputError(fmt::format("{}: not a regular file.", path.string()));
  const auto size = static_cast<std::size_t>(status.st_size);
  // Known before anything is taken: a file may be long and have nothing in it.
  if (!memory_suffices(static_cast<double>(size)))
    throw InputError(fmt::format("{}: is {} long, more than there is memory free ({}).", path.string(),
                                 format_bytes(static_cast<double>(size)), format_bytes(available_memory())));
  data_ = std::make_unique_for_overwrite<char[]>(size);
  while (size_ < size) {
    const ssize_t count = read(file.number, data_.get() + size_, size - size_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path);
    if (count == 0) break;  // it was shortened meanwhile
    size_ += static_cast<std::size_t>(count);
  }
}

}  // namespace pliant
