#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace pliant::app {

namespace {

double seconds_between(std::chrono::steady_clock::time_point a, std::chrono::steady_clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

}  // namespace

std::string format_seconds(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

Progress::Style Progress::style_of_stderr() { return isatty(STDERR_FILENO) ? Style::terminal : Style::lines; }

void Progress::begin(std::int64_t steps) {
  steps_ = steps;
  begin_ = shown_ = Clock::now();
}

void Progress::update(const State& state, const StepReport& report) {
  ++taken_;
  if (style_ == Style::silent) return;
  const Clock::time_point now = Clock::now();
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
  line_open_ = style_ == Style::terminal;
  if (line_open_)
    fmt::print(stderr, "\r{}\x1b[K", line);
  else
    fmt::print(stderr, "{}\n", line);
  std::fflush(stderr);
}

void Progress::end() {
  if (line_open_) fmt::print(stderr, "\n");
  line_open_ = false;
}

}  // namespace pliant::app
