#include "pliant/io/run.hpp"

#include <fmt/format.h>

#include <chrono>

#include "pliant/base/error.hpp"
#include "pliant/io/summary.hpp"

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
std::unique_ptr<ResultFolder> open_folder(Simulation& simulation, const RunOptions& options, std::int64_t steps,
                                          RunObserver& observer) {
  if (options.folder.empty()) return nullptr;
  State state = *simulation.state();
  if (options.start != RunStart::resume && state.step > 0)
    throw InputError(fmt::format(
        "results are written from the first step on, but {} steps have been taken; write from the beginning, or resume",
        state.step));
  auto folder = std::make_unique<ResultFolder>(options.folder, options.start, simulation.scene(), simulation.model(),
                                               steps, state, simulation.stepper(),
                                               [&](const std::string& text) { observer.on_notice(text); });
  simulation.set_state(state);
  if (options.start == RunStart::resume) simulation.stepper().recall(folder->stepper_memory());
  folder->set_model(simulation.model());
  return folder;
}

}  // namespace

RunResult run(Simulation& simulation, const RunOptions& options, RunObserver& observer) {
  const auto begin = std::chrono::steady_clock::now();
  const Scene& scene = simulation.scene();
  RunResult result;
  result.steps = options.last_step.value_or(scene.steps);
  const std::unique_ptr<ResultFolder> folder = open_folder(simulation, options, result.steps, observer);
  result.first_step = simulation.state()->step;
  observer.on_start(*simulation.model(), *simulation.state(), result.steps);

  while (simulation.state()->step < result.steps) {
    if (const std::vector<Index> origin = simulation.make_due_cuts(); !origin.empty() && folder)
      folder->follow_cut(simulation.model(), origin);
    const State& state = *simulation.state();
    const std::int64_t step = state.step + 1;
    const double time = state.time + scene.dt;
    observer.before_step(time);
    const StepReport report = simulation.step();
    const bool good = simulation.took(report);
    result.totals.add(report);
    if (folder) folder->add_report(step, time, report);
    if (folder && good) folder->add_state(state, simulation.stepper());
    observer.on_step(state, report);
    if (!good) {
      result.end = RunEnd::failed;
      result.last_report = report;
      break;
    }
    if (state.step < result.steps && observer.wants_stop()) {
      result.end = RunEnd::interrupted;
      break;
    }
  }

  const State& state = *simulation.state();
  if (folder) {
    if (result.end == RunEnd::finished) folder->add_last_frame(state, simulation.stepper());
    folder->save(state, simulation.stepper());
    if (scene.output.pictures) {
      observer.on_drawing();
      folder->draw(state);
    }
    result.totals = folder->totals();
  }
  result.state = state;
  result.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (folder) write_summary(folder->path() / "summary.json", scene, *simulation.model(), result);
  return result;
}

}  // namespace pliant
