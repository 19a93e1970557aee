#include "pliant/solvers/newton/newton_stepper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "pliant/base/error.hpp"
#include "pliant/base/stopwatch.hpp"
#include "pliant/sim/start_check.hpp"

namespace pliant {

namespace {

std::unique_ptr<Direction> make_direction(const NewtonOptions& options) {
  switch (options.method) {
    case NewtonMethod::newton:
      return make_newton_direction();
    case NewtonMethod::projected:
      return make_projected_direction(options.projection);
    case NewtonMethod::on_demand:
      return make_on_demand_direction(options.projection);
    case NewtonMethod::kinetic:
      return make_kinetic_direction();
  }
  return nullptr;
}

}  // namespace

NewtonStepper::NewtonStepper(std::shared_ptr<const Model> model, const NewtonOptions& options)
    : model_(std::move(model)),
      options_(options),
      potential_(model_, options.integrator),
      convergence_(model_, options.criterion),
      system_(potential_, options.linear),
      direction_(make_direction(options)) {
  if (model_->contact()) {
    contact_force_.setZero(3 * Eigen::Index(model_->nodes()));
    contact_pressure_.setZero(model_->nodes());
  }
  if (options.method == NewtonMethod::kinetic && options.integrator == Integrator::quasistatic)
    throw InputError("kinetic-newton regularises by inertia, which quasistatic stepping does not have; use pod-newton");
}

std::string_view NewtonStepper::name() const {
  switch (options_.method) {
    case NewtonMethod::newton:
      return "newton";
    case NewtonMethod::projected:
      return "projected-newton";
    case NewtonMethod::on_demand:
      return "pod-newton";
    case NewtonMethod::kinetic:
      return "kinetic-newton";
  }
  return "";
}

StepReport NewtonStepper::step(State& state, double h) {
  StepReport report;
  {
    const Stopwatch watch(report.seconds.total);
    if (refuse_bad_start(state, h, report)) return report;
    if (potential_.contact()) potential_.contact()->book(&report.seconds.contact);
    potential_.begin_step(state, h);
    system_.begin_step(report);
    direction_->begin_step();
    current_.x = potential_.start();
    minimise(report);
    if (report.advanced()) {
      potential_.end_step(current_.x, state);
      report.minimum_gap = potential_.minimum_gap(current_.x);
      if (potential_.contact()) record_contact(report);
    }
    if (potential_.contact()) potential_.contact()->book(nullptr);
  }
  return report;
}

void NewtonStepper::record_contact(StepReport& report) {
  ContactStep& contact = *potential_.contact();
  report.contacts = contact.pairs();
  ContactStep::Forces forces = contact.forces(potential_.pose(current_.x));
  contact_force_ = std::move(forces.total);
  for (Index i = 0; i < model_->nodes(); ++i) {
    const double area = contact.model().point_area[static_cast<std::size_t>(i)];
    contact_pressure_[i] = area > 0 ? node(forces.normal, i).norm() / area : 0;
  }
}

std::vector<NodeValues> NewtonStepper::node_values() const {
  if (!model_->contact()) return {};
  const auto span = [](const VecX& v) { return std::span<const double>(v.data(), static_cast<std::size_t>(v.size())); };
  return {{"contact_force", 3, span(contact_force_)}, {"contact_pressure", 1, span(contact_pressure_)}};
}

/// Once, and again with the friction that belongs to what came out, as often as is asked for.
void NewtonStepper::minimise(StepReport& report) {
  ContactStep* contact = potential_.contact();
  if (contact) {
    if (std::string what = contact->describe_intersections(current_.x); !what.empty()) {
      report.outcome = Outcome::intersecting_start;
      report.detail = std::move(what);
      return;
    }
  }
  if (!begin(report)) return;
  iterate(report);
  if (!contact) return;
  for (int k = 1; k < contact->model().options.friction_iterations && report.converged(); ++k) {
    const int before = report.iterations;
    const bool had_friction = contact->has_friction();
    contact->renew_friction(current_.x);
    if (!had_friction && !contact->has_friction()) return;
    current_.energy = potential_.gradient(current_.x, current_.gradient);
    iterate(report);
    if (report.iterations == before) return;
  }
}

/// Where the step begins to search: false, with the report's outcome, when the energy is infinite there.
bool NewtonStepper::begin(StepReport& report) {
  current_.energy = std::numeric_limits<double>::infinity();
  if (options_.starts_at_prediction && potential_.has_inertia() && !potential_.contact()) {  // not to be jumped over
    current_.x = potential_.predicted_start();
    current_.energy = potential_.gradient(current_.x, current_.gradient);
  }
  if (!std::isfinite(current_.energy)) {
    current_.x = potential_.start();
    current_.energy = potential_.gradient(current_.x, current_.gradient);
  }
  if (std::isfinite(current_.energy)) return true;
  report.outcome = Outcome::inverted_start;
  report.detail = describe_infinite_start();
  return false;
}

void NewtonStepper::iterate(StepReport& report) {
  const double h = potential_.h();
  ContactStep* contact = potential_.contact();
  const auto end = [&](Outcome outcome, std::string detail) {
    report.outcome = outcome;
    report.detail = std::move(detail);
    if (contact && !contact->arrived())
      report.detail += fmt::format("; what is prescribed has gone {:.0f}% of its way, the least gap is {:.2g} m",
                                   100 * contact->progress(), contact->minimum_gap(current_.x));
  };

  bool gives_way = false;  // the bodies, to what is prescribed, which waits
  double room = 0;         // the least gap when it last went on, m
  for (;;) {
    if (contact && !contact->arrived()) contact->find_way(current_.x, potential_.boundary(), drive_.way);
    const bool may_end = !contact || contact->arrived();
    const double last_step = report.residuals.step_length;
    report.energy = current_.energy;
    report.residuals = convergence_.measure(current_.gradient, potential_.boundary());
    report.residuals.step_length = last_step;
    if (!std::isfinite(report.residuals.force)) return end(Outcome::not_finite, "the forces are not finite");
    const bool satisfied = convergence_.satisfied(report.residuals);
    if (may_end && satisfied) return end(Outcome::converged, "");
    if (report.iterations == options_.max_iterations)
      return end(Outcome::iteration_limit,
                 fmt::format("not converged after {} iterations: residual {:.3g} N, {:.3g} m/s^2", report.iterations,
                             report.residuals.force, report.residuals.acceleration));

    const bool drives = !may_end && (!gives_way || satisfied);
    system_.set_drive(drives ? &drive_ : nullptr);
    if (drives) room = contact->minimum_gap(current_.x);
    const FactorStatus status = direction_->compute(system_, current_, dx_);
    if (status == FactorStatus::not_finite) return end(Outcome::not_finite, "the Hessian is not finite");
    if (status != FactorStatus::ok)
      return end(Outcome::factorisation_failed, fmt::format("the matrix of iteration {} could not be factorised: {}",
                                                            report.iterations + 1, to_string(status)));
    if (!dx_.allFinite()) return end(Outcome::not_finite, "the direction is not finite");
    ++report.iterations;
    if (direction_->projected()) ++report.projected_iterations;

    report.residuals.step_length = direction_->shortening() * dx_.cwiseAbs().maxCoeff() / h;
    if (may_end && convergence_.satisfied_by_step(report.residuals.step_length)) return end(Outcome::converged, "");

    LineSearchResult found;
    {
      const Stopwatch watch(report.seconds.line_search);
      const double largest = contact ? contact->largest_step(current_.x, dx_, drives) : 1;
      found = drives ? go_along(largest)
                     : line_search(potential_, current_, {dx_, current_.gradient.dot(dx_), largest},
                                   options_.line_search, trial_);
    }
    report.line_search_evaluations += found.evaluations;
    if (options_.history)
      report.history.push_back({current_.energy, report.residuals.force, report.residuals.acceleration,
                                report.residuals.step_length, found.alpha, direction_->projected()});
    if (drives && !found.accepted) {
      gives_way = true;
      continue;
    }
    if (!found.accepted)
      return end(
          Outcome::line_search_failed,
          fmt::format("no step length above {:.0e} lowers the energy in iteration {}: residual {:.3g} N, {:.3g} m/s^2",
                      options_.line_search.smallest_step, report.iterations, report.residuals.force,
                      report.residuals.acceleration));
    report.smallest_alpha = std::min(report.smallest_alpha, found.alpha);
    if (!drives) direction_->after_line_search(found.alpha);
    std::swap(current_, trial_);
    gives_way = (drives || gives_way) && found.alpha < 1 && contact->minimum_gap(current_.x) < room;
    if (contact && contact->adapt(current_.x)) current_.energy = potential_.gradient(current_.x, current_.gradient);
  }
}

/// What is prescribed goes on, and the bodies with it. Energy is not what tells how far, since what is prescribed does
/// work: any state with a finite one is a start for the iterations in which the bodies give way.
LineSearchResult NewtonStepper::go_along(double largest) {
  ContactStep& contact = *potential_.contact();
  const double progress = contact.progress();
  LineSearchResult result;
  for (double alpha = largest; alpha >= options_.line_search.smallest_step; alpha /= 2) {
    trial_.x = current_.x + alpha * dx_;
    if (alpha == 1) potential_.impose_boundary(trial_.x);
    contact.place_obstacles(alpha == 1 ? 1 : progress + alpha * (1 - progress));
    trial_.energy = potential_.gradient(trial_.x, trial_.gradient);
    ++result.evaluations;
    if (!std::isfinite(trial_.energy)) continue;
    result.accepted = true;
    result.alpha = alpha;
    return result;
  }
  contact.place_obstacles(progress);
  return result;
}

std::string NewtonStepper::describe_infinite_start() const {
  for (const Body& body : model_->bodies())
    if (const Index e = body.elastic ? body.elastic->first_inverted(current_.x) : -1; e >= 0)
      return fmt::format(
          "element {} of body '{}' is inverted where the step begins, and '{}' has no finite energy there; a directly "
          "imposed boundary may have moved "
          "too far (use a penalty or a smaller step), or the material must survive inversion",
          e, body.name, body.law->info().name);
  return "the energy is not finite where the step begins";
}

}  // namespace pliant
