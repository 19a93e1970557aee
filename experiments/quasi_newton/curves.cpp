#include "experiments/quasi_newton/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant::experiments {

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
                                   {"start", "prediction"}});
  double best = exact->step(end, h).energy;
  std::vector<ConvergenceCurve> curves;
  std::vector<StepReport> reports;
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
    reports.push_back(stepper->step(state, h));
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
    const double per_step = methods[m].solver == "quasi-newton" || methods[m].solver == "projective-dynamics" ||
                                    methods[m].solver == "chebyshev"
                                ? report.seconds.factorisation
                                : 0;
    const auto count = std::max(1, report.iterations);
    curve.ms_before = 1e3 * per_step;
    curve.ms_per_iteration = 1e3 * (report.seconds.total - per_step) / count;
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
