#include "experiments/pxpbd/sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/pxpbd/pxpbd_stepper.hpp"

namespace pliant::experiments {

double SweepCurve::at(std::size_t sweeps) const {
  if (r.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double value = r[std::min(sweeps, r.size() - 1)];
  return std::isfinite(value) ? value : std::numeric_limits<double>::infinity();
}

double SweepCurve::sweeps_to(double below) const {
  for (std::size_t k = 0; k < r.size(); ++k)
    if (r[k] <= below) return static_cast<double>(k);
  return std::numeric_limits<double>::infinity();
}

namespace {

SweepCurve curve_of(Stepper& stepper, const State& start, double h) {
  SweepCurve curve;
  State state = start;
  const StepReport report = stepper.step(state, h);
  curve.x = state.x;
  if (report.history.empty()) return curve;
  const double first = report.history.front().force;
  const double second = report.history.size() > 1 ? report.history[1].secondary : 1;
  for (const IterationRecord& record : report.history) {
    curve.r.push_back(record.force / first);
    curve.primal.push_back(record.primal / first);
    curve.secondary.push_back(record.secondary / second);
  }
  curve.r.push_back(report.advanced() ? report.residuals.force / first : std::numeric_limits<double>::infinity());
  curve.primal.push_back(report.residuals.primal / first);
  curve.secondary.push_back(report.residuals.secondary / second);
  curve.ms_per_sweep = 1e3 * report.seconds.solve / std::max(1, report.iterations);
  return curve;
}

}  // namespace

SweepCurve follow_sweeps(const std::shared_ptr<const Model>& model, const State& start, double h,
                         const std::string& solver, ParameterMap parameters, std::int64_t sweeps) {
  parameters = sweeps_alone(std::move(parameters));
  parameters["iterations"] = sweeps;
  parameters["history"] = true;
  const auto stepper = make_stepper(model, solver, parameters);
  SweepCurve curve = curve_of(*stepper, start, h);
  curve.label = solver;
  curve.kappa = dynamic_cast<PxpbdStepper&>(*stepper).largest_kappa(h);
  return curve;
}

SweepCurve follow_newton(const std::shared_ptr<const Model>& model, const State& start, double h,
                         ParameterMap parameters, std::int64_t iterations) {
  parameters["max_iterations"] = iterations;
  parameters["tolerance"] = 0.0;
  parameters["start"] = std::string("prediction");
  parameters["history"] = true;
  const auto stepper = make_stepper(model, "pod-newton", parameters);
  SweepCurve curve = curve_of(*stepper, start, h);
  curve.label = "Newton";
  return curve;
}

bool stagnates(const SweepCurve& xpbd, const SweepCurve& fp) {
  const double last = xpbd.last(), before = xpbd.at(100);
  return std::isfinite(last) && std::abs(last / before - 1) < 0.05 && last > 0.02 && last >= 100 * fp.last();
}

bool reduces(const SweepCurve& curve, const SweepCurve& xpbd) {
  if (!(curve.last() <= 1e-3 && curve.last() <= 0.01 * xpbd.last())) return false;
  for (std::size_t k = 0; k + 50 < curve.r.size(); k += 50)
    if (curve.at(k) > 1e-10 && !(curve.at(k + 50) < curve.at(k))) return false;
  return true;
}

double largest_kappa_of(const std::shared_ptr<const Model>& model, double h) {
  const auto stepper = make_stepper(model, "fp-pxpbd", sweeps_alone({{"iterations", std::int64_t{1}}}));
  State state = model->rest_state();
  stepper->step(state, h);  // elements know the masses of their corners from then on
  return dynamic_cast<PxpbdStepper&>(*stepper).largest_kappa(h);
}

double edge_for_kappa(double kappa, double young, double h) {
  ModelBuilder builder;
  builder.add_body(pxpbd_box({4, 4, 4}, 1, "fixed-corotated", young));
  return std::sqrt(largest_kappa_of(builder.build(), h) / kappa);  // kappa goes with the inverse square of the edge
}

HardStep stretched_step(Index cells, double kappa, const std::string& law, double stretch) {
  const double edge = edge_for_kappa(kappa, 1e4, kPaperStep), size = edge * static_cast<double>(cells);
  ModelBuilder builder;
  builder.add_body(pxpbd_box({cells, cells, cells}, edge, law, 1e4));
  HardStep step{"stretched", builder.build(), {}};
  step.start = step.model->rest_state();
  for (Index i = 0; i < step.model->nodes(); ++i) {
    const Vec3 X = node(step.model->rest(), i) / size;
    node(step.start.x, i)[0] *= stretch;
    node(step.start.v, i) = size * Vec3(1 + X[1], -X[0], X[0] * X[0]);
  }
  return step;
}

std::vector<HardStep> hard_steps(Index cells, double kappa) {
  std::vector<HardStep> steps = {stretched_step(cells, kappa, "fixed-corotated", 1.5)};
  const double edge = edge_for_kappa(kappa, 1e4, kPaperStep);
  const Index across = std::max<Index>(2, cells / 2);
  for (const char* label : {"cantilever", "squeezed"}) {
    const bool sags = std::string(label) == "cantilever";
    ModelBuilder builder;
    const BodyOptions body = pxpbd_box({2 * cells, across, across}, edge, "fixed-corotated", 1e4);
    const double length = edge * 2 * static_cast<double>(cells);
    // Gravity such that the bar sags by a good part of its length whatever its size.
    if (sags) builder.set_gravity({0, -40.0 / length * std::pow(edge, 2) / 0.01, 0});
    builder.add_body(body);
    builder.add_pin({"left", body.mesh->sets().at("x-min")});
    if (!sags) {
      Script right{"right", body.mesh->sets().at("x-max"), {}, Imposition::direct};
      right.motion.translation.keys = {{0, Vec3::Zero()}, {0.2, Vec3(-0.3 * length, 0, 0)}};
      builder.add_script(right);
    }
    HardStep step{label, builder.build(), {}};
    step.start = step.model->rest_state();
    const auto newton =
        make_stepper(step.model, "pod-newton", {{"criterion", "step-length"}, {"tolerance", 1e-6 * length}});
    for (int k = 0; k < 15; ++k) newton->step(step.start, kPaperStep);
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace pliant::experiments
