#pragma once

#include <new>
#include <string>
#include <string_view>

namespace pliant {

/// Bytes this process may ever have: those of the machine, or of the container it runs in. The same at every call, so
/// that what is chosen by it does not change from run to run. Infinity where nobody tells.
double physical_memory();

/// Bytes this process could still get now: what the system calls available, within the container's and the process's
/// own limits. Systems promise more than they have and end the process that takes them at their word; who needs much
/// asks here first.
double available_memory();

/// Whether so much could be had now. Little always could: to ask takes as long as to solve a small system.
bool memory_suffices(double bytes);

/// "1.4 GB"
std::string format_bytes(double bytes);

/// Thrown in place of an allocation that is known not to succeed.
class MemoryShortage : public std::bad_alloc {
 public:
  /// "the factor of the matrix needs 12.3 GB of memory, and 4.5 GB are free"
  MemoryShortage(std::string_view what, double needed, double available);
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// Throws MemoryShortage where so much is not there.
void require_memory(std::string_view what, double bytes);

}  // namespace pliant
