#pragma once

#include <cstdio>
#include <filesystem>
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
  std::int64_t iterations = 0;
  std::int64_t factorisations = 0;
  std::int64_t failed_factorisations = 0;
  std::int64_t linear_iterations = 0;
  std::int64_t projected_iterations = 0;
  std::int64_t line_search_evaluations = 0;
  double smallest_alpha = 1;
  std::map<std::string, std::int64_t> outcomes;
  StageSeconds seconds;

  void add(const StepReport& report);
};

/// What the lines of an earlier run say, for one that goes on from there.
struct StepHistory {
  RunTotals totals;
  std::vector<double> times;  ///< at the end of each step
};

/// steps.jsonl, appended line by line; each is handed to the system at once, so that a kill loses none. Throws
/// std::system_error when it cannot be written.
class StepLog {
 public:
  /// Begins an empty file.
  static StepLog begin(const std::filesystem::path& file);
  /// Goes on after the first `steps` lines; later ones are cut off. Throws InputError when there are fewer.
  static StepLog resume(const std::filesystem::path& file, std::int64_t steps, StepHistory& history);

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
