#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pliant/sim/stepper.hpp"

namespace pliant {

/// A line of steps.jsonl: the report of the step that led (or failed to lead) to `step`, `time`. Numbers read back as
/// the same bits; what is not finite is null; everything that depends on the clock is in the object "seconds".
std::string step_line(std::int64_t step, double time, const StepReport& report);

/// Sums over the steps of a run.
struct RunTotals {
  std::int64_t steps = 0;
  std::int64_t failed_steps = 0;  ///< those that did not succeed
  std::int64_t iterations = 0;
  std::int64_t factorisations = 0;
  std::int64_t failed_factorisations = 0;
  std::int64_t linear_iterations = 0;
  std::int64_t projected_iterations = 0;
  std::int64_t line_search_evaluations = 0;
  std::int64_t newton_steps = 0;  ///< of other solvers, ended by Newton's method
  double smallest_alpha = 1;
  std::map<std::string, std::int64_t> outcomes;
  StageSeconds seconds;

  void add(const StepReport& report);
};

/// steps.jsonl, appended line by line; each is handed to the system at once, so that a kill loses none. Throws
/// std::system_error when it cannot be written.
class StepLog {
 public:
  /// Begins an empty file.
  static StepLog begin(const std::filesystem::path& file);
  /// Goes on after the lines of the first `steps` steps, which are added to `totals`; whatever comes after is cut off.
  /// Where lines are missing or damaged, `notice` is told how many are left: the state is elsewhere, and goes on.
  static StepLog resume(const std::filesystem::path& file, std::int64_t steps, RunTotals& totals,
                        const std::function<void(const std::string&)>& notice);

  /// Goes on at the end of a file.
  static StepLog go_on(const std::filesystem::path& file);

  void append(const std::string& line);
  /// Waits until the disk has it.
  void flush_to_disk();

 private:
  explicit StepLog(const std::filesystem::path& file, const char* mode);
  [[noreturn]] void fail() const;
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace pliant
