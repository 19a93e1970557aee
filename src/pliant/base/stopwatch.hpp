#pragma once

namespace pliant {

/// What the stages of a step are timed by.
enum class StageClock {
  wall,
  processor,  ///< the calling thread's processor time, which other programs change little: for runs on one thread
};

/// For the whole program; to be set before anything is timed.
void set_stage_clock(StageClock clock);
StageClock stage_clock();

/// Seconds of the stage clock since a moment that does not change.
double stage_seconds();

/// Adds the seconds of its own lifetime to a counter.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds), begin_(stage_seconds()) {}
  ~Stopwatch() { seconds_ += stage_seconds() - begin_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  double begin_;
};

}  // namespace pliant
