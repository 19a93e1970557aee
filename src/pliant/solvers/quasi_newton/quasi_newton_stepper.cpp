#include "pliant/solvers/quasi_newton/quasi_newton_stepper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pliant/base/stopwatch.hpp"
#include "pliant/sim/start_check.hpp"

namespace pliant {

namespace {

/// A matrix that needs shorter steps than this is far too soft for the state.
constexpr double kTooSoft = 1.0 / 64;
/// Stretched a thousandfold, a projected Hessian is singular to rounding: of its diagonal, this much is added.
constexpr double kFirstDamping = 1e-2, kLeastDamping = 1e-9;

}  // namespace

QuasiNewtonStepper::QuasiNewtonStepper(std::shared_ptr<const Model> model, const QuasiNewtonOptions& options)
    : model_(std::move(model)),
      options_(options),
      potential_(model_, options.integrator),
      convergence_(model_, options.criterion),
      hessian_(make_initial_hessian(model_, options.hessian)),
      lbfgs_(options.method == QuasiNewtonMethod::lbfgs ? options.window : 0),
      rho_(options.spectral_radius) {}

StepReport QuasiNewtonStepper::step(State& state, double h) {
  StepReport report;
  {
    const Stopwatch watch(report.seconds.total);
    if (refuse_bad_start(state, h, report)) return report;
    potential_.begin_step(state, h);
    {
      const Stopwatch factorisation(report.seconds.factorisation);
      const int factorised = hessian_->prepare(potential_);
      report.factorisations += factorised;
      if (factorised > 0 && options_.method == QuasiNewtonMethod::chebyshev && options_.spectral_radius == 0 &&
          hessian_->status() == FactorStatus::ok)
        estimate_spectral_radius();
    }
    if (hessian_->status() != FactorStatus::ok) {
      report.outcome = Outcome::factorisation_failed;
      report.detail = fmt::format(
          "the initial Hessian could not be factorised: {}{}", to_string(hessian_->status()),
          options_.integrator == Integrator::quasistatic ? "; without inertia, pins must hold every body" : "");
      return report;
    }
    if (begin(report)) iterate(report);
    report.linear_iterations = hessian_->linear_iterations();
    if (report.advanced()) {
      potential_.end_step(current_.x, state);
      report.minimum_gap = potential_.minimum_gap(current_.x);
    }
  }
  return report;
}

/// Algorithm 1 begins at the inertial prediction. Where the energy is infinite there (a law with a barrier, predicted
/// into inversion), it begins where the last step ended.
bool QuasiNewtonStepper::begin(StepReport& report) {
  const Stopwatch watch(report.seconds.assembly);
  lbfgs_.forget();
  rescue_ = false;
  omega_ = 1;
  plain_iterations_ = 0;
  if (potential_.has_inertia()) {
    current_.x = potential_.predicted_start();
    current_.energy = potential_.gradient(current_.x, current_.gradient);
    if (std::isfinite(current_.energy)) return true;
  }
  current_.x = potential_.start();
  current_.energy = potential_.gradient(current_.x, current_.gradient);
  if (std::isfinite(current_.energy)) return true;
  report.outcome = Outcome::inverted_start;
  report.detail =
      "an element is inverted where the step begins, and its material has no finite energy there; use a smaller step, "
      "a "
      "penalty for moving boundaries, or a material that survives inversion";
  return false;
}

void QuasiNewtonStepper::iterate(StepReport& report) {
  const double h = potential_.h();
  const auto end = [&](Outcome outcome, std::string detail) {
    report.outcome = outcome;
    report.detail = std::move(detail);
  };
  previous_x_ = current_.x;
  potential_.contact_change();
  for (;;) {
    const double last_step = report.residuals.step_length;
    const bool is_last = report.iterations == options_.iterations;
    report.energy = current_.energy;
    if (is_last || options_.stops_early || options_.history) {
      report.residuals = convergence_.measure(current_.gradient, potential_.boundary());
      report.residuals.step_length = last_step;
      if (!std::isfinite(report.residuals.force)) return end(Outcome::not_finite, "the forces are not finite");
    }
    if (options_.stops_early && convergence_.satisfied(report.residuals)) return end(Outcome::converged, "");
    if (is_last) return end(Outcome::budget_spent, "");

    if (rescue_) {
      const Stopwatch watch(report.seconds.factorisation);
      ++report.factorisations;
      lbfgs_.forget();
      if (!hessian_->follow(potential_, current_.x, damping_))
        return end(Outcome::budget_spent,
                   "far beyond ordinary stretches, and the Hessian there could not be factorised");
    }
    history::Descent descent;
    {
      const Stopwatch watch(report.seconds.solve);
      descent = lbfgs_.direction(
          current_.gradient, [&](const VecX& q, VecX& r) { hessian_->solve(q, lbfgs_, r); }, dx_);
    }
    if (!std::isfinite(descent.largest)) return end(Outcome::not_finite, "the direction is not finite");
    ++report.iterations;
    report.residuals.step_length = descent.largest / h;
    if (descent.largest == 0) return end(Outcome::converged, "");
    if (options_.stops_early && convergence_.satisfied_by_step(report.residuals.step_length))
      return end(Outcome::converged, "");

    LineSearchResult found;
    {
      const Stopwatch watch(report.seconds.line_search);
      found = line_search(potential_, current_, {dx_, descent.slope}, options_.line_search, trial_);
    }
    report.line_search_evaluations += found.evaluations;
    if (options_.history)
      report.history.push_back({current_.energy, report.residuals.force, report.residuals.acceleration,
                                report.residuals.step_length, found.alpha, false});
    // Too soft a matrix promises more than there is; at the end of convergence, where rounding shortens steps, it does
    // not.
    if (found.alpha < kTooSoft && !rescue_ && hessian_->can_follow() && -descent.slope > std::abs(current_.energy)) {
      begin_rescue();
      continue;
    }
    // Where rounding hides any further decrease, the rest of the budget has no use.
    if (!found.accepted) {
      report.residuals.force = current_.gradient.norm();
      return end(Outcome::budget_spent,
                 fmt::format("no step length above {:.0e} lowers the energy in iteration {}: residual {:.3g} N",
                             options_.line_search.smallest_step, report.iterations, report.residuals.force));
    }
    report.smallest_alpha = std::min(report.smallest_alpha, found.alpha);
    if (rescue_) damping_ = found.alpha == 1 ? std::max(damping_ / 4, kLeastDamping) : std::min(damping_ * 4, 1.0);
    {
      const Stopwatch watch(report.seconds.solve);
      lbfgs_.remember(found.alpha, dx_, trial_.gradient, current_.gradient);
      forget_other_contacts();
    }
    std::swap(current_, trial_);  // trial_ is now the iterate before
    if (options_.method == QuasiNewtonMethod::chebyshev) accelerate();
  }
}

/// A constant matrix serves ordinary stretches. Where a law that grows faster than their square is stretched far
/// beyond, it is too soft by orders of magnitude and nothing would move any more: the rest of the step is projected
/// Newton's, from the lower of the iterate and where the last step ended, since moving on at speed may have led far
/// uphill.
void QuasiNewtonStepper::begin_rescue() {
  rescue_ = true;
  damping_ = kFirstDamping;
  trial_.x = potential_.start();
  trial_.energy = potential_.gradient(trial_.x, trial_.gradient);
  if (trial_.energy < current_.energy) std::swap(current_, trial_);
}

/// A pair taken while other nodes were in touch speaks of another function: of the older pairs only as many stay as the
/// share of contacts that did.
void QuasiNewtonStepper::forget_other_contacts() {
  const auto change = potential_.contact_change();
  if (change.changed == 0) return;
  const double same = 1 - static_cast<double>(change.changed) / change.touching;
  lbfgs_.keep(static_cast<std::size_t>(same * static_cast<double>(lbfgs_.pairs())));
}

/// Algorithm 3: x_(k+1) = omega (x^ - x_(k-1)) + x_(k-1), x^ the plain iterate. Where the extrapolation climbs above
/// x_k or leaves the material's domain, the plain iterate stands and acceleration begins anew: the radius estimated at
/// rest is too large or too small far from it.
void QuasiNewtonStepper::accelerate() {
  const double rho2 = rho_ * rho_;
  ++plain_iterations_;
  if (plain_iterations_ < options_.chebyshev_start)
    omega_ = 1;
  else
    omega_ = plain_iterations_ == options_.chebyshev_start ? 2 / (2 - rho2) : 4 / (4 - rho2 * omega_);
  std::swap(previous_x_, trial_.x);  // now x_k; trial_.x is x_(k-1)
  if (omega_ == 1) return;
  const double limit = trial_.energy;  // E(x_k)
  trial_.x = omega_ * (current_.x - trial_.x) + trial_.x;
  trial_.energy = potential_.gradient(trial_.x, trial_.gradient);
  if (trial_.energy <= limit) {
    std::swap(current_, trial_);
  } else {
    omega_ = 1;
    plain_iterations_ = 0;
  }
}

/// The radius of 1 - A^{-1} H at rest, which rules the convergence of plain iterations, by power iteration from a fixed
/// vector: a property of model and time step, not of the states a run happens to pass.
void QuasiNewtonStepper::estimate_spectral_radius() {
  constexpr int kIterations = 60;
  BlockMatrix H = potential_.make_matrix();
  potential_.hessian(model_->rest(), Projection::analytic, 1, H);
  VecX v(model_->rest().size()), Hv, r;
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    const double hash = 12.9898 * static_cast<double>(i + 1);
    v[i] = potential_.boundary().fixed[static_cast<std::size_t>(i)] ? 0 : std::sin(hash * hash);
  }
  double radius = 0;
  for (int k = 0; k < kIterations && v.norm() > 0; ++k) {
    v /= v.norm();
    H.multiply(v, Hv);
    for (Eigen::Index i = 0; i < v.size(); ++i)
      if (potential_.boundary().fixed[static_cast<std::size_t>(i)]) Hv[i] = 0;
    hessian_->solve(Hv, lbfgs_, r);
    v -= r;
    radius = v.norm();
  }
  rho_ = std::clamp(radius, 0.0, 0.9999);
}

}  // namespace pliant
