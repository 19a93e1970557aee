#include "experiments/warp_canceling/runs.hpp"

#include <algorithm>
#include <ctime>

namespace pliant::experiments {

double Measured::mean(const std::string& name) const {
  const auto found = figures.find(name);
  return found == figures.end() || steps == 0 ? 0 : found->second / steps;
}

namespace {

/// With colliders that push by forces of the step's start, as in the paper.
ParameterMap as_published(const Method& method) {
  ParameterMap parameters = method.parameters;
  const auto set = [&](const char* name, const char* value) {
    if (find_solver(method.solver).parameters.find(name)) parameters.try_emplace(name, std::string(value));
  };
  set("colliders", "explicit");
  set("turning", "linear");
  set("safeguard", "none");
  return parameters;
}

}  // namespace

MethodRun::MethodRun(std::shared_ptr<const Model> model, const Method& method, double h)
    : model_(std::move(model)), stepper_(make_stepper(model_, method.solver, as_published(method))), h_(h) {
  measured_.state = model_->rest_state();
}

bool MethodRun::step() {
  const bool first = measured_.state.step == 0;
  State next = measured_.state;
  const std::clock_t begin = std::clock();
  last_ = stepper_->step(next, h_);
  const double cpu_ms = 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  if (!last_.advanced()) {
    measured_.failure = to_string(last_.outcome);
    return false;
  }
  measured_.state = std::move(next);
  if (first) return true;
  const double ms = 1e3 * last_.seconds.total;
  ++measured_.steps;
  measured_.total_ms += ms;
  measured_.total_cpu_ms += cpu_ms;
  measured_.least_ms = std::min(measured_.least_ms, ms);
  measured_.most_ms = std::max(measured_.most_ms, ms);
  measured_.linear_iterations += last_.linear_iterations;
  double budget = 0, spent = 0;
  for (const Figure& figure : last_.figures) {
    measured_.figures[std::string(figure.name)] += figure.value;
    if (figure.name == "seconds_budget") budget = figure.value;
    if (figure.name == "seconds_cholesky_update") spent = figure.value;
  }
  measured_.over_budget += budget > 0 && spent > 1.1 * budget;
  return true;
}

Measured simulate(Context& context, std::shared_ptr<const Model> model, const Method& method, double h, int steps,
                  double progress_begin, double progress_end, const std::function<void(const MethodRun&)>& each) {
  MethodRun run(std::move(model), method, h);
  for (int s = 0; s < steps && !context.stopped(); ++s) {
    context.progress(progress_begin + (progress_end - progress_begin) * s / steps, method.label);
    if (!run.step()) break;
    each(run);
  }
  return run.measured();
}

Json measured_row(const Measured& m) {
  return {{"cpu_ms", m.cpu_ms()},
          {"ms", m.average_ms()},
          {"least_ms", m.steps > 0 ? m.least_ms : 0},
          {"most_ms", m.most_ms},
          {"elements_refreshed", m.mean("refreshed_elements")},
          {"supernodes_refreshed", m.mean("refreshed_supernodes")},
          {"cg_iterations", m.steps > 0 ? m.linear_iterations / m.steps : 0},
          {"steps", m.steps},
          {"failure", m.failure}};
}

Json stage_columns(const Measured& m) {
  Json columns = Json::object();
  for (const char* stage : {"element_rotations", "node_rotations", "error_estimate", "matrix_update", "cholesky_update",
                            "right_hand_side", "solve", "contact"})
    columns[std::string(stage) + "_ms"] = m.mean_ms(stage);
  return columns;
}

}  // namespace pliant::experiments
