#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "pliant/sim/stepper.hpp"

namespace pliant::app {

/// The line a person watches: on a terminal one that is rewritten in place, elsewhere one now and then.
class Progress {
 public:
  enum class Style { terminal, lines, silent };
  static Style style_of_stderr();

  explicit Progress(Style style) : style_(style) {}
  void begin(std::int64_t steps);
  void update(const State& state, const StepReport& report);
  /// Ends the line that is being rewritten, so that others may follow.
  void end();

 private:
  using Clock = std::chrono::steady_clock;

  Style style_;
  std::int64_t steps_ = 0;
  std::int64_t taken_ = 0;
  Clock::time_point begin_;
  Clock::time_point shown_;
  bool line_open_ = false;
  double step_seconds_ = 0;  ///< recent mean, so that the estimate follows scenes that become harder
};

/// "12 s", "3 min 05 s", "2 h 07 min".
std::string format_seconds(double seconds);

}  // namespace pliant::app
