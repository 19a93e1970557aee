#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "pliant/base/stopwatch.hpp"
#include "pliant/compare/trial.hpp"

namespace pliant {

struct CompareOptions {
  std::vector<std::string> solvers;      ///< empty: every one there is
  std::string reference = "pod-newton";  ///< run until it has converged as far as rounding lets it
  std::int64_t steps = 0;                ///< 0: as the scene says
  double budget = 0;                     ///< ms a step; 0: none
  bool curves = true;                    ///< sweeps the effort of each solver
  int moments = 16;                      ///< of each solver, to be drawn as a film
};

/// Error against time as a solver is given more or less work.
struct EffortCurve {
  std::string solver;
  std::string parameter;      ///< what was swept; empty: it has nothing to sweep, and one trial stands alone
  std::vector<Trial> trials;  ///< in the order of effort, without series of positions
};

/// One scene under several solvers, or under several values of a key, against a converged reference.
struct SceneComparison {
  std::string scene, title;
  double dt = 0;    ///< s
  double size = 0;  ///< diagonal of the bodies' box at rest, m
  Scene as_given;
  Trial reference;
  std::vector<Trial> trials;
  std::vector<std::pair<std::string, std::string>> refused;  ///< solvers that cannot run the scene, and why
  std::vector<EffortCurve> curves;
  double budget = 0;
  std::string swept;                 ///< the key, of a sweep; empty: solvers are compared
  StageClock clock = stage_clock();  ///< that steps were timed by
};

/// Told what comes next: "quasi-newton, iterations = 5", and how many of how many. Returns false to end.
using CompareProgress = std::function<bool(const std::string& what, int number, int of)>;

/// Runs a scene file under each solver. Throws InputError for a bad scene, for solvers that do not exist, where none
/// can run the scene, and where the reference fails.
SceneComparison compare_solvers(const std::filesystem::path& scene, const SceneChanges& changes,
                                const CompareOptions& options, const CompareProgress& progress = nullptr);

/// Runs a scene file with each of the values of a key, under its own solver. Where the key belongs to the solver, the
/// distances are to a converged reference; elsewhere each value has another scene, and distances are to the first.
SceneComparison sweep_key(const std::filesystem::path& scene, const SceneChanges& changes, const std::string& key,
                          const std::vector<std::string>& values, const CompareOptions& options,
                          const CompareProgress& progress = nullptr);

/// The trial of a solver's curve with the least error within the budget; null where none keeps it.
const Trial* best_within(const EffortCurve& curve, double budget);

/// The table of a comparison: the names of its columns, and the cells of a trial or of the reference.
std::vector<std::string> comparison_columns(const SceneComparison& comparison);
std::vector<std::string> comparison_row(const SceneComparison& comparison, const Trial& trial);

/// A table for people; everything for programs; and a page with curves, plots and pictures, in one file without links.
std::string to_text(const SceneComparison& comparison);
std::string to_json_text(const SceneComparison& comparison);
std::string to_html(const SceneComparison& comparison);

}  // namespace pliant
