#include "pliant/base/file_content.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "pliant/base/error.hpp"

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
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;  // which cannot be mapped
  void* address = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (address == MAP_FAILED) fail(path);
  data_ = static_cast<const char*>(address);
}

FileContent::~FileContent() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

}  // namespace pliant
