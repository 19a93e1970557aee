#include "pliant/io/run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <functional>

#include "pliant/base/error.hpp"
#include "pliant/io/animation/export.hpp"
#include "pliant/io/summary.hpp"
#include "pliant/sim/judgement.hpp"

namespace pliant {

std::string_view to_string(RunEnd end) {
  switch (end) {
    case RunEnd::finished:
      return "finished";
    case RunEnd::failed:
      return "failed";
    case RunEnd::interrupted:
      return "interrupted";
  }
  return "unknown";
}

namespace {

/// The result folder of a run, with the simulation put where it goes on.
std::unique_ptr<ResultFolder> open_folder(Simulation& simulation, const RunOptions& options, RunObserver& observer) {
  if (options.folder.empty()) return nullptr;
  if (const std::int64_t taken = simulation.state()->step; options.start != RunStart::resume && taken > 0)
    throw InputError(fmt::format(
        "results are written from the first step on, but {} steps have been taken; write from the beginning, or resume",
        taken));
  return std::make_unique<ResultFolder>(options.folder, options.start, simulation,
                                        [&](const std::string& text) { observer.on_notice(text); });
}

/// Doubts about bodies that are as nobody wants to see them, though every step may have succeeded: once about one that
/// has grown beyond measure, and at the end about elements that are inverted.
class BodyWatch {
 public:
  using Doubt = std::function<void(std::string)>;
  explicit BodyWatch(Doubt doubt) : doubt_(std::move(doubt)) {}
  void after_step(const Model& model, const State& state) {
    constexpr double kMuch = 10;
    if (told_) return;
    const Growth growth = largest_growth(model, state.x);
    if (!(growth.times > kMuch)) return;
    told_ = true;
    doubt_(fmt::format(
        "by step {} (t = {:.4g} s) body '{}' has grown to {:.3g} times its size at rest: loads, scripts or gravity "
        "pull more than its material holds, or the time step is too large for the solver",
        state.step, state.time, model.bodies()[growth.body].name, growth.times));
  }
  void at_end(const Model& model, const State& state) {
    for (const Body& body : model.bodies())
      if (const Index count = body.elastic ? body.elastic->count_inverted(state.x) : 0; count > 0)
        doubt_(fmt::format(
            "{} of {} elements of body '{}' are inverted at the end: smaller time steps, a stiffer material "
            "or a law that resists it (neo-hookean) may help",
            count, body.elements->element_count(), body.name));
  }

 private:
  Doubt doubt_;
  bool told_ = false;
};

std::string describe(const LastStep& last, const Scene& scene) {
  std::string more;
  if (const auto found = scene.solver.parameters.find("iterations"); found != scene.solver.parameters.end())
    if (const auto* count = std::get_if<std::int64_t>(&found->second))
      more = fmt::format(", or --set solver.iterations={}", 10 * *count);
  return fmt::format(
      "the last step ended {:.2g} m from its solution, in which nothing moves by more than {:.2g} m: {} does not "
      "keep up with this scene. Try smaller time steps, --solver pod-newton{}",
      last.distance, last.motion, scene.solver.name, more);
}

}  // namespace

RunResult run(Simulation& simulation, const RunOptions& options, RunObserver& observer) {
  const auto begin = std::chrono::steady_clock::now();
  const Scene& scene = simulation.scene();
  RunResult result;
  result.steps = options.last_step.value_or(scene.steps);
  const std::unique_ptr<ResultFolder> folder = open_folder(simulation, options, observer);
  result.first_step = simulation.state()->step;
  observer.on_start(*simulation.model(), *simulation.state(), result.steps);
  const auto doubt = [&](std::string why) {
    observer.on_notice(why);
    result.doubts.push_back(std::move(why));
  };
  BodyWatch watch(doubt);

  State before;  // the last step
  bool by_budget = false;
  while (simulation.state()->step < result.steps) {
    if (const std::vector<Index> origin = simulation.make_due_cuts(); !origin.empty() && folder) folder->follow_cut();
    const State& state = *simulation.state();
    const std::int64_t step = state.step + 1;
    const double time = state.time + scene.dt;
    observer.before_step(time);
    if (step == result.steps) before = state;
    const StepReport report = options.step ? options.step() : simulation.step(options.control);
    if (report.outcome == Outcome::interrupted) {
      result.end = RunEnd::interrupted;
      result.last_report = report;
      break;
    }
    const bool good = simulation.took(report);
    by_budget = report.outcome == Outcome::budget_spent;
    result.totals.add(report);
    if (folder) folder->add_report(step, time, report);
    if (folder && good) folder->add_state();
    observer.on_step(state, report);
    if (good) watch.after_step(*simulation.model(), state);
    if (!good) {
      result.end = RunEnd::failed;
      result.last_report = report;
      break;
    }
    const bool is_asked = observer.wants_stop() || (options.control && options.control->stop_requested());
    if (state.step < result.steps && is_asked) {
      result.end = RunEnd::interrupted;
      break;
    }
  }

  const State& state = *simulation.state();
  watch.at_end(*simulation.model(), state);
  if (result.end == RunEnd::finished && by_budget) {
    result.last_step = judge_last_step(scene, simulation.model(), before, state);
    if (result.last_step && result.last_step->is_far) doubt(describe(*result.last_step, scene));
  }
  if (folder) {
    if (result.end == RunEnd::finished) folder->add_last_frame();
    const bool is_left = result.last_report.outcome == Outcome::interrupted;
    if (!is_left) folder->save();
    result.saved_step = is_left ? folder->leave() : state.step;
    folder->finish();
    result.totals = folder->totals();
    result.not_finite = folder->not_finite();
    if (result.not_finite > 0)
      observer.on_notice(
          fmt::format("frames: {} values that were not finite were written as 0; where elements are "
                      "squeezed flat or inverted, some laws have no stress",
                      result.not_finite));
  }
  result.state = state;
  result.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!folder) return result;
  write_summary(folder->path() / "summary.json", scene, *simulation.model(), result);
  // Pictures and exports are made from what is on the disk, as anyone could make them later.
  if (scene.output.pictures && result.last_report.outcome != Outcome::interrupted) {
    observer.on_drawing();
    folder->draw();
  }
  for (const std::string& format : scene.output.exports) {
    ExportOptions options{.format = format};
    options.animation.visual = scene.output.visual;
    export_run(folder->path(), options);
  }
  return result;
}

}  // namespace pliant
