#include "pliant/io/run.hpp"

#include <chrono>

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

RunResult run_scene(const Scene& scene, const RunOptions& options, RunObserver& observer) {
  const auto begin = std::chrono::steady_clock::now();
  const std::shared_ptr<const Model> model = build_model(scene);
  State state = model->rest_state();
  const std::unique_ptr<Stepper> stepper = make_stepper(scene, model);

  RunResult result;
  result.steps = options.frames ? *options.frames * scene.output.every : scene.steps;
  ResultFolder folder(options.folder, options.start, scene, model, result.steps, state,
                      [&](const std::string& text) { observer.on_notice(text); });
  result.first_step = state.step;
  observer.on_start(*model, state, result.steps);

  State next = state;
  while (state.step < result.steps) {
    const StepReport report = stepper->step(next, scene.dt);
    const bool good = report.succeeded() || (report.advanced() && scene.solver.on_failure == OnFailure::proceed);
    folder.add_report(state.step + 1, state.time + scene.dt, report);
    if (good) {
      state = next;
      folder.add_state(state);
    }
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

  if (result.end == RunEnd::finished) folder.add_last_frame(state);
  folder.save(state);
  if (scene.output.pictures) {
    observer.on_drawing();
    folder.draw(state);
  }
  result.totals = folder.totals();
  result.state = std::move(state);
  result.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  write_summary(folder.path() / "summary.json", scene, *model, result);
  return result;
}

}  // namespace pliant
