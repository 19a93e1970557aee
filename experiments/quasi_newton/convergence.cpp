// Figs. 7 and 8 of quasi-newton: how the relative error (12) of one frame falls with the iterations, for windows of
// L-BFGS, Chebyshev's acceleration and plain Projective Dynamics, from the same state of the twisting bar.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/quasi_newton/quasi_newton.hpp"
#include "experiments/quasi_newton/scenes.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

namespace {

constexpr double kStep = 1.0 / 30;

void run(Context& context) {
  const auto& scenes = table1_scenes();
  const auto bar = std::find_if(scenes.begin(), scenes.end(), [](const auto& s) { return s.name == "twisting bar"; });
  const auto model = table1_model(*bar, context.text("meshes"), context.number("scale"));
  State start = model->rest_state();
  const auto ours = make_stepper(model, "quasi-newton");
  for (int frame = 0; frame < 30; ++frame) ours->step(start, kStep);

  State end = start;
  const auto exact = make_stepper(model, "pod-newton", {{"criterion", "step-length"}, {"tolerance", 1e-10}});
  double best = exact->step(end, kStep).energy;
  const auto iterations = static_cast<std::int64_t>(context.number("iterations"));
  struct Method {
    std::string label, solver;
    ParameterMap parameters;
    std::vector<IterationRecord> history;
  };
  std::vector<Method> methods = {{"L-BFGS, window 5", "quasi-newton", {}, {}}};
  for (std::int64_t window : {1, 2, 10, 20})
    methods.push_back({fmt::format("L-BFGS, window {}", window), "quasi-newton", {{"window", window}}, {}});
  methods.push_back({"Chebyshev", "chebyshev", {}, {}});
  methods.push_back({"projective dynamics", "projective-dynamics", {}, {}});
  for (std::size_t m = 0; m < methods.size(); ++m) {
    Method& method = methods[m];
    method.parameters["iterations"] = iterations;
    method.parameters["history"] = true;
    method.parameters["factor"] = std::string("double");
    context.progress(static_cast<double>(m) / static_cast<double>(methods.size()), method.label);
    State state = start;
    const StepReport report = make_stepper(model, method.solver, method.parameters)->step(state, kStep);
    method.history = report.history;
    best = std::min(best, report.energy);
    if (context.stopped()) return;
  }
  std::map<std::string, double> at_thirty;
  for (const Method& method : methods) {
    Json row = {{"method", method.label}, {"vertices", model->nodes()}};
    Json curve = Json::array();
    const double first = method.history.empty() ? 1 : method.history.front().energy - best;
    const auto error_at = [&](std::size_t k) {
      return method.history.empty() ? 0.0
                                    : (method.history[std::min(k, method.history.size() - 1)].energy - best) / first;
    };
    for (std::size_t k : {5u, 10u, 20u, 30u, 60u, 100u})
      if (k < static_cast<std::size_t>(iterations)) row[fmt::format("error_{}", k)] = error_at(k);
    for (std::size_t k = 0; k < method.history.size(); ++k) curve.push_back(error_at(k));
    row["error"] = std::move(curve);
    at_thirty[method.label] = error_at(30);
    context.row(std::move(row));
  }
  context.claim({"after 30 iterations L-BFGS(5) is ahead of Chebyshev, and that of projective dynamics",
                 "in this order, fig. 7",
                 Json::array({at_thirty["L-BFGS, window 5"], at_thirty["Chebyshev"], at_thirty["projective dynamics"]}),
                 at_thirty["L-BFGS, window 5"] < at_thirty["Chebyshev"] &&
                     at_thirty["Chebyshev"] < at_thirty["projective dynamics"]});
}

}  // namespace

Experiment convergence() {
  return {
      "quasi-newton/convergence",
      "Relative error over the iterations of one frame: windows of L-BFGS, Chebyshev, projective dynamics (figs. 7, 8)",
      {{"meshes", "", "", "folder with longbar2.mesh; empty: a generated bar"},
       {"scale", "1", "0.5", "resolution of the generated bar"},
       {"iterations", "200", "101", "of each method"}},
      run};
}

}  // namespace pliant::experiments
