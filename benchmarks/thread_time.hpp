#pragma once

#include <ctime>

/// Processor time of this thread, ms: what others do on the machine does not count.
inline double thread_time() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}
