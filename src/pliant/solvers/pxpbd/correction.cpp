#include "pliant/solvers/pxpbd/correction.hpp"

#include <algorithm>
#include <cmath>

#include "pliant/sim/contact/contact_step.hpp"
#include "pliant/sim/judgement.hpp"

namespace pliant::pbd {

namespace {

NewtonOptions newton_options() {
  NewtonOptions options;
  options.criterion.kind = Criterion::step_length;
  return options;
}

/// The share of the tolerance that a step of length h may leave undone. An acceleration that every step leaves out
/// moves a body by as much in the end, however short the steps are: lengths that may be left go with h^2, those of
/// longer steps than this one excepted. Rounding is below the least.
double share_of_step(double h) {
  constexpr double kStep = 1.0 / 60, kLeast = 1e-8;
  return std::clamp(h * h / (kStep * kStep), kLeast, 1.0);
}

/// Friction hides from steps that are not well below eps_v h, and what slides adds up what each step leaves.
constexpr double kTouching = 0.01;

bool goes_by_residual(const Model& model, CorrectionKind kind) {
  const bool has_rigid =
      std::any_of(model.bodies().begin(), model.bodies().end(), [](const Body& body) { return body.rigid != nullptr; });
  return kind == CorrectionKind::automatic ||
         (kind == CorrectionKind::contact && (model.contact() || has_rigid || has_gas(model)));
}

}  // namespace

void RunawayTest::begin(const double* nodes, Index count) {
  before_.assign(nodes, nodes + 4 * static_cast<std::ptrdiff_t>(count));
  moved_ = HUGE_VAL;
  grown_ = 0;
}

bool RunawayTest::runs_away(const double* nodes) {
  constexpr double kGrowth = 1.5, kFar = 0.01;
  constexpr int kTimes = 2;
  double largest = 0;
  for (std::size_t k = 0; k < before_.size(); ++k) {
    const double moved = std::abs(nodes[k] - before_[k]);
    if (!std::isfinite(moved)) return true;
    largest = std::max(largest, moved);
    before_[k] = nodes[k];
  }
  grown_ = largest > kGrowth * moved_ ? grown_ + 1 : 0;
  moved_ = largest;
  return grown_ >= kTimes && largest > kFar * size_;
}

Correction::Correction(IncrementalPotential& potential, const CorrectionOptions& options)
    : potential_(potential),
      by_residual_(goes_by_residual(potential.model(), options.kind)),
      settled_(options.tolerance * smallest_body_size(potential.model()) * (potential.contact() ? kTouching : 1)),
      newton_(potential, potential.shared_model(), newton_options()) {}

int Correction::end(Iterate& swept, StepReport& report) {
  const Need need = need_of(swept, report);
  if (need == Need::none) return 0;
  StepReport solved;
  newton_.begin_step(solved);
  // Slivers are thinner than what is settled otherwise.
  constexpr double kThin = 1e-3;
  const bool folds = swept.x.allFinite() && has_inverted(potential_.model(), swept.x);
  newton_.set_tolerance((folds ? kThin : 1) * settled() / potential_.problem().h);
  if (!choose_start(need, swept)) return 0;  // neither here nor there: the sweeps must lead back
  newton_.run(solved);
  std::swap(swept, newton_.current());
  const int sweeps = report.iterations;
  report.count(solved);
  report.iterations = sweeps;
  if (solved.succeeded())
    report.end(Outcome::budget_spent, "");
  else
    report.end(solved.outcome, "Newton's method after the sweeps: " + solved.detail);
  return solved.iterations;
}

double Correction::settled() const { return settled_ * share_of_step(potential_.problem().h); }

/// Balancing an acceleration moves nothing by more than h^2 times as much. Where elements are inverted, a law that
/// allows it has another minimum than the one that the step began in. Where bodies touch, sweeps squeeze their surfaces
/// against each other, and from there Newton's steps are short: it is farther to the solution than from the start.
Correction::Need Correction::need_of(const Iterate& swept, const StepReport& report) const {
  if (!report.succeeded() || !swept.x.allFinite() || !std::isfinite(swept.energy)) return Need::from_start;
  if (has_inverted(potential_.model(), swept.x)) return Need::from_start;
  if (!by_residual_) return Need::none;
  const double h = potential_.problem().h;
  const bool is_near = largest_acceleration(potential_.model(), swept.gradient) * h * h <= settled();
  if (is_near) return Need::none;
  ContactStep* contact = potential_.contact();
  return contact && std::isfinite(contact->minimum_gap(swept.x)) ? Need::from_start : Need::from_here;
}

/// Where the sweeps ended, if the potential is no higher there than where the step began. False where it is nowhere
/// finite.
bool Correction::choose_start(Need need, Iterate& swept) {
  ContactStep* contact = potential_.contact();
  if (!contact || need == Need::from_start) {  // with obstacles elsewhere energies do not compare
    const double progress = contact ? contact->progress() : 1;
    if (contact) contact->place_obstacles(0);
    if (newton_.start_at(potential_.start()) &&
        (need == Need::from_start || !(swept.energy <= newton_.current().energy)))
      return true;
    if (contact) contact->place_obstacles(progress);
  }
  if (!swept.x.allFinite() || !std::isfinite(swept.energy)) return false;
  newton_.start_from(swept);
  return true;
}

}  // namespace pliant::pbd
