#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "pliant/sim/stepper.hpp"

namespace pliant::app {

inline double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// The line a person watches: on a terminal one that is rewritten in place, elsewhere one now and then.
class Progress {
 public:
  enum class Style { terminal, lines, silent };
  static Style style_of_stderr();

  explicit Progress(Style style) : style_(style) {}
  /// `at`: the step that the run begins or goes on from.
  void begin(std::int64_t steps, std::int64_t at);
  void update(const State& state, const StepReport& report);
  /// Called now and then, from another thread, while a step is under way: tells how far it is once it takes long.
  void wait(int iterations);
  /// Ends the line that is being rewritten, so that others may follow.
  void pause();
  /// The same, for good.
  void end();

 private:
  using Clock = std::chrono::steady_clock;

  void print(const std::string& line);

  std::mutex mutex_;
  Style style_;
  std::int64_t steps_ = 0;
  std::int64_t at_ = 0;  ///< the step reached
  bool is_running_ = false;
  Clock::time_point step_begin_;
  std::int64_t taken_ = 0;
  Clock::time_point begin_;
  Clock::time_point shown_;
  bool line_open_ = false;
  double step_seconds_ = 0;  ///< recent mean, so that the estimate follows scenes that become harder
};

/// "12 s", "3 min 05 s", "2 h 07 min".
std::string format_seconds(double seconds);

}  // namespace pliant::app
