#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "pliant/io/checkpoint.hpp"
#include "pliant/io/film.hpp"
#include "pliant/io/frames.hpp"
#include "pliant/io/telemetry.hpp"

namespace pliant {

/// How a run treats what is in its folder already.
enum class RunStart { fresh, replace, resume };

/// The folder a run leaves behind: result.pvd and frames/, steps.jsonl, summary.json, checkpoints/, picture.png,
/// film.png. It never mixes two runs: a folder in use is refused, replaced or continued. After a kill at any instant,
/// `resume` finds the newest checkpoint, cuts the lists back to it and goes on as if nothing had happened.
class ResultFolder {
 public:
  /// Throws InputError when the folder is in use and `start` is fresh, or holds nothing that this scene can resume
  /// from; std::system_error when it cannot be written. `state` and `stepper` take up those of the checkpoint.
  ResultFolder(std::filesystem::path folder, RunStart start, const Scene& scene, std::shared_ptr<const Model> model,
               std::int64_t steps, State& state, const Stepper& stepper,
               const std::function<void(const std::string&)>& notice);

  /// The model that states belong to from here on.
  void set_model(std::shared_ptr<const Model> model);
  /// The same after a cut; `origin` has for each node the one it was or is a copy of.
  void follow_cut(std::shared_ptr<const Model> model, std::span<const Index> origin);
  /// Appends the report of the step that led, or should have led, to `step`.
  void add_report(std::int64_t step, double time, const StepReport& report);
  /// Writes what is due after the step that led to `state`.
  void add_state(const State& state, const Stepper& stepper);
  /// Writes a checkpoint and the list of frames now.
  void save(const State& state, const Stepper& stepper);
  /// The frame of the last step, should none be due.
  void add_last_frame(const State& state, const Stepper& stepper);
  void draw(const State& last) const;

  /// What the stepper is to recall when a run is resumed, once it is that of the state.
  const std::vector<double>& stepper_memory() const { return memory_; }
  const std::filesystem::path& path() const { return folder_; }
  const RunTotals& totals() const { return totals_; }

 private:
  void begin(const State& state, const Stepper& stepper);
  void resume(State& state, const std::function<void(const std::string&)>& notice);

  std::filesystem::path folder_;
  const Scene& scene_;
  std::shared_ptr<const Model> model_;
  Fingerprint fingerprint_;
  FrameWriter frames_;
  CheckpointFolder checkpoints_;
  Film film_;
  std::optional<StepLog> log_;
  RunTotals totals_;
  std::vector<double> memory_;
};

}  // namespace pliant
