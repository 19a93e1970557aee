#include "pliant/solvers/pxpbd/correction.hpp"

#include <fmt/format.h>

#include <cmath>

#include "pliant/base/stopwatch.hpp"

namespace pliant::pbd {

namespace {

constexpr int kMostCorrections = 100;
constexpr LineSearchOptions kCorrectionSearch;
constexpr LinearOptions kCorrectionSystem{.solver = LinearSolver::pcg,
                                          .preconditioner = PreconditionerKind::incomplete_cholesky,
                                          .max_iterations = 500,
                                          .balances_bodies = true};

/// The diagonal of the smallest body's box, m.
double smallest_size(const Model& model) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const Body& body : model.bodies()) {
    Vec3 low = node(model.rest(), body.nodes.begin), high = low;
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
      low = low.cwiseMin(node(model.rest(), i));
      high = high.cwiseMax(node(model.rest(), i));
    }
    smallest = std::min(smallest, (high - low).norm());
  }
  return smallest;
}

}  // namespace

Correction::Correction(IncrementalPotential& potential, double settled)
    : potential_(potential),
      settled_(settled * smallest_size(potential.model())),
      system_(potential, kCorrectionSystem),
      direction_(make_on_demand_direction(Projection::analytic)),
      obstacles_(potential) {}

bool Correction::is_near(double acceleration) const {
  const double h = potential_.problem().h;
  return acceleration * h * h <= settled_;
}

void Correction::run(Need need, Iterate& current, Iterate& trial, StepReport& report) {
  system_.begin_step(report);
  direction_->begin_step();
  obstacles_.begin_step();
  iterations_ = 0;
  last_ = 0;
  choose_start(need, current, trial);
  if (!std::isfinite(current.energy)) return;  // neither here nor there: the sweeps must lead back
  while (iterations_ < kMostCorrections && advance(current, trial, report)) {
  }
  obstacles_.update(current.x);
  if (!obstacles_.arrived())
    report.end(Outcome::iteration_limit,
               fmt::format("bodies are in the way of the prescribed motion{}", obstacles_.describe(current.x)));
  else if (iterations_ == kMostCorrections && !is_settled())
    report.end(
        Outcome::iteration_limit,
        fmt::format("not settled after the sweeps and {} steps of Newton's method, of which the last moved {:.2g} m",
                    kMostCorrections, last_));
}

/// Sweeps may have raised the potential. Where they inverted elements, a law that allows it has another minimum there.
void Correction::choose_start(Need need, Iterate& current, Iterate& trial) {
  ContactStep* contact = potential_.contact();
  if (contact && need == Need::from_here) return;  // with obstacles elsewhere energies do not compare
  const double progress = contact ? contact->progress() : 1;
  if (contact) contact->place_obstacles(0);
  trial.x = potential_.start();
  trial.energy = potential_.gradient(trial.x, trial.gradient);
  if (std::isfinite(trial.energy) && (need == Need::from_start || !(current.energy <= trial.energy)))
    std::swap(current, trial);
  else if (contact)
    contact->place_obstacles(progress);
}

/// One step of Newton's method; false when it was the last.
bool Correction::advance(Iterate& current, Iterate& trial, StepReport& report) {
  obstacles_.update(current.x);
  const bool may_end = obstacles_.arrived();
  obstacles_.begin_iteration(current.x, iterations_ > 0 && is_settled());
  if (!find_direction(current)) return false;
  const Stopwatch watch(report.seconds.line_search);
  const double largest = obstacles_.largest_step(current.x, dx_);
  const LineSearchResult found =
      obstacles_.drive()
          ? obstacles_.move(current, dx_, largest, kCorrectionSearch.smallest_step, trial)
          : line_search(potential_, current, {dx_, current.gradient.dot(dx_), largest}, kCorrectionSearch, trial);
  report.line_search_evaluations += found.evaluations;
  if (!found.accepted) {
    if (!obstacles_.drive()) return false;
    obstacles_.wait();
    return true;
  }
  std::swap(current, trial);
  report.smallest_alpha = std::min(report.smallest_alpha, found.alpha);
  if (!obstacles_.drive()) direction_->after_line_search(found.alpha);
  obstacles_.end_iteration(current.x, found.alpha);
  ContactStep* contact = potential_.contact();
  if (contact && contact->adapt(current.x)) current.energy = potential_.gradient(current.x, current.gradient);
  return !(may_end && is_settled());
}

bool Correction::find_direction(const Iterate& current) {
  system_.set_drive(obstacles_.drive());
  ++iterations_;
  const FactorStatus status = direction_->compute(system_, current, dx_);
  if (status != FactorStatus::ok || !dx_.allFinite()) return false;
  last_ = dx_.cwiseAbs().maxCoeff();
  return true;
}

}  // namespace pliant::pbd
