#include "streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace pliant::app {

namespace {

bool may_be_lost = false;

}  // namespace

void open_closed_streams() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number)
    if (fcntl(number, F_GETFD) == -1 && errno == EBADF) {
      // The lowest number that is free is given out: this one.
      [[maybe_unused]] const int opened = open("/dev/null", number == STDIN_FILENO ? O_RDONLY : O_WRONLY);
    }
}

void output_may_be_lost() { may_be_lost = true; }

bool flush_output() {
  const bool had_failed = std::ferror(stdout) != 0;
  errno = 0;
  const bool fails = std::fflush(stdout) != 0;
  if (errno == EPIPE) return true;  // whoever read it has had enough
  return may_be_lost || (!fails && !had_failed);
}

}  // namespace pliant::app
