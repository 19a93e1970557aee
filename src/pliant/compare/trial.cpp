#include "pliant/compare/trial.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <iterator>

#include "pliant/energies/assembler.hpp"
#include "pliant/sim/judgement.hpp"

namespace pliant {

namespace {

/// Energies and momenta of states of one model. States of rest, solved for without inertia, have no velocity that
/// means anything: neither kinetic energy nor momenta (NaN).
class Measures {
 public:
  Measures(std::shared_ptr<const Model> model, bool moves)
      : model_(std::move(model)),
        moves_(moves),
        assembler_(model_->nodes(), {model_->energies().begin(), model_->energies().end()}) {}

  const std::shared_ptr<const Model>& model() const { return model_; }

  void add(const State& state, TrialSeries& series) {
    model_->mass().multiply(state.v, momentum_);
    Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();
    for (Index i = 0; i < model_->nodes(); ++i) {
      const Vec3 p = node(momentum_, i), x = node(state.x, i);
      linear += p;
      angular += x.cross(p);
    }
    const auto moving = [&](double value) { return moves_ ? value : std::numeric_limits<double>::quiet_NaN(); };
    series.momentum.push_back(moving(linear.norm()));
    series.angular_momentum.push_back(moving(angular.norm()));
    series.kinetic.push_back(moving(0.5 * state.v.dot(momentum_)));
    series.elastic.push_back(assembler_.value({state.x, state.activation}));
    model_->external_force(state.time, force_);
    series.external.push_back(-force_.dot(state.x - model_->rest()));
    series.total.push_back(series.elastic.back() + series.external.back() + (moves_ ? series.kinetic.back() : 0));
  }

 private:
  std::shared_ptr<const Model> model_;
  bool moves_;
  Assembler assembler_;
  VecX momentum_, force_;
};

/// Where the reference is at a time; empty where it has ended before, or was cut on the way.
VecX positions_at(const Trajectory& reference, double time) {
  const double rounding = 1e-9 * time;
  const auto after = std::lower_bound(reference.begin(), reference.end(), time - rounding,
                                      [](const TrialMoment& moment, double t) { return moment.time < t; });
  if (after == reference.end()) return {};
  if (after == reference.begin() || after->time <= time + rounding) return after->x;
  const auto before = std::prev(after);
  if (before->x.size() != after->x.size()) return {};
  const double share = (time - before->time) / (after->time - before->time);
  return (1 - share) * before->x + share * after->x;
}

void add_distance(const State& state, const TrialOptions& options, TrialSeries& series) {
  double sum = std::numeric_limits<double>::quiet_NaN(), largest = sum;
  const VecX to = options.reference ? positions_at(*options.reference, state.time) : VecX();
  if (to.size() > 0 && to.size() == state.x.size()) {
    const auto nodes = static_cast<Index>(to.size() / 3);
    sum = largest = 0;
    for (Index i = 0; i < nodes; ++i) {
      const double d2 = (node(state.x, i) - node(to, i)).squaredNorm();
      sum += d2;
      largest = std::max(largest, d2);
    }
    sum = std::sqrt(sum / static_cast<double>(nodes));
    largest = std::sqrt(largest);
  }
  series.distance.push_back(sum);
  series.largest_distance.push_back(largest);
}

}  // namespace

double Trial::median_milliseconds() const {
  if (series.milliseconds.empty()) return 0;
  std::vector<double> sorted = series.milliseconds;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

double Trial::mean_iterations() const {
  double sum = 0;
  for (double n : series.iterations) sum += n;
  return series.iterations.empty() ? 0 : sum / static_cast<double>(series.iterations.size());
}

double Trial::error() const {
  if (!finished) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (double d : series.distance) sum += d * d;
  return series.distance.empty() ? 0 : std::sqrt(sum / static_cast<double>(series.distance.size()));
}

Trial run_trial(BuiltScene built, const TrialOptions& options) {
  Trial trial;
  trial.solver = built.scene.solver.name;
  trial.steps = options.steps;
  const auto integrator = built.scene.solver.parameters.find("integrator");
  const bool moves = integrator == built.scene.solver.parameters.end() ||
                     integrator->second != ParameterValue(std::string("quasistatic"));
  Simulation simulation(std::move(built));
  auto measures = std::make_unique<Measures>(simulation.model(), moves);
  const auto keep_moment = [&](const State& state) {
    for (std::int64_t m = 0; m < options.moments; ++m)
      if (state.step == (options.moments < 2 ? options.steps : m * options.steps / (options.moments - 1))) {
        trial.moments.push_back({state.time, state.x});
        return;
      }
  };
  keep_moment(*simulation.state());
  if (options.record) options.record->push_back({simulation.state()->time, simulation.state()->x});
  trial.finished = true;
  for (std::int64_t step = 1; step <= options.steps; ++step) {
    if (options.wants_stop && options.wants_stop()) {
      trial.finished = false;
      trial.detail = "interrupted";
      break;
    }
    simulation.make_due_cuts();
    if (simulation.model() != measures->model()) {
      measures = std::make_unique<Measures>(simulation.model(), moves);
      trial.moments.clear();  // they belong to another model
    }
    const StepReport report = simulation.step();
    const State& state = *simulation.state();
    if (!report.succeeded()) {
      trial.finished = false;
      trial.detail = fmt::format("step {} {}: {}", step, to_string(report.outcome), report.detail);
      break;
    }
    TrialSeries& series = trial.series;
    series.time.push_back(state.time);
    series.milliseconds.push_back(1e3 * report.seconds.total);
    series.iterations.push_back(report.iterations);
    trial.newton_steps += was_ended_by_newton(report) ? 1 : 0;
    series.force.push_back(report.residuals.force);
    series.acceleration.push_back(report.residuals.acceleration);
    series.gap.push_back(report.minimum_gap);
    add_distance(state, options, series);
    measures->add(state, series);
    if (options.record) options.record->push_back({state.time, state.x});
    keep_moment(state);
  }
  trial.model = simulation.model();
  return trial;
}

}  // namespace pliant
