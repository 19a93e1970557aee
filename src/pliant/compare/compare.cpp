#include "pliant/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "pliant/base/error.hpp"
#include "pliant/base/parse_number.hpp"
#include "pliant/compare/effort.hpp"
#include "pliant/contact/aabb.hpp"

namespace pliant {

namespace {

/// Thrown nowhere but here, to leave all loops when a person has had enough.
struct Stopped {};

class Teller {
 public:
  Teller(const CompareProgress& progress, int of) : progress_(progress), of_(of) {}
  void next(const std::string& what) {
    ++number_;
    if (progress_ && !progress_(what, number_, of_)) throw Stopped();
  }

 private:
  const CompareProgress& progress_;
  int of_;
  int number_ = 0;
};

SceneComparison begin_comparison(const BuiltScene& built, double budget) {
  SceneComparison comparison;
  comparison.scene = built.scene.name;
  comparison.title = built.scene.title;
  comparison.dt = built.scene.dt;
  comparison.budget = budget;
  comparison.as_given = built.scene;
  Aabb box;
  for (Index i = 0; i < built.model->nodes(); ++i) box.include(node(built.model->rest(), i));
  comparison.size = (box.max - box.min).norm();
  return comparison;
}

BuiltScene with_solver(const BuiltScene& built, const std::string& name, ParameterMap parameters) {
  BuiltScene other = built;
  other.scene.solver.name = name;
  other.scene.solver.parameters = std::move(parameters);
  return other;
}

/// The reference's parameters, as the scene gives them; or what is wrong with it, before anything has run.
SceneSolver reference_for(const BuiltScene& built, const std::filesystem::path& path, const SceneChanges& changes,
                          const std::string& name) {
  try {
    find_solver(name);
  } catch (const InputError& error) {
    throw InputError(fmt::format("--reference: {}", error.what()));
  }
  for (const SolverFit& fit : solver_fits(*built.model, demands_of(built.scene)))
    if (fit.solver->name == name && !fit.fits())
      throw InputError(fmt::format("--reference: {} cannot run the scene: {}; take one of {}", name, fit.reason(),
                                   list_fitting(*built.model, demands_of(built.scene))));
  return load_scene(path, {changes.set, name == built.scene.solver.name ? changes.solver : name}).solver;
}

/// The converged reference of a scene, and its positions.
Trial run_reference(const BuiltScene& built, const SceneSolver& solver, const TrialOptions& options,
                    Trajectory& trajectory) {
  TrialOptions own = options;
  own.record = &trajectory;
  const SolverEntry& entry = find_solver(solver.name);
  Trial trial = run_trial(with_solver(built, solver.name, converged_parameters(entry, solver.parameters)), own);
  trial.setting = "reference";
  if (!trial.finished)
    throw InputError(fmt::format("the reference, {}, does not finish ({}); take another with --reference", solver.name,
                                 trial.detail));
  for (std::size_t k = 0; k < trial.series.distance.size(); ++k)
    trial.series.distance[k] = trial.series.largest_distance[k] = 0;
  return trial;
}

EffortCurve run_curve(const BuiltScene& built, const TrialOptions& options, Teller& teller) {
  const SceneSolver& solver = built.scene.solver;
  const SolverEntry& entry = find_solver(solver.name);
  const Effort effort = effort_of(entry);
  EffortCurve curve{solver.name, effort.parameter, {}};
  for (double value : effort.values) {
    ParameterMap parameters = solver.parameters;
    ParameterValue& chosen = parameters[effort.parameter];
    chosen = std::holds_alternative<std::int64_t>(chosen) ? ParameterValue(static_cast<std::int64_t>(value))
                                                          : ParameterValue(value);
    teller.next(fmt::format("{}, {} = {:.4g}", solver.name, effort.parameter, value));
    Trial trial = run_trial(with_solver(built, solver.name, std::move(parameters)), options);
    trial.setting = fmt::format("{} = {:.4g}", effort.parameter, value);
    trial.effort = value;
    curve.trials.push_back(std::move(trial));
  }
  return curve;
}

}  // namespace

const Trial* best_within(const EffortCurve& curve, double budget) {
  const Trial* best = nullptr;
  for (const Trial& trial : curve.trials)
    if (trial.finished && trial.median_milliseconds() <= budget && (!best || trial.error() < best->error()))
      best = &trial;
  return best;
}

SceneComparison compare_solvers(const std::filesystem::path& path, const SceneChanges& changes,
                                const CompareOptions& options, const CompareProgress& progress) {
  Scene common = load_scene(path, changes);
  make_links_rigid(common);  // all solvers run one model
  const BuiltScene built = build_scene(std::move(common));
  SceneComparison comparison = begin_comparison(built, options.budget);
  // Each solver gets the scene as the file would give it to it: with the parameters that it knows, and defaults.
  std::vector<std::pair<std::string, Scene>> running;
  const auto scene_under = [&](const std::string& name) {
    return load_scene(path, {changes.set, name == built.scene.solver.name ? changes.solver : name});
  };
  std::vector<std::string> names = options.solvers;
  if (names.empty())
    for (const SolverEntry& entry : solver_catalogue()) names.push_back(entry.name);
  const std::vector<SolverFit> fits = solver_fits(*built.model, demands_of(built.scene));
  for (const std::string& name : names) {
    find_solver(name);  // or else an error with the nearest
    const auto fit = std::find_if(fits.begin(), fits.end(), [&](const SolverFit& f) { return f.solver->name == name; });
    if (!fit->fits())
      comparison.refused.emplace_back(name, fit->reason());
    else
      running.emplace_back(name, scene_under(name));
  }
  if (running.empty())
    throw InputError(fmt::format("none of these solvers can run the scene; {} could", list_fitting(*built.model)));
  const SceneSolver reference = reference_for(built, path, changes, options.reference);
  int count = 1;
  for (const auto& [name, scene] : running)
    count += 1 + (options.curves ? static_cast<int>(effort_of(find_solver(name)).values.size()) : 0);
  Teller teller(progress, count);
  TrialOptions trial;
  trial.steps = options.steps > 0 ? options.steps : built.scene.steps;
  trial.moments = options.moments;
  try {
    Trajectory trajectory;
    teller.next(fmt::format("{}, the reference", options.reference));
    comparison.reference = run_reference(built, reference, trial, trajectory);
    trial.reference = &trajectory;
    for (const auto& [name, scene] : running) {
      teller.next(name);
      comparison.trials.push_back(run_trial(with_solver(built, name, scene.solver.parameters), trial));
    }
    if (!options.curves) return comparison;
    trial.moments = 0;
    for (std::size_t k = 0; k < running.size(); ++k) {
      const auto& [name, scene] = running[k];
      EffortCurve curve = run_curve(with_solver(built, name, scene.solver.parameters), trial, teller);
      if (curve.trials.empty()) {
        curve.trials.push_back(comparison.trials[k]);
        curve.trials.back().moments.clear();
      }
      comparison.curves.push_back(std::move(curve));
    }
  } catch (const Stopped&) {
    // What has been measured so far is told.
  }
  return comparison;
}

SceneComparison sweep_key(const std::filesystem::path& path, const SceneChanges& changes, const std::string& key,
                          const std::vector<std::string>& values, const CompareOptions& options,
                          const CompareProgress& progress) {
  Scene common = load_scene(path, changes);
  make_links_rigid(common);  // all solvers run one model
  const BuiltScene built = build_scene(std::move(common));
  SceneComparison comparison = begin_comparison(built, options.budget);
  comparison.swept = key;
  const bool of_solver = key.starts_with("solver.");
  std::vector<BuiltScene> scenes;  // all of them are checked before the first one runs
  for (const std::string& value : values) {
    SceneChanges with = changes;
    with.set.push_back(fmt::format("{}={}", key, value));
    scenes.push_back(build_scene(load_scene(path, with)));
  }
  std::optional<SceneSolver> reference;
  if (of_solver) reference = reference_for(built, path, changes, options.reference);
  Teller teller(progress, static_cast<int>(values.size()) + (of_solver ? 1 : 0));
  TrialOptions trial;
  trial.moments = options.moments;
  Trajectory trajectory;
  try {
    if (reference) {
      teller.next(fmt::format("{}, the reference", options.reference));
      trial.steps = options.steps > 0 ? options.steps : built.scene.steps;
      comparison.reference = run_reference(built, *reference, trial, trajectory);
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
      // As long as the scene as given, where the time step is what is swept.
      trial.steps = options.steps > 0
                        ? std::max<std::int64_t>(
                              1, std::llround(static_cast<double>(options.steps) * built.scene.dt / scenes[k].scene.dt))
                        : scenes[k].scene.steps;
      trial.record = !of_solver && k == 0 ? &trajectory : nullptr;
      trial.reference = !of_solver && k == 0 ? nullptr : &trajectory;
      teller.next(fmt::format("{} = {}", key, values[k]));
      Trial& done = comparison.trials.emplace_back(run_trial(std::move(scenes[k]), trial));
      done.setting = fmt::format("{} = {}", key, values[k]);
      done.effort = parse_number(values[k]);
    }
    if (!of_solver && !comparison.trials.empty()) comparison.reference = comparison.trials.front();
  } catch (const Stopped&) {
  }
  return comparison;
}

}  // namespace pliant
