#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "pliant/io/last_step.hpp"
#include "pliant/io/result_folder.hpp"
#include "pliant/simulation/simulation.hpp"

namespace pliant {

/// Named numbers of one process.
using ProcessFigures = std::vector<std::pair<std::string, double>>;

/// What a summary says of a body.
struct BodyFigures {
  double vertices = 0, elements = 0, nodes = 0, mass = 0, inverted = 0;
};

struct RunOptions {
  std::filesystem::path folder;  ///< for the results; empty: none are written
  RunStart start = RunStart::fresh;
  std::optional<std::int64_t> last_step;  ///< in place of the scene's duration
  StepControl* control = nullptr;         ///< ends the run, also in the middle of a step
  /// What each of several processes has and has done, for the summary; all call it together (distributed/).
  std::function<std::vector<ProcessFigures>()> processes = nullptr;
};

/// Told about a run between its steps.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// Before the first step; `state` is where the run begins or goes on.
  virtual void on_start(const Model& /*model*/, const State& /*state*/, std::int64_t /*steps*/) {}
  /// Before a step that leads to `time`: when driven positions are to be written.
  virtual void before_step(double /*time*/) {}
  /// After a step; `state` is the last good one.
  virtual void on_step(const State& /*state*/, const StepReport& /*report*/) {}
  /// Before the pictures, which may take some seconds.
  virtual void on_drawing() {}
  virtual void on_notice(const std::string& /*text*/) {}
  /// Asked after every step; true ends the run as an interruption, with everything written.
  virtual bool wants_stop() { return false; }
};

enum class RunEnd { finished, failed, interrupted };
std::string_view to_string(RunEnd end);

struct RunResult {
  RunEnd end = RunEnd::finished;
  State state;             ///< the last good one
  StepReport last_report;  ///< of the step that failed, when one did
  RunTotals totals;        ///< over all steps, those before a resume included
  std::int64_t steps = 0;  ///< of the whole run
  std::int64_t first_step = 0;
  /// Where the run can go on from; nothing: at its beginning.
  std::optional<std::int64_t> saved_step;
  double wall_seconds = 0;            ///< of this call
  std::optional<LastStep> last_step;  ///< of a finished run whose last step ended by its budget
  std::int64_t not_finite = 0;        ///< values that the frames hold as 0 because they were not finite
  /// Why what came out is not to be relied on though the run reached its end, for people (io/doubts.hpp).
  std::vector<std::string> doubts;
  /// Formats that the scene asks for and that could not be written; each was told.
  std::vector<std::string> failed_exports;
  /// Of a simulation that several processes share: bodies of the scene, and what each process did.
  std::vector<BodyFigures> bodies;
  std::vector<ProcessFigures> processes;
};

/// Steps a simulation to its last step and writes the results. Throws InputError for bad input (nothing is written
/// then) and std::system_error when results cannot be written; numerical failures are in the result.
RunResult run(Simulation& simulation, const RunOptions& options, RunObserver& observer);

}  // namespace pliant
