#include "pliant/solvers/quasi_newton/quasi_newton_stepper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pliant/base/stopwatch.hpp"
#include "pliant/sim/contact/contact_step.hpp"
#include "pliant/solvers/factor_failure.hpp"

namespace pliant {

namespace {

/// A matrix that needs shorter steps than this is far too soft for the state.
constexpr double kTooSoft = 1.0 / 64;
/// Stretched a thousandfold, a projected Hessian is singular to rounding: of its diagonal, this much is added.
constexpr double kFirstDamping = 1e-2, kLeastDamping = 1e-9;
/// What Newton's method may take of a step whose time is limited: enough to come free of a collision.
constexpr int kIterationsOfNewton = 2;

InitialHessianOptions hessian_options(const QuasiNewtonOptions& options) {
  InitialHessianOptions hessian = options.hessian;
  hessian.is_timed = options.time_limit > 0;
  return hessian;
}

}  // namespace

QuasiNewtonStepper::QuasiNewtonStepper(std::shared_ptr<const Model> model, const QuasiNewtonOptions& options)
    : Stepper(std::move(model), {options.integrator}),
      options_(options),
      convergence_(this->model(), options.criterion),
      hessian_(make_initial_hessian(this->model(), hessian_options(options))),
      lbfgs_(options.method == QuasiNewtonMethod::lbfgs ? options.window : 0),
      rho_(options.spectral_radius),
      has_gas_(pliant::has_gas(*this->model())) {
  // Newton's method, where it is needed, meets the criterion that was asked for, or its own default.
  if (this->model()->contact())
    contact_.emplace(potential(), options.stops_early ? options.criterion : NewtonOptions().criterion,
                     options.time_limit > 0 ? kIterationsOfNewton : 0);
}

void QuasiNewtonStepper::advance(Solution& solution, StepReport& report) {
  convergence_.begin_step(problem());
  begin_ = last_ = std::chrono::steady_clock::now();
  if (!prepare(report) || !find_start(report)) return;
  do {
    budget_ = report.iterations + options_.iterations;
    iterate(report);
  } while (contact_ && renew_friction(report));
  report.linear_iterations = hessian_->linear_iterations();
  if (contact_) report.figures.push_back({"ended_by_newton", ended_by_newton_ ? 1.0 : 0.0});
  std::swap(solution.x, current_.x);
  std::swap(solution.gradient, current_.gradient);
  solution.energy = current_.energy;
  solution.is_measured = true;
}

/// quasi-newton, Algorithms 1 and 2; with a window of zero, Projective Dynamics.
void QuasiNewtonStepper::iterate(StepReport& report) {
  previous_x_ = current_.x;
  potential().contact_change();
  for (;;) {
    StepControl::at_iteration(report.iterations);
    const bool is_last = is_out_of_time() || (report.iterations >= budget_ && !extend_budget(report));
    if (is_satisfied(is_last, report)) return;
    if (is_last) return report.end(Outcome::budget_spent, "");
    if (contact_ && !matrix_serves(report)) return end_by_newton(report);
    if (!contact_ && has_free_modes(*model()) && !hessian_->update(potential(), current_.x, report))
      return report.end(Outcome::budget_spent, "the matrix with rigid bodies or what slides could not be factorised");
    if (rescue_ && !follow(report)) return;
    if (has_gas_) take_in_gas();
    history::Descent descent;
    {
      const Stopwatch watch(report.seconds.solve);
      descent = lbfgs_.direction(
          current_.gradient,
          [&](const VecX& q, VecX& r) {
            hessian_->solve(q, lbfgs_, r);
            gas_.apply(r);
          },
          dx_);
    }
    if (!std::isfinite(descent.largest)) return report.end(Outcome::not_finite, "the direction is not finite");
    ++report.iterations;
    report.residuals.step_length = descent.largest / problem().h;
    if (descent.largest == 0) return report.end(Outcome::converged, "");

    if (contact_) contact_->trim(dx_, descent);
    const LineSearchResult found = search(descent, report);
    // Too soft a matrix promises more than there is; at the end of convergence, where rounding shortens steps, it does
    // not.
    if (found.alpha < kTooSoft && !rescue_ && hessian_->can_follow() && -descent.slope > std::abs(current_.energy)) {
      begin_rescue();
      continue;
    }
    if (!found.accepted && contact_ && options_.time_limit == 0) continue;  // with Newton's method
    // Where rounding hides any further decrease, the rest of the budget has no use.
    if (!found.accepted)
      return report.end(Outcome::budget_spent,
                        fmt::format("no step length above {:.0e} lowers the energy in iteration {}",
                                    options_.line_search.smallest_step, report.iterations));
    take_step(found.alpha, report);
    if (options_.method == QuasiNewtonMethod::chebyshev) accelerate();
    if (ends_by_step(report.residuals.step_length)) return report.end(Outcome::converged, "");
  }
}

/// The matrix, which is at hand unless what it depends on has changed.
bool QuasiNewtonStepper::prepare(StepReport& report) {
  const Stopwatch watch(report.seconds.factorisation);
  const bool is_new = hessian_->prepare(potential(), report);
  if (hessian_->status() != FactorStatus::ok) {
    const SparseCholesky none, *cholesky = hessian_->cholesky();
    end_without_factor(report, hessian_->status(), cholesky ? *cholesky : none, "the initial Hessian",
                       problem().has_inertia() ? "" : "without inertia, pins must hold every body");
    return false;
  }
  if (is_new && options_.method == QuasiNewtonMethod::chebyshev && options_.spectral_radius == 0)
    estimate_spectral_radius();
  return true;
}

/// Algorithm 1 begins at the inertial prediction. Where the energy is infinite there (a law with a barrier, predicted
/// into inversion), it begins where the last step ended.
bool QuasiNewtonStepper::find_start(StepReport& report) {
  const Stopwatch watch(report.seconds.assembly);
  lbfgs_.forget();
  gas_.clear();
  rescue_ = ended_by_newton_ = false;
  omega_ = 1;
  plain_iterations_ = friction_iterations_ = 0;
  if (contact_ && contact_->find_start(current_, report)) return true;
  if (problem().has_inertia() && !contact_) {
    current_.x = problem().predicted_start();
    current_.energy = potential().gradient(current_.x, current_.gradient);
    if (std::isfinite(current_.energy)) return true;
  }
  current_.x = potential().start();
  current_.energy = potential().gradient(current_.x, current_.gradient);
  if (std::isfinite(current_.energy)) return true;
  report.end(Outcome::inverted_start,
             "an element is inverted where the step begins, and its material has no finite energy there; use a smaller "
             "step, a penalty for moving boundaries, or a material that survives inversion");
  return false;
}

/// Measures the iterate where anybody looks at it, and ends the step where the criterion is met.
bool QuasiNewtonStepper::is_satisfied(bool is_last, StepReport& report) {
  if (!is_last && !options_.stops_early && !options_.history) return false;
  convergence_.measure(current_.gradient, problem().boundary, report.residuals);
  if (!std::isfinite(report.residuals.force)) {
    report.end(Outcome::not_finite, "the forces are not finite");
    return true;
  }
  if (!options_.stops_early || !convergence_.satisfied(report.residuals, report.iterations)) return false;
  if (contact_ && !contact_->arrived(current_.x)) return false;
  report.end(Outcome::converged, "");
  return true;
}

/// Makes the matrix anew at the iterate.
bool QuasiNewtonStepper::follow(StepReport& report) {
  const Stopwatch watch(report.seconds.factorisation);
  ++report.factorisations;
  lbfgs_.forget();
  if (hessian_->follow(potential(), current_.x, damping_)) return true;
  report.end(Outcome::budget_spent, "elements are stretched too far, and the Hessian could not be factorised there");
  return false;
}

/// Gas couples all nodes of a wall, mostly more stiffly than the wall is: no matrix without it comes near the Hessian.
/// What it adds stays for the step, as the matrix does, and is found anew where that changes.
void QuasiNewtonStepper::take_in_gas() {
  const bool changes =
      contact_ || rescue_ || has_free_modes(*model()) || options_.hessian.kind == InitialHessianKind::scaled_identity;
  if (!gas_.none() && !changes) return;
  const std::span<const RankOne> found = potential().find_rank_ones(current_.x);
  std::vector<RankOne> ones(found.begin(), found.end());
  for (RankOne& one : ones) potential().clear_prescribed(one.vector);
  VecX q, r;
  gas_.set(ones, [&](MatView columns) {
    for (Eigen::Index c = 0; c < columns.cols(); ++c) {
      q = columns.col(c);
      hessian_->solve(q, lbfgs_, r);
      columns.col(c) = r;
    }
  });
}

/// Whether the next iteration, if it takes as long as the last, would end after the limit. One there is always.
bool QuasiNewtonStepper::is_out_of_time() {
  if (options_.time_limit == 0) return false;
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::duration<double> spent = now - begin_, expected = now - last_;
  const bool is_first = last_ == begin_;
  last_ = now;
  return !is_first && (spent + expected).count() > options_.time_limit;
}

/// With contact, a step that has not settled when its budget is spent gets another one, or Newton's method. With a
/// limit to its time it goes on in the next step: every iterate is free of intersections.
bool QuasiNewtonStepper::extend_budget(const StepReport& report) {
  if (!contact_ || options_.time_limit > 0 || contact_->may_end(current_.x, report.residuals.step_length)) return false;
  budget_ += options_.iterations;
  return true;
}

/// Makes contact at the iterate part of the matrix. False where contact asks too much of it.
bool QuasiNewtonStepper::matrix_serves(StepReport& report) {
  // Newton's method keeps no time: with a limit it is for prescribed motion that runs into a body, and for bodies that
  // block each other over several steps, where it has a step to itself.
  const bool is_timed = options_.time_limit > 0, is_blocked = contact_->is_blocked() && report.iterations == 0;
  if (is_timed ? is_blocked || !contact_->arrived(current_.x) : contact_->needs_newton(current_.x)) return false;
  const Stopwatch watch(report.seconds.factorisation);
  return hessian_->update(potential(), current_.x, report);
}

void QuasiNewtonStepper::end_by_newton(StepReport& report) {
  contact_->end_by_newton(current_, report);
  if (options_.time_limit > 0 && report.outcome == Outcome::iteration_limit) report.end(Outcome::budget_spent, "");
  ended_by_newton_ = true;
}

LineSearchResult QuasiNewtonStepper::search(const history::Descent& descent, StepReport& report) {
  const Stopwatch watch(report.seconds.line_search);
  const double largest = contact_ ? contact_->largest_step(current_.x, dx_) : 1;
  const LineSearchResult found =
      line_search(potential(), current_, {dx_, descent.slope, largest}, options_.line_search, trial_);
  if (contact_) contact_->observe(found);
  report.line_search_evaluations += found.evaluations;
  if (found.accepted) report.smallest_alpha = std::min(report.smallest_alpha, found.alpha);
  if (options_.history)
    report.history.push_back({current_.energy, report.residuals.force, report.residuals.acceleration,
                              report.residuals.step_length, found.alpha, false});
  return found;
}

/// A constant matrix serves ordinary stretches. Where a law that grows faster than their square is stretched far
/// beyond, it is too soft by orders of magnitude and nothing would move any more: the rest of the step is projected
/// Newton's, from the lower of the iterate and where the last step ended, since moving on at speed may have led far
/// uphill. With contact, where going back may lead through things, from the iterate.
void QuasiNewtonStepper::begin_rescue() {
  if (contact_) return contact_->give_up();
  rescue_ = true;
  damping_ = kFirstDamping;
  trial_.x = potential().start();
  trial_.energy = potential().gradient(trial_.x, trial_.gradient);
  if (trial_.energy < current_.energy) std::swap(current_, trial_);
}

/// To the trial; trial_ is then the iterate before.
void QuasiNewtonStepper::take_step(double alpha, StepReport& report) {
  if (rescue_) damping_ = alpha == 1 ? std::max(damping_ / 4, kLeastDamping) : std::min(damping_ * 4, 1.0);
  {
    const Stopwatch watch(report.seconds.solve);
    lbfgs_.remember(alpha, dx_, trial_.gradient, current_.gradient);
    forget_other_contacts();
  }
  std::swap(current_, trial_);
  if (contact_ && potential().contact()->adapt(current_.x))
    current_.energy = potential().gradient(current_.x, current_.gradient);
}

/// Whether a direction of this length (m/s) was the last: by the criterion, or because nothing moves any more in
/// contact.
bool QuasiNewtonStepper::ends_by_step(double step_length) const {
  if (options_.stops_early) return convergence_.satisfied_by_step(step_length);
  return contact_ && contact_->is_settled(step_length);
}

/// A pair taken while other nodes were in touch speaks of another function: of the older pairs only as many stay as the
/// share of contacts that did.
void QuasiNewtonStepper::forget_other_contacts() {
  const auto change = potential().contact_change();
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
  if (contact_) {
    dx_ = trial_.x - current_.x;
    trial_.x = current_.x + contact_->largest_step(current_.x, dx_) * dx_;
  }
  trial_.energy = potential().gradient(trial_.x, trial_.gradient);
  if (trial_.energy <= limit) {
    std::swap(current_, trial_);
  } else {
    omega_ = 1;
    plain_iterations_ = 0;
  }
}

/// Whether to solve again, with the friction that belongs to what came out.
bool QuasiNewtonStepper::renew_friction(const StepReport& report) {
  ContactStep& contact = *potential().contact();
  if (ended_by_newton_ || !report.succeeded() || is_out_of_time() ||
      ++friction_iterations_ >= contact.model().options.friction_iterations)
    return false;
  const bool had_friction = contact.has_friction();
  contact.renew_friction(current_.x);
  if (!had_friction && !contact.has_friction()) return false;
  current_.energy = potential().gradient(current_.x, current_.gradient);
  return true;
}

/// The radius of 1 - A^{-1} H at rest, which rules the convergence of plain iterations, by power iteration from a fixed
/// vector: a property of the model and of what the matrix depends on, not of the states a run happens to pass.
void QuasiNewtonStepper::estimate_spectral_radius() {
  constexpr int kIterations = 60;
  BlockMatrix H = potential().make_matrix();
  potential().rest_hessian(H);
  VecX v(model()->rest().size()), Hv, r;
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    const double hash = 12.9898 * static_cast<double>(i + 1);
    v[i] = std::sin(hash * hash);
  }
  potential().clear_prescribed(v);
  double radius = 0;
  for (int k = 0; k < kIterations && v.norm() > 0; ++k) {
    v /= v.norm();
    H.multiply(v, Hv);
    potential().clear_prescribed(Hv);
    hessian_->solve_at_rest(Hv, lbfgs_, r);
    v -= r;
    radius = v.norm();
  }
  rho_ = std::clamp(radius, 0.0, 0.9999);
}

}  // namespace pliant
