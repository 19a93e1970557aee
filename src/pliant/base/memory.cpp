#include "pliant/base/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

namespace pliant {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// The number a one-line file begins with; infinity for none ("max", or no such file).
double number_in(const std::string& file) {
  std::ifstream in(file);
  double value = 0;
  return in >> value ? value : kUnlimited;
}

/// Of the container, whose groups are mounted at the root: version 2, then version 1.
double container_limit() {
  return std::min(number_in("/sys/fs/cgroup/memory.max"), number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
}

double container_use() {
  const double use =
      std::min(number_in("/sys/fs/cgroup/memory.current"), number_in("/sys/fs/cgroup/memory/memory.usage_in_bytes"));
  return use < kUnlimited ? use : 0;
}

/// What the system could hand out without swapping.
double system_available() {
  std::ifstream in("/proc/meminfo");
  std::string key, unit;
  double kilobytes = 0;
  while (in >> key >> kilobytes) {
    std::getline(in, unit);
    if (key == "MemAvailable:") return 1024 * kilobytes;
  }
  return kUnlimited;
}

/// What `ulimit -v` leaves.
double address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const double pages = number_in("/proc/self/statm");
  const double used = pages < kUnlimited ? pages * static_cast<double>(sysconf(_SC_PAGE_SIZE)) : 0;
  return std::max(0.0, static_cast<double>(limit.rlim_cur) - used);
}

}  // namespace

double physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  const double machine = pages > 0 && size > 0 ? static_cast<double>(pages) * static_cast<double>(size) : kUnlimited;
  return std::min(machine, container_limit());
}

double available_memory() {
  return std::min({system_available(), std::max(0.0, container_limit() - container_use()), address_space_left()});
}

bool memory_suffices(double bytes) {
  constexpr double kLittle = 16e6;
  return bytes < kLittle || bytes <= available_memory();
}

std::string format_bytes(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.3g} GB", bytes / 1e9);
  if (bytes >= 1e6) return fmt::format("{:.3g} MB", bytes / 1e6);
  return fmt::format("{:.3g} kB", bytes / 1e3);
}

MemoryShortage::MemoryShortage(std::string_view what, double needed, double available)
    : message_(
          fmt::format("{} needs {} of memory, and {} are free", what, format_bytes(needed), format_bytes(available))) {}

void require_memory(std::string_view what, double bytes) {
  if (!memory_suffices(bytes)) throw MemoryShortage(what, bytes, available_memory());
}

}  // namespace pliant
