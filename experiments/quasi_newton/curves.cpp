#include "experiments/quasi_newton/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

namespace pliant::experiments {

double processor_ms() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double ConvergenceCurve::ms_to(double below) const {
  for (std::size_t k = 0; k < error.size(); ++k)
    if (error[k] <= below) return ms_before + static_cast<double>(k) * ms_per_iteration;
  return std::numeric_limits<double>::infinity();
}

std::vector<ConvergenceCurve> convergence_curves(Context& context, const std::shared_ptr<const Model>& model,
                                                 const State& start, double h, const std::vector<Contender>& methods,
                                                 std::int64_t iterations) {
  State end = start;
  const auto exact = make_stepper(model, "pod-newton",
                                  {{"criterion", "step-length"},
                                   {"tolerance", 1e-10},
                                   {"max_iterations", std::int64_t{300}},
                                   {"start", "prediction"},
                                   {"linear", "direct"}});
  double best = exact->step(end, h).energy;
  std::vector<ConvergenceCurve> curves;
  std::vector<StepReport> reports;
  std::vector<double> milliseconds;
  for (std::size_t m = 0; m < methods.size() && !context.stopped(); ++m) {
    const Contender& method = methods[m];
    context.progress(static_cast<double>(m) / static_cast<double>(methods.size()), method.label);
    ParameterMap parameters = method.parameters;
    const bool newton = method.solver.ends_with("newton") && method.solver != "quasi-newton";
    parameters["history"] = true;
    parameters[newton ? "max_iterations" : "iterations"] = iterations;
    if (newton) {
      parameters["tolerance"] = 0.0;
      parameters["start"] = std::string("prediction");
    }
    const auto stepper = make_stepper(model, method.solver, parameters);
    State state = start;
    stepper->step(state, h);  // pays what a run pays once
    state = start;
    const double begin = processor_ms();
    reports.push_back(stepper->step(state, h));
    milliseconds.push_back(processor_ms() - begin);
    best = std::min(best, reports.back().energy);
  }
  for (std::size_t m = 0; m < reports.size(); ++m) {
    const StepReport& report = reports[m];
    ConvergenceCurve curve;
    curve.label = methods[m].label;
    const double first = report.history.empty() ? 1 : report.history.front().energy - best;
    for (const IterationRecord& record : report.history) {
      curve.error.push_back((record.energy - best) / first);
      curve.alphas.push_back(record.alpha);
    }
    curve.error.push_back((report.energy - best) / first);
    const auto count = std::max(1, report.iterations);
    // What is made once per step, as a share of its time: Newton makes everything in every iteration.
    const bool newton = methods[m].solver.ends_with("newton") && methods[m].solver != "quasi-newton";
    const double share = newton ? 0 : report.seconds.factorisation / report.seconds.total;
    curve.ms_before = milliseconds[m] * share;
    curve.ms_per_iteration = milliseconds[m] * (1 - share) / count;
    curve.evaluations_per_iteration = static_cast<double>(report.line_search_evaluations) / count;
    curves.push_back(std::move(curve));
  }
  return curves;
}

Json convergence_row(const ConvergenceCurve& curve, const std::string& group) {
  Json row = {{"method", curve.label}, {"figure", group}};
  for (std::size_t k : {1u, 5u, 10u, 20u, 30u}) row[fmt::format("error_{}", k)] = curve.at(k);
  row["ms_before"] = curve.ms_before;
  row["ms_per_iteration"] = curve.ms_per_iteration;
  for (double error : {1e-2, 1e-4}) {
    const double ms = curve.ms_to(error);
    row[fmt::format("ms_to_{:.0e}", error)] = std::isfinite(ms) ? Json(ms) : Json(nullptr);
  }
  row["evaluations"] = curve.evaluations_per_iteration;
  row["error"] = curve.error;
  return row;
}

State state_after(const std::shared_ptr<const Model>& model, int frames, double h) {
  State state = model->rest_state();
  const auto ours = make_stepper(model, "quasi-newton");
  for (int frame = 0; frame < frames; ++frame) ours->step(state, h);
  return state;
}

}  // namespace pliant::experiments
