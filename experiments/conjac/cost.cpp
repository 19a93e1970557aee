// conjac, fig. 2: what a step costs over the number of dynamic nodes, beside VANILLA's.

#include <fmt/format.h>

#include <algorithm>

#include "experiments/conjac/conjac.hpp"
#include "experiments/conjac/trial.hpp"
#include "experiments/measure.hpp"

namespace pliant::experiments {

namespace {

struct CostMethod {
  std::string label, solver;
  ParameterMap parameters;
};

/// Milliseconds a step, methods taking turns so that all see the same machine. `vanilla` comes first.
void measure_cost(Context& context, const PullAndRelease& scene, double h) {
  std::vector<CostMethod> methods = {{"linearly-implicit", "linearly-implicit", {{"beta", 3.7}}}};
  for (int nodes : context.integers("dynamic"))
    methods.push_back({fmt::format("conjac, {} dynamic nodes", nodes),
                       "conjac",
                       {{"dynamic_nodes", std::int64_t{nodes}}, {"gamma", 0.2}}});
  std::vector<std::unique_ptr<Stepper>> steppers;
  std::vector<State> states(methods.size(), scene.model->rest_state());
  std::vector<std::vector<double>> total(methods.size()), factor(methods.size()), solve(methods.size()),
      fill(methods.size());
  for (const CostMethod& method : methods)
    steppers.push_back(make_stepper(scene.model, method.solver, method.parameters));
  const int rounds = static_cast<int>(context.number("rounds"));
  for (int round = 0; round <= rounds; ++round)
    for (std::size_t m = 0; m < methods.size(); ++m) {
      context.progress(static_cast<double>(round) / (rounds + 1), methods[m].label);
      const StepReport report = steppers[m]->step(states[m], h);
      if (context.stopped()) return;
      if (round == 0) continue;  // the analysis
      total[m].push_back(1e3 * report.seconds.total);
      factor[m].push_back(1e3 * report.seconds.factorisation);
      solve[m].push_back(1e3 * report.seconds.solve);
      fill[m].push_back(1e3 * report.seconds.assembly);
    }
  std::map<int, double> ratio;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    const double over = median(total[m]) / median(total[0]);
    context.row({{"scene", scene.label},
                 {"nodes", scene.model->nodes()},
                 {"method", methods[m].label},
                 {"ms", median(total[m])},
                 {"fill_ms", median(fill[m])},
                 {"factor_ms", median(factor[m])},
                 {"solve_ms", median(solve[m])},
                 {"over_vanilla", over}});
    if (m > 0) ratio[context.integers("dynamic")[m - 1]] = over;
  }
  if (scene.model->nodes() < 8000) return;
  if (ratio.contains(4))
    context.check({fmt::format("a step with 4 dynamic nodes over VANILLA's, {} nodes", scene.model->nodes()), 1.2,
                   ratio[4], ratio[4] <= 1.1});
  if (ratio.contains(10))
    context.check({fmt::format("a step with 10 dynamic nodes over VANILLA's, {} nodes", scene.model->nodes()), 1.4,
                   ratio[10], ratio[10] <= 1.25});
}

void run_cost(Context& context) {
  const std::vector<int> cells = context.integers("bar");
  const std::string& mesh = context.text("mesh");
  measure_cost(context, mesh.empty() ? pulled_bar({cells.at(0), cells.at(1), cells.at(2)}) : pulled_figure(mesh, 0),
               context.number("h"));
}

}  // namespace

Experiment conjac_cost() {
  return {"conjac/cost",
          "Milliseconds a step over the number of dynamic nodes, beside VANILLA (fig. 2)",
          {{"mesh", "", "", "path of a tetrahedral mesh, y up; empty: a bar"},
           {"bar", "63,12,12", "32,6,6", "its cells; 63,12,12 are 10816 nodes"},
           {"h", "0.005", "0.005", "time step, s"},
           {"dynamic", "0,2,4,6,8,10", "0,2,4,6,8,10", "dynamic nodes"},
           {"rounds", "15", "7", "steps of each that are measured"}},
          run_cost};
}

}  // namespace pliant::experiments
