#include "experiments/quasi_newton/descent.hpp"

#include <cmath>

#include "experiments/measure.hpp"

namespace pliant::experiments {

int DescentFrame::evaluations() const {
  int sum = 0;
  for (const DescentStep& step : steps) sum += step.evaluations;
  return sum;
}

Descent::Descent(std::shared_ptr<const Model> model, DescentOptions options)
    : model_(std::move(model)),
      options_(std::move(options)),
      potential_(model_, {}),
      hessian_(make_initial_hessian(options_.matrix_model ? options_.matrix_model : model_, options_.hessian)),
      lbfgs_(options_.spectral_radius > 0 ? 0 : options_.window) {}

/// Wang 2015: x^ = x - A^{-1} g, then omega (x^ - x_(k-1)) + x_(k-1); as a direction from x_k for the line search.
history::Descent Descent::chebyshev_direction(int iteration) {
  hessian_->solve(current_.gradient, lbfgs_, dx_);
  dx_ = -dx_;
  const double rho2 = options_.spectral_radius * options_.spectral_radius;
  if (iteration < options_.chebyshev_start)
    omega_ = 1;
  else
    omega_ = iteration == options_.chebyshev_start ? 2 / (2 - rho2) : 4 / (4 - rho2 * omega_);
  if (omega_ != 1) dx_ = (omega_ * (current_.x + dx_ - before_) + before_ - current_.x).eval();
  return {current_.gradient.dot(dx_), dx_.cwiseAbs().maxCoeff()};
}

DescentFrame Descent::solve(const State& state, double h, const Observer& observer) {
  DescentFrame frame;
  const ProcessorTime clock;
  potential_.begin_step(state, h);
  StepReport report;
  hessian_->prepare(potential_, report);
  frame.factorisations = report.factorisations;
  lbfgs_.forget();
  current_.x = potential_.problem().predicted_start();
  current_.energy = potential_.gradient(current_.x, current_.gradient);
  frame.first = current_.energy;
  if (!std::isfinite(current_.energy)) {  // predicted into inversion, with a law that has no energy there
    current_.x = potential_.start();
    current_.energy = potential_.gradient(current_.x, current_.gradient);
  }
  before_ = current_.x;
  potential_.contact_change();
  for (int k = 0; k < options_.iterations && std::isfinite(current_.energy); ++k) {
    history::Descent descent;
    {
      const ProcessorTime watch;
      double inside = 0;
      if (options_.spectral_radius > 0)
        descent = chebyshev_direction(k);
      else
        descent = lbfgs_.direction(
            current_.gradient,
            [&](const VecX& q, VecX& r) {
              const ProcessorTime solving;
              hessian_->solve(q, lbfgs_, r);
              inside = solving.seconds();
            },
            dx_);
      frame.solve_seconds += inside;
      frame.history_seconds += watch.seconds() - inside;
    }
    if (!std::isfinite(descent.largest) || descent.largest == 0) break;
    if (observer) observer(current_, dx_, descent.slope);
    DescentStep step{current_.energy, descent.slope, 0, 0, 0};
    const LineSearchResult found = line_search(potential_, current_, {dx_, descent.slope, 1}, options_.search, trial_);
    step.alpha = found.accepted ? found.alpha : 0;
    step.evaluations = found.evaluations;
    step.seconds = clock.seconds();
    frame.steps.push_back(step);
    if (!found.accepted) {
      frame.search_failed = true;
      break;
    }
    before_ = current_.x;
    {
      const ProcessorTime watch;
      lbfgs_.remember(found.alpha, dx_, trial_.gradient, current_.gradient);
      frame.history_seconds += watch.seconds();
    }
    std::swap(current_, trial_);
    if (options_.keeps) {
      const auto change = potential_.contact_change();
      if (change.changed > 0) lbfgs_.keep(options_.keeps(lbfgs_.pairs(), change.changed));
    }
  }
  frame.x = current_.x;
  frame.energy = current_.energy;
  frame.seconds = clock.seconds();
  return frame;
}

bool Descent::advance(State& state, double h, DescentFrame* frame) {
  DescentFrame own = solve(state, h);
  const bool finite = own.x.allFinite() && std::isfinite(own.energy);
  if (finite) {
    VecX v;
    potential_.velocities(own.x, v);
    potential_.end_step(own.x, v, state);
  }
  if (frame) *frame = std::move(own);
  return finite;
}

}  // namespace pliant::experiments
