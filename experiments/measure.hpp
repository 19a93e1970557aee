#pragma once

#include <oneapi/tbb/global_control.h>

#include <vector>

namespace pliant::experiments {

/// NaN of nothing: a comparison with it is never decided.
double median(std::vector<double> values);

/// Seconds of processor time since it was made: what else runs on the machine changes it little. Of this thread alone
/// (contenders on one thread), or of the whole program (all threads together).
class ProcessorTime {
 public:
  enum class Of { thread, program };
  explicit ProcessorTime(Of of = Of::thread) : of_(of), begin_(now()) {}
  double seconds() const { return now() - begin_; }

 private:
  double now() const;
  Of of_;
  double begin_;
};

/// While it lives, everything runs on one thread: for contenders that are timed.
class OneThread {
  tbb::global_control limit_{tbb::global_control::max_allowed_parallelism, 1};
};

}  // namespace pliant::experiments
