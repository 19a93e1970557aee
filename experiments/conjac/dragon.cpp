// conjac, "Dragon" (fig. 1): a body of rubber is pulled in several directions and let go. What is the smallest beta
// that stays stable, for conjac and for VANILLA with the exact and with the projected stiffness; how lively is each;
// and what does a step cost over the number of dynamic nodes.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/conjac/conjac.hpp"
#include "experiments/conjac/trial.hpp"

namespace pliant::experiments {

namespace {

struct DragonMethod {
  std::string label, solver;
  ParameterMap parameters;
};

void search_beta(Context& context, const PullAndRelease& scene, double h) {
  const auto nodes = static_cast<std::int64_t>(context.number("placed"));
  const std::vector<DragonMethod> methods = {
      {"conjac", "conjac", {{"dynamic_nodes", nodes}, {"gamma", 0.2}}},
      {"conjac, gamma by line search", "conjac", {{"dynamic_nodes", nodes}, {"gamma_search", true}}},
      {"VANILLA, exact K", "linearly-implicit", {{"stiffness", "exact"}}},
      {"VANILLA, projected K", "linearly-implicit", {{"stiffness", "projected"}}},
      {"VANILLA, projected on demand", "linearly-implicit", {{"stiffness", "on-demand"}}}};
  const std::vector<double> betas = context.numbers("betas");
  const auto stop = [&] { return context.stopped(); };
  std::map<std::string, double> smallest;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    const DragonMethod& method = methods[m];
    for (double beta : betas) {
      context.progress(static_cast<double>(m) / static_cast<double>(methods.size()),
                       fmt::format("{}, {}, beta {}", scene.label, method.label, beta));
      ParameterMap parameters = method.parameters;
      parameters["beta"] = beta;
      const Trial trial = try_out(scene, method.solver, parameters, h, stop);
      if (context.stopped()) return;
      context.row({{"what", "beta"},
                   {"scene", scene.label},
                   {"nodes", scene.model->nodes()},
                   {"method", method.label},
                   {"beta", beta},
                   {"stable", trial.stable},
                   {"energy_over_released", trial.growth},
                   {"kinetic_mJ", 1e3 * trial.kinetic},
                   {"kinetic_at_0.2s_mJ", 1e3 * trial.kinetic_at_02},
                   {"projected_steps", trial.projected},
                   {"ms", 1e3 * trial.seconds_per_step},
                   {"outcome", trial.outcome}});
      if (!trial.stable) continue;
      smallest[method.label] = beta;
      break;
    }
  }
  const auto found = [&](const std::string& label) -> Json {
    return smallest.contains(label) ? Json(smallest[label]) : Json("none of those tried");
  };
  for (const char* label : {"conjac", "conjac, gamma by line search"})
    context.check({fmt::format("{}: smallest stable beta of {}", scene.label, label), 0.5, found(label),
                   smallest.contains(label) && smallest[label] <= 0.5});
  context.check({fmt::format("{}: VANILLA needs more beta than conjac (exact, projected)", scene.label), 3.7,
                 Json::array({found("VANILLA, exact K"), found("VANILLA, projected K")}),
                 (!smallest.contains("VANILLA, exact K") || smallest["VANILLA, exact K"] > 0.5) &&
                     (!smallest.contains("VANILLA, projected K") || smallest["VANILLA, projected K"] > 0.5)});

  // Liveliness, at the paper's two settings.
  const Trial lively = try_out(scene, "conjac", {{"dynamic_nodes", nodes}, {"gamma", 0.2}}, h, stop);
  const Trial searched = try_out(scene, "conjac", {{"dynamic_nodes", nodes}, {"gamma_search", true}}, h, stop);
  const Trial damped = try_out(scene, "linearly-implicit", {{"beta", 3.7}}, h, stop);
  if (context.stopped()) return;
  context.check(
      {fmt::format("{}: kinetic energy 0.2 s after the release over that of VANILLA at beta = 3.7 (gamma = 1/5)",
                   scene.label),
       "visibly livelier", lively.kinetic / damped.kinetic, lively.kinetic >= 4 * damped.kinetic});
  context.check({fmt::format("{}: the same with gamma by line search", scene.label), "visibly livelier",
                 searched.kinetic / damped.kinetic, searched.kinetic >= 4 * damped.kinetic});
}

void run_dragon(Context& context) {
  const double h = context.number("h");
  const std::vector<int> cells = context.integers("bar");
  const PullAndRelease figure = pulled_figure(context.text("mesh"), static_cast<int>(context.number("figure")));
  search_beta(context, pulled_bar({cells.at(0), cells.at(1), cells.at(2)}), h);
  if (!context.stopped()) search_beta(context, figure, h);
}

}  // namespace

Experiment conjac_dragon() {
  return {"conjac/dragon",
          "A bar and a figure pulled and let go: smallest stable beta, liveliness (fig. 1)",
          {{"mesh", "", "", "path of a tetrahedral mesh, y up; empty: a generated figure"},
           {"figure", "20", "12", "cells of the generated figure along its height"},
           {"bar", "24,8,8", "14,4,4", "cells of the bar"},
           {"cost_bar", "63,12,12", "32,6,6", "cells of the bar that the cost of a step is measured on"},
           {"h", "0.005", "0.005", "time step, s"},
           {"placed", "8", "8", "dynamic nodes where beta is searched"},
           {"dynamic", "0,2,4,6,8,10", "0,2,4,6,8,10", "dynamic nodes where cost is measured"},
           {"rounds", "15", "7", "steps of each that are measured"},
           {"betas", "0.5,0.6,0.7,0.8,0.9,1,1.1,1.2,1.3,1.4,1.5,1.6,1.8,2,2.2,2.5,2.8,3.1,3.4,3.7,4,5,7,10",
            "0.5,0.7,1,1.4,2,2.8,3.7,5,7,10", "tried in this order"}},
          run_dragon};
}

}  // namespace pliant::experiments
