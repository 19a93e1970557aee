#include "pliant/io/result_folder.hpp"

#include <fmt/format.h>

#include "pliant/base/error.hpp"

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
  for (const char* name : {"result.pvd", "steps.jsonl", "summary.json", "picture.png", "film.png"})
    std::filesystem::remove(folder / name);
  std::error_code error;
  for (const char* name : {"frames", "checkpoints"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder / name, error)) {
      const std::string file = entry.path().filename().string();
      if (file.starts_with("frame_") || file.starts_with("step_")) std::filesystem::remove(entry.path());
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

ResultFolder::ResultFolder(std::filesystem::path folder, RunStart start, const Scene& scene,
                           std::shared_ptr<const Model> model, std::int64_t steps, State& state, const Stepper& stepper,
                           const std::function<void(const std::string&)>& notice)
    : folder_(std::move(folder)),
      scene_(scene),
      model_(std::move(model)),
      fingerprint_(fingerprint(scene, *model_)),
      frames_(folder_, model_, scene.output.fields),
      checkpoints_(folder_ / "checkpoints"),
      film_(steps) {
  const bool used = in_use(folder_);
  if (start == RunStart::fresh && used)
    throw InputError(
        fmt::format("{} already holds files; continue that run with --resume, replace its results with --force, or "
                    "choose another folder with --out",
                    folder_.string()));
  if (start == RunStart::resume) {
    resume(state, notice);
  } else {
    if (used) remove_results(folder_);
    begin(state, stepper);
  }
}

void ResultFolder::begin(const State& state, const Stepper& stepper) {
  std::filesystem::create_directories(folder_);
  log_ = StepLog::begin(folder_ / "steps.jsonl");
  film_.visit(state);
  frames_.write(0, state, stepper.element_values(), stepper.node_values());
}

void ResultFolder::resume(State& state, const std::function<void(const std::string&)>& notice) {
  std::optional<Checkpoint> checkpoint = checkpoints_.newest(notice);
  if (!checkpoint)
    throw InputError(
        fmt::format("{} has no usable checkpoint to resume from; start anew with --force", folder_.string()));
  if (checkpoint->snapshot.fingerprint != fingerprint_)
    throw InputError(fmt::format(
        "the checkpoint in {} belongs to another scene: {} differ; undo the change, or start anew with --force",
        folder_.string(), checkpoint->snapshot.fingerprint.difference(fingerprint_)));
  StepHistory history;
  log_ = StepLog::resume(folder_ / "steps.jsonl", checkpoint->snapshot.state.step, history);
  state = std::move(checkpoint->snapshot.state);
  memory_ = std::move(checkpoint->snapshot.memory);
  film_.restore(std::move(checkpoint->film));
  totals_ = std::move(history.totals);
  frames_.add_existing(0, 0);
  const std::int64_t every = scene_.output.every;
  for (std::int64_t step = every; step <= state.step; step += every)
    frames_.add_existing(step / every, history.times[static_cast<std::size_t>(step - 1)]);
  remove_frames_after(folder_, state.step / every);
}

void ResultFolder::set_model(std::shared_ptr<const Model> model) {
  frames_.set_model(model);
  model_ = std::move(model);
}

void ResultFolder::follow_cut(std::shared_ptr<const Model> model, std::span<const Index> origin) {
  set_model(std::move(model));
  film_.renumber(origin);
}

void ResultFolder::add_report(std::int64_t step, double time, const StepReport& report) {
  log_->append(step_line(step, time, report));
  totals_.add(report);
}

void ResultFolder::add_state(const State& state, const Stepper& stepper) {
  film_.visit(state);
  if (state.step % scene_.output.every == 0)
    frames_.write(state.step / scene_.output.every, state, stepper.element_values(), stepper.node_values());
  if (scene_.output.checkpoint_every > 0 && state.step % scene_.output.checkpoint_every == 0) save(state, stepper);
}

void ResultFolder::save(const State& state, const Stepper& stepper) {
  // First what the checkpoint counts on, then the checkpoint.
  log_->flush_to_disk();
  frames_.write_list();
  checkpoints_.write({{fingerprint_, state, stepper.memory()}, film_.frames()});
}

void ResultFolder::add_last_frame(const State& state, const Stepper& stepper) {
  if (state.step % scene_.output.every != 0)
    frames_.write(state.step / scene_.output.every + 1, state, stepper.element_values(), stepper.node_values());
}

void ResultFolder::draw(const State& last) const { draw_pictures(folder_, *model_, film_.frames(), last); }

}  // namespace pliant
