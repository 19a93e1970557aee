#include "pliant/base/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "pliant/base/error.hpp"

namespace pliant {

FolderLock::FolderLock(const std::filesystem::path& folder)
    : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), folder.string() + ": cannot be opened");
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  close(descriptor_);
  throw InputError(folder.string() +
                   " is being written by another run; wait for it, or choose another folder with --out");
}

FolderLock::~FolderLock() { close(descriptor_); }

}  // namespace pliant
