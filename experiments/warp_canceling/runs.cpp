#include "experiments/warp_canceling/runs.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include "pliant/base/stopwatch.hpp"

namespace pliant::experiments {

double Measured::mean(const std::string& name) const {
  const auto found = figures.find(name);
  return found == figures.end() || steps == 0 ? 0 : found->second / steps;
}

Decision& needs_a_core(Decision& decision, const Measured& measured) {
  const double share = measured.total_cpu_ms / measured.total_ms;
  return decision.needs(share >= 0.9,
                        fmt::format("the machine has a core to spare (the run got {:.0f}% of one)", 100 * share));
}

std::string timed_by() {
  return stage_clock() == StageClock::processor
             ? "stages are timed by processor time"
             : "stages are timed by the clock, which other programs on the machine disturb";
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

double diameter(const Model& model) {
  Vec3 low = Vec3::Constant(1e300), high = -low;
  for (Index i = 0; i < model.nodes(); ++i)
    low = low.cwiseMin(node(model.rest(), i)), high = high.cwiseMax(node(model.rest(), i));
  return (high - low).norm();
}

int bounces(const Frames& frames) {
  bool touched = false;
  int count = 0;
  for (const VecX& x : frames.x) {
    double low = 1e300;
    for (Eigen::Index i = 1; i < x.size(); i += 3) low = std::min(low, x[i]);
    count += touched && low > 0;
    touched = low < 0 || (touched && low <= 0);
  }
  return count;
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

Method paper_wc(double tau) {
  return {"WC", "warp-canceling", {{"tau", tau}, {"unknown", "velocity"}, {"measure", "impulse"}}};
}

Method paper_cg(double tolerance, bool absolute) {
  return {"CG",
          "corotational-cg",
          {{"tolerance", tolerance},
           {"residual", absolute ? "absolute" : "relative"},
           {"max_iterations", std::int64_t{20000}}}};
}

Frames record(Context& context, std::shared_ptr<const Model> model, const Method& method, double h, int frames,
              const Frames* reference, double most, const std::function<void(const MethodRun&)>& each,
              int steps_a_frame) {
  const double size = diameter(*model);
  MethodRun run(model, method, h);
  Frames result;
  for (int f = 0; f < frames && !context.stopped(); ++f) {
    const double before = run.measured().total_cpu_ms;
    bool advanced = true;
    for (int s = 0; s < steps_a_frame && advanced; ++s) advanced = run.step();
    if (!advanced) break;
    each(run);
    const VecX& x = run.state().x;
    result.x.push_back(x);
    if (f > 0) {
      result.cpu_ms.push_back(run.measured().total_cpu_ms - before);
      double share = 0;
      for (const Figure& figure : run.last().figures)
        if (figure.name == "refreshed_elements") share = figure.value;
      result.refreshed.push_back(share);
    }
    if (reference) {
      if (at(f) >= reference->x.size()) break;
      const VecX& other = reference->x[at(f)];
      for (Index i = 0; i < model->nodes(); ++i)
        result.deviation = std::max(result.deviation, (node(x, i) - node(other, i)).norm() / size);
      if (!(result.deviation <= most)) break;
    }
  }
  result.completed = static_cast<int>(result.x.size()) == frames && result.x.back().allFinite();
  if (!result.completed) result.deviation = std::max(result.deviation, most < 1e300 ? 2 * most : 1e300);
  result.measured = run.measured();
  return result;
}

SameLook loosest_of_same_look(Context& context, const std::shared_ptr<const Model>& model,
                              const std::function<Method(double)>& method, double loosest, double tightest, double h,
                              const Frames& reference) {
  constexpr double kSameLook = 0.01;
  SameLook result;
  constexpr double kLadder[] = {1, 0.5, 0.2};
  for (int k = 0;; ++k) {
    const double tolerance = loosest * std::pow(10, -(k / 3)) * kLadder[k % 3];
    if (tolerance < 0.99 * tightest || context.stopped()) return result;
    result.frames =
        record(context, model, method(tolerance), h, static_cast<int>(reference.x.size()), &reference, kSameLook);
    if (!result.frames.completed) continue;
    result.tolerance = tolerance;
    return result;
  }
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
