#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "pliant/base/folder_lock.hpp"
#include "pliant/io/checkpoint.hpp"
#include "pliant/io/collider_frames.hpp"
#include "pliant/io/frames.hpp"
#include "pliant/io/output_queue.hpp"
#include "pliant/io/probe_log.hpp"
#include "pliant/io/telemetry.hpp"
#include "pliant/io/visual_frames.hpp"
#include "pliant/sim/sharing.hpp"

namespace pliant {

/// How a run treats what is in its folder already.
enum class RunStart { fresh, replace, resume };

/// The folder a run leaves behind: result.pvd, colliders.pvd, visual.pvd and frames/, steps.jsonl, probes.csv,
/// summary.json, checkpoints/, picture.png, film.png. It never mixes two runs: a folder in use is refused, replaced or
/// continued, and while one run writes to it no other may (FolderLock). After a kill at any instant, `resume` finds the
/// newest checkpoint, removes what was half written, cuts the lists back to it and goes on as if nothing had happened.
///
/// Frames and checkpoints are written in the order they were asked for, while the simulation goes on; finish() and
/// leave() wait for them. std::system_error, when one could not be written, comes from the next call.
class ResultFolder {
 public:
  /// Throws InputError when the folder is in use and `start` is fresh, or holds nothing that this scene can resume
  /// from; std::system_error when it cannot be written. With `resume`, the simulation is restored from the checkpoint.
  /// The simulation must outlive the folder.
  ResultFolder(std::filesystem::path folder, RunStart start, Simulation& simulation,
               const std::function<void(const std::string&)>& notice);

  /// After a cut.
  void follow_cut();
  /// Appends the report of the step that led, or should have led, to `step`.
  void add_report(std::int64_t step, double time, const StepReport& report);
  /// Writes what is due after the step that led to the present state.
  void add_state();
  /// Writes a checkpoint and the list of frames now.
  void save();
  /// Writes the list of frames alone, where a step was left in the middle: the last checkpoint is what to go on from.
  /// Returns its step; nothing when there is none.
  std::optional<std::int64_t> leave();
  /// The frame of the last step, should none be due.
  void add_last_frame();
  void draw() const;
  /// Waits until everything is written.
  void finish() { queue_.wait(); }

  /// Values that frames hold as 0 because they were not finite; of all frames after finish().
  std::int64_t not_finite() const { return frames_.not_finite(); }
  const std::filesystem::path& path() const { return folder_; }
  const RunTotals& totals() const { return totals_; }

 private:
  void open(RunStart start);
  void begin();
  void share_frame_times();
  bool is_first() const { return !sharing_ || sharing_->is_first(); }
  void on_first(const std::function<void()>& work);
  void resume(const std::function<void(const std::string&)>& notice);
  void write_frame();
  void write_lists();

  std::filesystem::path folder_;
  std::optional<FolderLock> lock_;  ///< of the first process, as is log_
  Simulation& simulation_;
  FrameWriter frames_;
  ColliderFrames colliders_;
  VisualFrames visual_;
  CheckpointFolder checkpoints_;
  Sharing* sharing_;                 ///< where every process has a part, and writes its piece of each frame
  std::vector<double> frame_times_;  ///< of those due in their turn, s
  std::optional<std::int64_t> saved_;
  std::chrono::steady_clock::time_point saved_at_ = std::chrono::steady_clock::now();
  std::optional<StepLog> log_;
  std::optional<ProbeLog> probes_;
  RunTotals totals_;
  OutputQueue queue_;  ///< the only one to touch frames_, visual_ and checkpoints_ once the run has begun
};

}  // namespace pliant
