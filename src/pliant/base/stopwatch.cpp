#include "pliant/base/stopwatch.hpp"

#include <atomic>
#include <chrono>
#include <ctime>

namespace pliant {

namespace {

std::atomic<StageClock> chosen_clock{StageClock::wall};

}  // namespace

void set_stage_clock(StageClock clock) { chosen_clock.store(clock, std::memory_order_relaxed); }

StageClock stage_clock() { return chosen_clock.load(std::memory_order_relaxed); }

double stage_seconds() {
  if (stage_clock() == StageClock::wall)
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace pliant
