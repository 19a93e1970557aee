#include "pliant/io/result_folder.hpp"

#include <fmt/format.h>

#include <list>

#include "pliant/base/error.hpp"
#include "pliant/io/animation/draw.hpp"
#include "pliant/io/probe_table.hpp"
#include "pliant/sim/sharing.hpp"

namespace pliant {

namespace {

constexpr auto kLongestUnsaved = std::chrono::seconds(5);

bool in_use(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return false;
  if (!std::filesystem::is_directory(folder, error))
    throw InputError(fmt::format("{} is a file, not a folder; choose another with --out", folder.string()));
  return !std::filesystem::is_empty(folder, error);
}

/// Removes what runs write, and nothing else: the folder may hold a person's own files.
void remove_results(const std::filesystem::path& folder) {
  for (const char* name : {"result.pvd", "colliders.pvd", "visual.pvd", "steps.jsonl", "probes.csv", "probes.svg",
                           "summary.json", "picture.png", "film.png"})
    std::filesystem::remove(folder / name);
  std::error_code error;
  for (const char* name : {"frames", "checkpoints"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder / name, error)) {
      const std::string file = entry.path().filename().string();
      if (file.starts_with("frame_") || file.starts_with("colliders_") || file.starts_with("visual_") ||
          file.starts_with("step_"))
        std::filesystem::remove(entry.path());
    }
    std::filesystem::remove(folder / name, error);  // only when empty
  }
}

/// What a killed run had begun to write (base/atomic_file.cpp).
void remove_drafts(const std::filesystem::path& folder) {
  std::error_code error;
  for (const std::filesystem::path& place : {folder, folder / "frames", folder / "checkpoints"}) {
    std::vector<std::filesystem::path> drafts;
    for (const auto& entry : std::filesystem::directory_iterator(place, error)) {
      const std::string suffix = entry.path().extension().string();
      const bool is_draft = suffix.starts_with(".part") && suffix.size() > 5 &&
                            suffix.find_first_not_of("0123456789", 5) == std::string::npos;
      if (is_draft) drafts.push_back(entry.path());
    }
    for (const auto& draft : drafts) std::filesystem::remove(draft, error);
  }
}

/// Of each body of a part, among all of the scene.
std::vector<std::size_t> numbers_of_bodies(const Scene& scene, const Model& part) {
  std::vector<std::size_t> numbers;
  for (const Body& body : part.bodies())
    for (std::size_t b = 0; b < scene.bodies.size(); ++b)
      if (scene.bodies[b].name == body.name) numbers.push_back(b);
  return numbers;
}

/// Frames written after the checkpoint that a run goes on from.
void remove_frames_after(const std::filesystem::path& folder, std::int64_t frame) {
  std::error_code error;
  std::vector<std::filesystem::path> later;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "frames", error)) {
    long long number = 0;
    const std::filesystem::path name = entry.path().filename();
    const bool is_frame =
        std::sscanf(name.c_str(), "frame_%lld", &number) == 1 || std::sscanf(name.c_str(), "visual_%lld", &number) == 1;
    if (is_frame && number > frame) later.push_back(entry.path());
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
      visual_(folder_, simulation.scene(), *simulation.model()),
      checkpoints_(folder_ / "checkpoints"),
      sharing_(simulation.model()->sharing()) {
  if (sharing_) frames_.set_body_numbers(numbers_of_bodies(simulation.scene(), *simulation.model()));
  on_first([&] { open(start); });
  if (start == RunStart::resume)
    resume(notice);
  else
    begin();
}

void ResultFolder::on_first(const std::function<void()>& work) {
  if (sharing_)
    sharing_->on_first(work);
  else
    work();
}

void ResultFolder::open(RunStart start) {
  in_use(folder_);  // or it is a file
  if (start != RunStart::resume) std::filesystem::create_directories(folder_);
  if (std::filesystem::exists(folder_)) {
    lock_.emplace(folder_);
    remove_drafts(folder_);
  }
  const bool used = in_use(folder_);
  if (start == RunStart::fresh && used)
    throw InputError(
        fmt::format("{} already holds files; continue that run with --resume, replace its results with --force, or "
                    "choose another folder with --out",
                    folder_.string()));
  if (start != RunStart::resume && used) remove_results(folder_);
}

void ResultFolder::begin() {
  on_first([&] { log_ = StepLog::begin(folder_ / "steps.jsonl"); });
  probes_.emplace(ProbeLog::begin(folder_ / "probes.csv", simulation_));
  write_frame();
  if (simulation_.scene().output.checkpoint_every > 0) save();  // so that a run killed early can be resumed as well
}

void ResultFolder::resume(const std::function<void(const std::string&)>& notice) {
  std::optional<Checkpoint> checkpoint;
  on_first([&] {
    checkpoint = checkpoints_.newest(notice);
    if (!checkpoint)
      throw InputError(
          fmt::format("{} has no usable checkpoint to resume from; start over with --force", folder_.string()));
    if (const Fingerprint& own = simulation_.fingerprint(); checkpoint->snapshot.fingerprint != own)
      throw InputError(fmt::format(
          "the checkpoint in {} belongs to another scene: {} differ; undo the change, or start over with --force",
          folder_.string(), checkpoint->snapshot.fingerprint.difference(own)));
    visual_.check_existing();
    log_ = StepLog::resume(folder_ / "steps.jsonl", checkpoint->snapshot.state.step, totals_, notice);
  });
  if (!checkpoint) checkpoint.emplace();  // the first has it
  simulation_.restore(checkpoint->snapshot);
  probes_.emplace(ProbeLog::resume(folder_ / "probes.csv", simulation_, notice));
  frames_.set_model(simulation_.model());
  if (simulation_.cuts_made() > 0) visual_.follow(simulation_.scene(), *simulation_.model());
  frame_times_ = std::move(checkpoint->frames);
  share_frame_times();
  for (std::size_t k = 0; k < frame_times_.size(); ++k) {
    frames_.add_existing(static_cast<std::int64_t>(k), frame_times_[k]);
    colliders_.add_existing(static_cast<std::int64_t>(k), frame_times_[k]);
    visual_.add_existing(static_cast<std::int64_t>(k), frame_times_[k]);
  }
  frames_.add_not_finite(checkpoint->not_finite);
  on_first([&] { remove_frames_after(folder_, static_cast<std::int64_t>(frame_times_.size()) - 1); });
  saved_ = simulation_.state()->step;
}

/// From the first to all: frames are numbered by them.
void ResultFolder::share_frame_times() {
  if (!sharing_) return;
  auto count = static_cast<double>(frame_times_.size());
  sharing_->broadcast({&count, 1});
  frame_times_.resize(static_cast<std::size_t>(count));
  sharing_->broadcast(frame_times_);
}

void ResultFolder::follow_cut() {
  queue_.post([this, model = simulation_.model(), scene = simulation_.scene()] {
    frames_.set_model(model);
    visual_.follow(scene, *model);
  });
}

void ResultFolder::add_report(std::int64_t step, double time, const StepReport& report) {
  if (log_) log_->append(step_line(step, time, report));
  totals_.add(report);
}

/// The next one; how often they are due may change from one resume to the next.
void ResultFolder::write_frame() {
  // Copies: the next step has begun when they are written.
  struct Frame {
    State state;
    std::vector<ElementValues> elements;
    std::vector<NodeValues> nodes;
    std::list<std::vector<double>> values;
  };
  const Stepper& stepper = simulation_.stepper();
  auto frame =
      std::make_shared<Frame>(Frame{*simulation_.state(), stepper.element_values(), stepper.node_values(), {}});
  const auto keep = [&](std::span<const double>& values) {
    values = frame->values.emplace_back(values.begin(), values.end());
  };
  for (ElementValues& field : frame->elements) keep(field.values);
  for (NodeValues& field : frame->nodes) keep(field.values);
  queue_.post([this, number = static_cast<std::int64_t>(frame_times_.size()), frame] {
    frames_.write(number, frame->state, frame->elements, frame->nodes);
    if (!is_first()) return;
    colliders_.write(number, frame->state.time);
    visual_.write(number, frame->state.time, frame->state.x);
  });
  frame_times_.push_back(simulation_.state()->time);
}

void ResultFolder::add_state() {
  const State& state = *simulation_.state();
  const SceneOutput& output = simulation_.scene().output;
  if (probes_) probes_->add_state();
  if (state.step % output.every == 0) write_frame();
  if (output.checkpoint_every == 0) return;
  // Where steps take long, so many of them would be much to lose.
  const bool is_long_ago = std::chrono::steady_clock::now() - saved_at_ > kLongestUnsaved;
  const bool is_due = state.step % output.checkpoint_every == 0 || is_long_ago;
  if (sharing_ ? sharing_->agree(is_due) : is_due) save();
}

void ResultFolder::write_lists() {
  if (!is_first()) return;
  log_->flush_to_disk();
  if (probes_) probes_->flush_to_disk();
  frames_.write_list();
  colliders_.write_list();
  visual_.write_list();
}

void ResultFolder::save() {
  if (sharing_)
    queue_.wait();  // or a process might still be writing its piece of a frame that the checkpoint counts on
  auto checkpoint = std::make_shared<Checkpoint>(Checkpoint{simulation_.snapshot(), 0, frame_times_});
  if (is_first())
    queue_.post([this, checkpoint] {
      write_lists();  // what the checkpoint counts on
      checkpoint->not_finite = frames_.not_finite();
      checkpoints_.write(*checkpoint);
    });
  saved_ = simulation_.state()->step;
  saved_at_ = std::chrono::steady_clock::now();
}

std::optional<std::int64_t> ResultFolder::leave() {
  queue_.post([this] { write_lists(); });
  queue_.wait();
  return saved_;
}

void ResultFolder::add_last_frame() {
  if (simulation_.state()->step % simulation_.scene().output.every == 0) return;
  write_frame();
  frame_times_.pop_back();  // a run that goes on beyond this step has none here
}

void ResultFolder::draw() const {
  const std::int64_t work = simulation_.state()->step * simulation_.model()->nodes();
  draw_run(RecordedRun(folder_), suited_to(work, simulation_.scene().picture), folder_);
  if (!simulation_.scene().probes.empty()) plot_probes(folder_ / "probes.csv", folder_ / "probes.svg");
}

}  // namespace pliant
