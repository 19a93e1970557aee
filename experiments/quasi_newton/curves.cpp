#include "experiments/quasi_newton/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/measure.hpp"
#include "experiments/meshes.hpp"
#include "experiments/quasi_newton/scenes.hpp"

namespace pliant::experiments {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_newton(const Contender& contender) {
  return contender.solver.ends_with("newton") && contender.solver != "quasi-newton";
}

std::unique_ptr<Stepper> make_contender(const FrameScene& scene, const Contender& contender) {
  ParameterMap parameters = contender.parameters;
  parameters["history"] = true;
  parameters[is_newton(contender) ? "max_iterations" : "iterations"] = contender.iterations;
  if (is_newton(contender)) {
    parameters["tolerance"] = 0.0;
    parameters["start"] = std::string("prediction");
    parameters["armijo"] = 0.3;
  }
  return make_stepper(scene.model, contender.solver, parameters);
}

void read_report(const StepReport& report, ConvergenceCurve& curve) {
  curve.energy.clear();
  curve.alphas.clear();
  for (const IterationRecord& record : report.history) {
    curve.energy.push_back(record.energy);
    curve.alphas.push_back(record.alpha);
  }
  curve.energy.push_back(report.energy);
  curve.failed_factorisations = report.failed_factorisations;
  curve.evaluations_per_iteration =
      static_cast<double>(report.line_search_evaluations) / std::max(1, report.iterations);
}

}  // namespace

double ConvergenceCurve::iterations_to(double below) const {
  for (std::size_t k = 0; k < error.size(); ++k)
    if (error[k] <= below) return static_cast<double>(k);
  return kInfinity;
}

double ConvergenceCurve::ms_to(double below) const { return ms_before + iterations_to(below) * ms_per_iteration; }

double ConvergenceCurve::rate(double from, double to) const {
  const double first = iterations_to(from), last = iterations_to(to);
  if (!std::isfinite(last) || last <= first) return std::numeric_limits<double>::quiet_NaN();
  const double begin = error[static_cast<std::size_t>(first)],
               end = std::max(error[static_cast<std::size_t>(last)], 1e-15);
  return (std::log10(begin) - std::log10(end)) / (last - first);
}

double ms_or_undecided(const ConvergenceCurve& curve, double error, double other_ms) {
  const double ms = curve.ms_to(error);
  if (std::isfinite(ms)) return ms;
  return curve.ms_spent() >= 10 * other_ms ? curve.ms_spent() : std::numeric_limits<double>::quiet_NaN();
}

ConvergenceCurve run_contender(const FrameScene& scene, const State& begin, const Contender& contender) {
  ConvergenceCurve curve;
  curve.label = contender.label;
  State state = begin;
  read_report(make_contender(scene, contender)->step(state, kFrame), curve);
  return curve;
}

std::vector<ConvergenceCurve> convergence_curves(Context& context, const FrameScene& scene, const State& begin,
                                                 const std::vector<Contender>& contenders,
                                                 std::vector<ConvergenceCurve>* others) {
  const OneThread one;
  State end = begin;
  double best = exact_newton(scene)->step(end, kFrame).energy;
  std::vector<std::unique_ptr<Stepper>> steppers;
  std::vector<ConvergenceCurve> curves(contenders.size());
  for (std::size_t m = 0; m < contenders.size(); ++m) {
    curves[m].label = contenders[m].label;
    steppers.push_back(make_contender(scene, contenders[m]));
    State state = begin;
    steppers[m]->step(state, kFrame);  // pays what a run pays once
  }
  constexpr int kTurns = 7;
  std::vector<std::vector<double>> before(contenders.size()), each(contenders.size()), solves(contenders.size());
  for (int turn = 0; turn < kTurns && !context.stopped(); ++turn)
    for (std::size_t m = 0; m < contenders.size(); ++m) {
      State state = begin;
      const ProcessorTime clock;
      const StepReport report = steppers[m]->step(state, kFrame);
      const double ms = 1e3 * clock.seconds();
      // What is made once per step, as a share of its time: Newton makes everything in every iteration.
      const double share = is_newton(contenders[m]) ? 0 : report.seconds.factorisation / report.seconds.total;
      const int count = std::max(1, report.iterations);
      before[m].push_back(ms * share);
      each[m].push_back(ms * (1 - share) / count);
      solves[m].push_back(ms * (report.seconds.solve + (is_newton(contenders[m]) ? report.seconds.factorisation : 0)) /
                          report.seconds.total / count);
      if (turn == 0) read_report(report, curves[m]);
    }
  std::vector<ConvergenceCurve*> all;
  for (ConvergenceCurve& curve : curves) all.push_back(&curve);
  if (others)
    for (ConvergenceCurve& curve : *others) all.push_back(&curve);
  for (const ConvergenceCurve* curve : all)
    for (double energy : curve->energy)
      if (std::isfinite(energy)) best = std::min(best, energy);
  for (ConvergenceCurve* curve : all) {
    curve->error.clear();
    for (double energy : curve->energy) curve->error.push_back((energy - best) / (curve->energy.front() - best));
  }
  for (std::size_t m = 0; m < contenders.size(); ++m) {
    curves[m].ms_before = median(before[m]);
    curves[m].ms_per_iteration = median(each[m]);
    curves[m].solve_ms = median(solves[m]);
  }
  return curves;
}

Json convergence_row(const ConvergenceCurve& curve, const std::string& group) {
  Json row = {{"method", curve.label}, {"figure", group}};
  for (std::size_t k : {1u, 5u, 10u, 20u, 40u}) row[fmt::format("error_{}", k)] = curve.at(k);
  row["ms_before"] = curve.ms_before;
  row["ms_per_iteration"] = curve.ms_per_iteration;
  for (double error : {1e-2, 1e-4, 1e-6}) {
    const double ms = curve.ms_to(error), count = curve.iterations_to(error);
    row[fmt::format("iterations_to_{:.0e}", error)] = std::isfinite(count) ? Json(count) : Json(nullptr);
    row[fmt::format("ms_to_{:.0e}", error)] = std::isfinite(ms) ? Json(ms) : Json(nullptr);
  }
  row["evaluations"] = curve.evaluations_per_iteration;
  row["error"] = curve.error;
  return row;
}

std::optional<TwistedBar> twisted_bar(Context& context, const std::string& name, const std::vector<double>& degrees) {
  const auto data = find_mesh(context, name);
  if (!data) return std::nullopt;
  const Table1Row& row = table1_row("twisting-bar");
  TwistedBar bar;
  bar.scene = twisting_bar(std::make_shared<TetMesh>(*data), {row.mu * row.factor, row.lambda * row.factor});
  bar.degrees = degrees;
  const double last = *std::max_element(degrees.begin(), degrees.end());
  const Trajectory run = converged_run(bar.scene, static_cast<int>(std::lround(last / 6)));
  for (double angle : degrees) {  // six degrees a frame
    const auto frame = static_cast<std::size_t>(std::lround(angle / 6)) - 1;
    if (frame < run.begins.size()) bar.begins.push_back(run.begins[frame]);
  }
  bar.degrees.resize(bar.begins.size());
  return bar;
}

void decide_without_meshes(Context& context, const std::string& experiment) {
  for (const Claim* own : claims_of(experiment))
    context.decide(Decision(own->id).leave_undecided("a folder with the paper's meshes was given (option meshes)"));
}

}  // namespace pliant::experiments
