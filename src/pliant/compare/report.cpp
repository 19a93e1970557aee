#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "pliant/compare/compare.hpp"
#include "pliant/io/build_info.hpp"

namespace pliant {

namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (double value : values) list.push_back(number(value));
  return list;
}

Json trial_json(const Trial& trial, bool with_series) {
  Json json = {{"solver", trial.solver},
               {"setting", trial.setting},
               {"effort", trial.effort ? number(*trial.effort) : Json(nullptr)},
               {"finished", trial.finished},
               {"detail", trial.detail},
               {"steps", trial.taken()},
               {"of_steps", trial.steps},
               {"newton_steps", trial.newton_steps},
               {"median_milliseconds", number(trial.median_milliseconds())},
               {"mean_iterations", number(trial.mean_iterations())},
               {"error", number(trial.error())}};
  if (!with_series) return json;
  const TrialSeries& s = trial.series;
  json["series"] = {{"time", numbers(s.time)},
                    {"milliseconds", numbers(s.milliseconds)},
                    {"iterations", numbers(s.iterations)},
                    {"force", numbers(s.force)},
                    {"acceleration", numbers(s.acceleration)},
                    {"distance", numbers(s.distance)},
                    {"largest_distance", numbers(s.largest_distance)},
                    {"kinetic", numbers(s.kinetic)},
                    {"elastic", numbers(s.elastic)},
                    {"external", numbers(s.external)},
                    {"total", numbers(s.total)},
                    {"momentum", numbers(s.momentum)},
                    {"angular_momentum", numbers(s.angular_momentum)},
                    {"gap", numbers(s.gap)}};
  return json;
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (double v : values) largest = std::isnan(v) ? v : std::max(largest, v);
  return largest;
}

double smallest_of(const std::vector<double>& values) {
  double smallest = std::numeric_limits<double>::infinity();
  for (double v : values) smallest = std::min(smallest, v);
  return smallest;
}

std::string metres(double m) {
  if (!std::isfinite(m)) return "-";
  if (m == 0) return "0";
  for (const auto& [unit, name] : {std::pair(1.0, "m"), std::pair(1e-3, "mm"), std::pair(1e-6, "um"),
                                   std::pair(1e-9, "nm"), std::pair(1e-12, "pm")})
    if (m >= 0.9995 * unit) return fmt::format("{:.3g} {}", m / unit, name);
  return fmt::format("{:.2g} m", m);
}

/// Whether surfaces of any run came near each other.
bool has_gaps(const SceneComparison& comparison) {
  return std::any_of(comparison.trials.begin(), comparison.trials.end(),
                     [](const Trial& trial) { return std::isfinite(smallest_of(trial.series.gap)); });
}

/// Whether steps of any solver were ended by Newton's method: what it then shows is not all its own.
bool needs_newton(const SceneComparison& comparison) {
  return std::any_of(comparison.trials.begin(), comparison.trials.end(),
                     [](const Trial& trial) { return trial.newton_steps > 0; });
}

}  // namespace

std::vector<std::string> comparison_columns(const SceneComparison& comparison) {
  std::vector<std::string> columns = {comparison.swept.empty() ? "solver" : comparison.swept,
                                      "ms a step",
                                      "iterations",
                                      "acceleration error, m/s^2",
                                      "distance, rms",
                                      "at the end",
                                      "farthest node",
                                      "energy at the end, J",
                                      "momentum, kg m/s"};
  if (has_gaps(comparison)) columns.emplace_back("smallest gap");
  if (needs_newton(comparison)) columns.emplace_back("steps by Newton");
  if (comparison.budget > 0) columns.push_back(fmt::format("best within {:.4g} ms", comparison.budget));
  return columns;
}

std::vector<std::string> comparison_row(const SceneComparison& comparison, const Trial& trial) {
  const TrialSeries& s = trial.series;
  std::string name = comparison.swept.empty() ? trial.solver : trial.setting.substr(trial.setting.find("= ") + 2);
  if (&trial == &comparison.reference) name = trial.solver + " (reference)";
  std::vector<std::string> row = {
      name,
      fmt::format("{:.3g}", trial.median_milliseconds()),
      fmt::format("{:.1f}", trial.mean_iterations()),
      fmt::format("{:.2g}", largest_of(s.acceleration)),
      metres(trial.error()),
      s.distance.empty() ? "-" : metres(s.distance.back()),
      metres(largest_of(s.largest_distance)),
      s.total.empty() ? "-" : fmt::format("{:.4g}", s.total.back()),
      s.momentum.empty() || std::isnan(s.momentum.back()) ? "-" : fmt::format("{:.3g}", s.momentum.back())};
  if (has_gaps(comparison)) row.push_back(metres(smallest_of(s.gap)));
  if (needs_newton(comparison)) {
    const std::int64_t n = trial.newton_steps;
    row.push_back(n == 0 ? "-" : fmt::format("{} of {}", n, trial.taken()));
  }
  if (comparison.budget > 0) {
    std::string best = "-";
    for (const EffortCurve& curve : comparison.curves)
      if (curve.solver == trial.solver && &trial != &comparison.reference)
        if (const Trial* t = best_within(curve, comparison.budget))
          best = fmt::format("{}{}{}", metres(t->error()), t->setting.empty() ? "" : " at ", t->setting);
    row.push_back(best);
  }
  return row;
}

std::string to_text(const SceneComparison& comparison) {
  std::vector<std::vector<std::string>> rows = {comparison_columns(comparison)};
  if (comparison.reference.taken() > 0 && (comparison.swept.empty() || comparison.reference.setting == "reference"))
    rows.push_back(comparison_row(comparison, comparison.reference));
  for (const Trial& trial : comparison.trials) rows.push_back(comparison_row(comparison, trial));
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) line += fmt::format("{:<{}}  ", row[c], widths[c]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  for (const Trial& trial : comparison.trials)
    if (!trial.finished)
      text += fmt::format("{}{}{} ended after {} of {} steps: {}\n", trial.solver, trial.setting.empty() ? "" : ", ",
                          trial.setting, trial.taken(), trial.steps, trial.detail);
  for (const auto& [name, reason] : comparison.refused) text += fmt::format("{} was not run: {}\n", name, reason);
  return text;
}

std::string to_json_text(const SceneComparison& comparison) {
  Json trials = Json::array(), curves = Json::array(), refused = Json::array();
  for (const Trial& trial : comparison.trials) trials.push_back(trial_json(trial, true));
  for (const EffortCurve& curve : comparison.curves) {
    Json points = Json::array();
    for (const Trial& trial : curve.trials) points.push_back(trial_json(trial, false));
    curves.push_back({{"solver", curve.solver}, {"parameter", curve.parameter}, {"points", std::move(points)}});
  }
  for (const auto& [name, reason] : comparison.refused) refused.push_back({{"solver", name}, {"reason", reason}});
  const Machine machine = this_machine();
  const Json json = {{"scene", comparison.scene},
                     {"title", comparison.title},
                     {"clock", comparison.clock == StageClock::processor ? "processor" : "wall"},
                     {"dt", comparison.dt},
                     {"size", comparison.size},
                     {"swept", comparison.swept},
                     {"budget", comparison.budget},
                     {"reference", trial_json(comparison.reference, true)},
                     {"trials", std::move(trials)},
                     {"curves", std::move(curves)},
                     {"refused", std::move(refused)},
                     {"machine", {{"processor", machine.processor}, {"cores", machine.cores}}},
                     {"version", version()},
                     {"commit", commit()}};
  return json.dump(1) + "\n";
}

}  // namespace pliant
