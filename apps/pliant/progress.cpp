#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "streams.hpp"

namespace pliant::app {

std::string format_seconds(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

Progress::Style Progress::style_of_stderr() { return isatty(STDERR_FILENO) ? Style::terminal : Style::lines; }

void Progress::begin(std::int64_t steps, std::int64_t at) {
  const std::lock_guard lock(mutex_);
  steps_ = steps;
  at_ = at;
  is_running_ = true;
  begin_ = shown_ = step_begin_ = Clock::now();
}

void Progress::wait(int iterations) {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  const double seconds = seconds_between(step_begin_, now), between = style_ == Style::terminal ? 1.0 : 10.0;
  if (!is_running_ || style_ == Style::silent || seconds < 3 || seconds_between(shown_, now) < between) return;
  shown_ = now;
  print(fmt::format("step {}/{} has taken {} and {} iteration{} so far", at_ + 1, steps_, format_seconds(seconds),
                    iterations, iterations == 1 ? "" : "s"));
}

void Progress::print(const std::string& line) {
  line_open_ = style_ == Style::terminal;
  if (line_open_)
    tell(stderr, "\r{}\x1b[K", line);
  else
    tell(stderr, "{}\n", line);
  std::fflush(stderr);
}

void Progress::update(const State& state, const StepReport& report) {
  const std::lock_guard lock(mutex_);
  ++taken_;
  const Clock::time_point now = step_begin_ = Clock::now();
  at_ = state.step;
  if (style_ == Style::silent) return;
  // The whole time between steps, writing included, not the step's own: it is what the person waits for.
  const double mean = seconds_between(begin_, now) / static_cast<double>(taken_);
  step_seconds_ = taken_ == 1 ? mean : step_seconds_ + (report.seconds.total - step_seconds_) / 20;
  const bool last = state.step >= steps_;
  if (!last && seconds_between(shown_, now) < (style_ == Style::terminal ? 0.1 : 10.0)) return;
  shown_ = now;
  const double left = std::max(mean, step_seconds_) * static_cast<double>(steps_ - state.step);
  const std::string line =
      fmt::format("step {}/{} ({:.0f} %)  t = {:.3f} s  {} iteration{}  {:.1f} ms a step  {}", state.step, steps_,
                  100.0 * static_cast<double>(state.step) / static_cast<double>(steps_), state.time, report.iterations,
                  report.iterations == 1 ? "" : "s", 1e3 * mean,
                  last ? "took " + format_seconds(seconds_between(begin_, now)) : format_seconds(left) + " left");
  print(line);
}

void Progress::pause() {
  const std::lock_guard lock(mutex_);
  if (line_open_) tell(stderr, "\n");
  line_open_ = false;
}

void Progress::end() {
  pause();
  const std::lock_guard lock(mutex_);
  is_running_ = false;
}

}  // namespace pliant::app
