#include "pliant/sim/stepper.hpp"

#include <fmt/format.h>

#include <cmath>
#include <new>

#include "pliant/base/memory.hpp"
#include "pliant/base/stopwatch.hpp"
#include "pliant/sim/contact/contact_step.hpp"
#include "pliant/sim/incremental_potential.hpp"
#include "pliant/sim/judgement.hpp"
#include "pliant/sim/sharing.hpp"

namespace pliant {

Stepper::Stepper(std::shared_ptr<const Model> model, const ProblemOptions& options)
    : model_(std::move(model)),
      potential_(std::make_unique<IncrementalPotential>(model_, options)),
      elastic_scale_(elastic_energy_scale(*model_)) {
  if (!model_->contact()) return;
  contact_force_.setZero(3 * Eigen::Index(model_->nodes()));
  contact_pressure_.setZero(model_->nodes());
}

Stepper::~Stepper() = default;

const StepProblem& Stepper::problem() const { return potential_->problem(); }

StepReport Stepper::step(State& state, double h, StepControl* control) {
  StepReport report;
  {
    const Stopwatch watch(report.seconds.total);
    // A loop that ended in one process alone would leave the others waiting: there, sums of the function's values ask.
    Sharing* sharing = model_->sharing();
    const StepControl::Scope scope(sharing ? nullptr : control);
    if (sharing) sharing->watch(control);
    ContactStep* contact = potential_->contact();
    if (contact) contact->count_seconds_in(&report.seconds.contact);
    try {
      take_step(state, h, report);
    } catch (const std::bad_alloc& error) {
      if (sharing) throw;  // nor can the others end a step that one of them has left
      spoilt_by_ = Outcome::out_of_memory;
      const auto* shortage = dynamic_cast<const MemoryShortage*>(&error);
      report.end(
          Outcome::out_of_memory,
          fmt::format("{}; remedy: {}", shortage ? shortage->what() : "there is not enough for the step", kLessMemory));
    } catch (const Interrupted&) {
      spoilt_by_ = Outcome::interrupted;
      report.end(Outcome::interrupted, fmt::format("asked to end after {} iterations", report.iterations));
    }
    if (contact) contact->count_seconds_in(nullptr);
  }
  return report;
}

void Stepper::take_step(State& state, double h, StepReport& report) {
  has_solution_ = false;
  if (!can_start(state, h, report)) return;
  solution_.clear();
  advance(solution_, report);
  if (!report.advanced()) return;
  if (solution_.v.size() == 0) potential_->velocities(solution_.x, solution_.v);
  measure(report);
  judge(report);
  if (!report.advanced()) return;
  potential_->end_step(solution_.x, solution_.v, state);
  unbalanced_.swap(solution_.gradient);
  has_solution_ = true;
}

std::optional<VecX> Stepper::support_forces() {
  if (!has_solution_) return std::nullopt;
  VecX f;
  potential_->support_forces(solution_.x, f);
  return f;
}

/// Makes the problem, unless nothing can be stepped from here.
bool Stepper::can_start(const State& state, double h, StepReport& report) {
  if (spoilt_by_) {
    report.end(*spoilt_by_, "an earlier step ended so, in its middle; make a new stepper");
    return false;
  }
  Sharing* sharing = model_->sharing();
  if (anywhere(sharing, !state.x.allFinite() || !state.v.allFinite()) || !std::isfinite(h)) {
    report.end(Outcome::not_finite, "the state to start from has positions or velocities that are not finite");
    return false;
  }
  potential_->begin_step(state, h);
  if (ContactStep* contact = potential_->contact()) {
    std::string what = contact->describe_intersections(state.x);
    if (anywhere(sharing, !what.empty())) {
      report.end(Outcome::intersecting_start, what.empty() ? "in the part of another process" : std::move(what));
      return false;
    }
  }
  return true;
}

/// The common measures of the positions that the family arrived at. Nodes of rigid links are left out: the forces that
/// keep links rigid are not part of the potential.
void Stepper::measure(StepReport& report) {
  if (!solution_.is_measured) {
    const Stopwatch watch(report.seconds.assembly);
    solution_.energy = potential_->gradient(solution_.x, solution_.gradient);
  }
  if (const Articulation* links = model_->articulation())
    for (Index i = 0; i < model_->nodes(); ++i)
      if (links->link_of()[static_cast<std::size_t>(i)] >= 0) node(solution_.gradient, i).setZero();
  report.energy = solution_.energy;
  Sharing* sharing = model_->sharing();
  report.residuals.force = norm(sharing, solution_.gradient);
  report.residuals.acceleration = largest_acceleration(*model_, solution_.gradient);
  report.minimum_gap = potential_->minimum_gap(solution_.x);
  ContactStep* contact = potential_->contact();
  if (!contact) return;
  report.contacts = static_cast<Index>(total(sharing, contact->pairs()));
  ContactStep::Forces forces = contact->forces(problem().pose(solution_.x));
  if (sharing)
    for (VecX* force : {&forces.normal, &forces.total}) sharing->sum_copies(*force);
  if (contact->has_friction()) {  // over the whole step; the implicit midpoint's x is halfway
    const double whole = problem().time_step / problem().h;
    report.figures.push_back(
        {"joules_friction", whole * dot(sharing, forces.total - forces.normal, solution_.x - problem().x_n)});
  }
  contact_force_ = std::move(forces.total);
  for (Index i = 0; i < model_->nodes(); ++i) {
    const double area = contact->model().area_at(i);
    contact_pressure_[i] = area > 0 ? node(forces.normal, i).norm() / area : 0;
  }
}

void Stepper::judge(StepReport& report) {
  const bool overflows = !solution_.x.allFinite() || !solution_.v.allFinite() || std::isnan(report.energy);
  if (anywhere(model_->sharing(), overflows))
    return report.end(Outcome::not_finite,
                      fmt::format("positions, velocities or forces overflowed; remedy: {}", remedy()));
  if (std::string why = describe_divergence(*potential_, elastic_scale_, solution_); !why.empty())
    report.end(Outcome::diverged, fmt::format("{}; remedy: {}", why, remedy()));
}

std::vector<NodeValues> Stepper::node_values() const {
  if (!model_->contact()) return {};
  const auto span = [](const VecX& v) { return std::span<const double>(v.data(), static_cast<std::size_t>(v.size())); };
  return {{"contact_force", 3, span(contact_force_)}, {"contact_pressure", 1, span(contact_pressure_)}};
}

}  // namespace pliant
