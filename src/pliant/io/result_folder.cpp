#include "pliant/io/result_folder.hpp"

#include <fmt/format.h>

#include "pliant/base/error.hpp"
#include "pliant/io/animation/draw.hpp"

namespace pliant {

namespace {

bool in_use(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return false;
  if (!std::filesystem::is_directory(folder, error))
    throw InputError(fmt::format("{} is a file, not a folder; choose another with --out", folder.string()));
  return !std::filesystem::is_empty(folder, error);
}

/// Removes what runs write, and nothing else: the folder may hold a person's own files.
void remove_results(const std::filesystem::path& folder) {
  for (const char* name : {"result.pvd", "colliders.pvd", "steps.jsonl", "summary.json", "picture.png", "film.png"})
    std::filesystem::remove(folder / name);
  std::error_code error;
  for (const char* name : {"frames", "checkpoints"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder / name, error)) {
      const std::string file = entry.path().filename().string();
      if (file.starts_with("frame_") || file.starts_with("colliders_") || file.starts_with("step_"))
        std::filesystem::remove(entry.path());
    }
    std::filesystem::remove(folder / name, error);  // only when empty
  }
}

/// Frames written after the checkpoint that a run goes on from.
void remove_frames_after(const std::filesystem::path& folder, std::int64_t frame) {
  std::error_code error;
  std::vector<std::filesystem::path> later;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "frames", error)) {
    long long number = 0;
    if (std::sscanf(entry.path().filename().c_str(), "frame_%lld", &number) == 1 && number > frame)
      later.push_back(entry.path());
  }
  for (const auto& file : later) std::filesystem::remove(file);
}

}  // namespace

ResultFolder::ResultFolder(std::filesystem::path folder, RunStart start, Simulation& simulation,
                           const std::function<void(const std::string&)>& notice)
    : folder_(std::move(folder)),
      simulation_(simulation),
      frames_(folder_, simulation.model(), simulation.scene().output.fields),
      colliders_(folder_, simulation.scene(), *simulation.model()),
      checkpoints_(folder_ / "checkpoints") {
  const bool used = in_use(folder_);
  if (start == RunStart::fresh && used)
    throw InputError(
        fmt::format("{} already holds files; continue that run with --resume, replace its results with --force, or "
                    "choose another folder with --out",
                    folder_.string()));
  if (start == RunStart::resume) {
    resume(notice);
  } else {
    if (used) remove_results(folder_);
    begin();
  }
}

void ResultFolder::begin() {
  std::filesystem::create_directories(folder_);
  log_ = StepLog::begin(folder_ / "steps.jsonl");
  write_frame(0);
}

void ResultFolder::resume(const std::function<void(const std::string&)>& notice) {
  std::optional<Checkpoint> checkpoint = checkpoints_.newest(notice);
  if (!checkpoint)
    throw InputError(
        fmt::format("{} has no usable checkpoint to resume from; start over with --force", folder_.string()));
  if (const Fingerprint& own = simulation_.fingerprint(); checkpoint->snapshot.fingerprint != own)
    throw InputError(fmt::format(
        "the checkpoint in {} belongs to another scene: {} differ; undo the change, or start over with --force",
        folder_.string(), checkpoint->snapshot.fingerprint.difference(own)));
  StepHistory history;
  log_ = StepLog::resume(folder_ / "steps.jsonl", checkpoint->snapshot.state.step, history);
  simulation_.restore(checkpoint->snapshot);
  frames_.set_model(simulation_.model());
  totals_ = std::move(history.totals);
  frames_.add_existing(0, 0);
  colliders_.add_existing(0, 0);
  const std::int64_t every = simulation_.scene().output.every, last = simulation_.state()->step;
  for (std::int64_t step = every; step <= last; step += every) {
    const double time = history.times[static_cast<std::size_t>(step - 1)];
    frames_.add_existing(step / every, time);
    colliders_.add_existing(step / every, time);
  }
  frames_.add_not_finite(checkpoint->not_finite);
  remove_frames_after(folder_, last / every);
}

void ResultFolder::follow_cut() { frames_.set_model(simulation_.model()); }

void ResultFolder::add_report(std::int64_t step, double time, const StepReport& report) {
  log_->append(step_line(step, time, report));
  totals_.add(report);
}

void ResultFolder::write_frame(std::int64_t number) {
  const Stepper& stepper = simulation_.stepper();
  frames_.write(number, *simulation_.state(), stepper.element_values(), stepper.node_values());
  colliders_.write(number, simulation_.state()->time);
}

void ResultFolder::add_state() {
  const State& state = *simulation_.state();
  const SceneOutput& output = simulation_.scene().output;
  if (state.step % output.every == 0) write_frame(state.step / output.every);
  if (output.checkpoint_every > 0 && state.step % output.checkpoint_every == 0) save();
}

void ResultFolder::save() {
  // First what the checkpoint counts on, then the checkpoint.
  log_->flush_to_disk();
  frames_.write_list();
  colliders_.write_list();
  checkpoints_.write({simulation_.snapshot(), frames_.not_finite()});
}

void ResultFolder::add_last_frame() {
  const std::int64_t step = simulation_.state()->step, every = simulation_.scene().output.every;
  if (step % every != 0) write_frame(step / every + 1);
}

void ResultFolder::draw() const { draw_run(RecordedRun(folder_), simulation_.scene().picture, folder_); }

}  // namespace pliant
