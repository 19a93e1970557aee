#include "pliant/io/run.hpp"

#include <fmt/format.h>

#include <chrono>

#include "pliant/base/error.hpp"
#include "pliant/io/animation/export.hpp"
#include "pliant/io/doubts.hpp"
#include "pliant/io/summary.hpp"
#include "pliant/sim/sharing.hpp"

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

/// Sums over all processes, for each body of the scene.
std::vector<BodyFigures> figures_of_bodies(const Scene& scene, const Model& part, const State& state) {
  std::vector<BodyFigures> figures(scene.bodies.size());
  for (std::size_t b = 0; b < figures.size(); ++b) {
    double sums[5] = {0, 0, 0, 0, 0};
    for (const Body& body : part.bodies()) {
      if (body.name != scene.bodies[b].name) continue;
      for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
        const double counts = part.sharing()->owned()[at(i)];
        if (at(i - body.nodes.begin) < body.vertices().size()) sums[0] += counts;
        sums[2] += counts;
      }
      sums[1] += body.elements->element_count();
      sums[3] += body.mass();
      sums[4] += body.elastic->count_inverted(state.x);
    }
    part.sharing()->sum(sums);
    figures[b] = {sums[0], sums[1], sums[2], sums[3], sums[4]};
  }
  return figures;
}

}  // namespace

RunResult run(Simulation& simulation, const RunOptions& options, RunObserver& observer) {
  const auto begin = std::chrono::steady_clock::now();
  const Scene& scene = simulation.scene();
  Sharing* sharing = simulation.model()->sharing();
  RunResult result;
  result.steps = options.last_step.value_or(scene.steps);
  const std::unique_ptr<ResultFolder> folder = open_folder(simulation, options, observer);
  result.first_step = simulation.state()->step;
  observer.on_start(*simulation.model(), *simulation.state(), result.steps);
  Doubts doubts([&](const std::string& why) { observer.on_notice(why); });
  if (folder) doubts.add_failed_steps(folder->totals().failed_steps);

  // Cuts make another model and another state: those of the scene, and those that an observer makes or undoes.
  std::shared_ptr<const Model> model = simulation.model();
  const auto follow_cuts = [&] {
    if (simulation.model() == model) return;
    model = simulation.model();
    if (folder) folder->follow_cut();
  };
  while (simulation.state()->step < result.steps) {
    simulation.make_due_cuts();
    follow_cuts();
    const std::shared_ptr<const State> kept = simulation.state();
    const State& state = *kept;
    const std::int64_t step = state.step + 1;
    const double time = state.time + scene.dt;
    observer.before_step(time);
    doubts.before_step(model, state, result.steps);
    const StepReport report = simulation.step(options.control);
    if (report.outcome == Outcome::interrupted) {
      result.end = RunEnd::interrupted;
      result.last_report = report;
      break;
    }
    const bool good = simulation.took(report);
    result.totals.add(report);
    if (folder) folder->add_report(step, time, report);
    if (folder && good) folder->add_state();
    observer.on_step(state, report);
    if (good) doubts.after_step(*model, state, report);
    if (!good) {
      result.end = RunEnd::failed;
      result.last_report = report;
      break;
    }
    bool is_asked = observer.wants_stop() || (options.control && options.control->stop_requested());
    if (sharing) is_asked = sharing->agree(is_asked);
    if (simulation.state()->step < result.steps && is_asked) {
      result.end = RunEnd::interrupted;
      break;
    }
  }

  follow_cuts();
  const State& state = *simulation.state();
  doubts.at_end(*simulation.model(), state);
  if (result.end == RunEnd::finished) doubts.judge(scene.solver, scene.dt);
  result.last_step = doubts.last_step();
  result.doubts = doubts.texts();
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
  if (sharing) {
    result.bodies = figures_of_bodies(scene, *simulation.model(), state);
    if (options.processes) result.processes = options.processes();
  }
  if (!folder || (sharing && !sharing->is_first())) return result;
  write_summary(folder->path() / "summary.json", scene, *simulation.model(), result);
  // Pictures and exports are made from what is on the disk, as anyone could make them later.
  if (scene.output.pictures && result.last_report.outcome != Outcome::interrupted) {
    observer.on_drawing();
    // A run that succeeded does not fail by its pictures.
    try {
      folder->draw();
    } catch (const std::exception& error) {
      observer.on_notice(fmt::format("the pictures could not be drawn: {}", error.what()));
    }
  }
  for (const std::string& format : scene.output.exports) {
    ExportOptions as{.format = format};
    as.animation.visual = scene.output.visual;
    as.animation.every = scene.output.export_every;
    as.animation.colour = scene.output.export_colour;
    try {
      export_run(folder->path(), as);
    } catch (const std::exception& error) {
      observer.on_notice(fmt::format("{} could not be exported: {}", format, error.what()));
      result.failed_exports.push_back(format);
    }
  }
  return result;
}

}  // namespace pliant
