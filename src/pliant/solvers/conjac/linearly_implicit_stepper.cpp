#include "pliant/solvers/conjac/linearly_implicit_stepper.hpp"

#include <fmt/format.h>

#include "pliant/base/stopwatch.hpp"
#include "pliant/sim/start_check.hpp"
#include "pliant/solvers/conjac/tangential_stiffness.hpp"

namespace pliant {

LinearlyImplicitStepper::LinearlyImplicitStepper(std::shared_ptr<const Model> model,
                                                 const LinearlyImplicitOptions& options)
    : model_(std::move(model)), options_(options), linear_(model_), A_(linear_.make_matrix()) {}

/// A = M + h D + beta h^2 H over all unknowns, and the right-hand side that it takes prescribed velocities to; then
/// these are eliminated.
void LinearlyImplicitStepper::assemble(const State& state, Projection projection, StepReport& report) {
  const Stopwatch watch(report.seconds.assembly);
  const double h = linear_.h();
  linear_.stiffness(state.x, projection, A_);
  if (options_.tangential > 0 && model_->colliders())
    add_tangential_stiffness(*model_->colliders(), linear_.end(), state.x, options_.tangential, A_);
  const double scale = options_.beta * h * h;
  for (double& a : A_.values()) a *= scale;
  if (const BlockMatrix* D = linear_.damping())
    for (std::size_t k = 0; k < A_.values().size(); ++k) A_.values()[k] += h * D->values()[k];
  model_->mass().add_to(A_, 1.0);

  model_->mass().multiply(state.v, momentum_);
  v_ = momentum_ + h * f_;
  if (linear_.boundary_moves()) {
    A_.multiply(linear_.prescribed_velocity(), coupling_);
    v_ -= coupling_;
  }
  for (Eigen::Index i = 0; i < v_.size(); ++i)
    if (linear_.prescribed()[static_cast<std::size_t>(i)]) v_[i] = linear_.prescribed_velocity()[i];
  A_.eliminate(linear_.prescribed());
}

FactorStatus LinearlyImplicitStepper::factor(Factorisation kind, StepReport& report) {
  const Stopwatch watch(report.seconds.factorisation);
  if (!analysed_) cholesky_.analyze(A_.shared_pattern(), 3);
  analysed_ = true;
  ++report.factorisations;
  const FactorStatus status = cholesky_.factor(A_, kind);
  if (status != FactorStatus::ok) ++report.failed_factorisations;
  return status;
}

bool LinearlyImplicitStepper::solve(const State& state, StepReport& report) {
  const bool project = options_.stiffness == StiffnessKind::projected;
  assemble(state, project ? Projection::analytic : Projection::none, report);
  FactorStatus status = factor(Factorisation::llt, report);
  if (status == FactorStatus::not_positive_definite && options_.stiffness == StiffnessKind::on_demand) {
    assemble(state, Projection::analytic, report);
    status = factor(Factorisation::llt, report);
    report.projected_iterations = 1;
  }
  if (status == FactorStatus::not_positive_definite && options_.stiffness == StiffnessKind::exact)
    status = factor(Factorisation::ldlt, report);
  if (project) report.projected_iterations = 1;
  if (status == FactorStatus::ok) {
    const Stopwatch watch(report.seconds.solve);
    cholesky_.solve(v_);
    return true;
  }
  report.outcome = status == FactorStatus::not_finite ? Outcome::not_finite : Outcome::factorisation_failed;
  report.detail = fmt::format("the matrix of the step could not be factorised: {}", to_string(status));
  return false;
}

StepReport LinearlyImplicitStepper::step(State& state, double h) {
  StepReport report;
  {
    const Stopwatch watch(report.seconds.total);
    if (!refuse_bad_start(state, h, report)) advance(state, h, report);
  }
  return report;
}

void LinearlyImplicitStepper::advance(State& state, double h, StepReport& report) {
  linear_.begin_step(state, h);
  {
    const Stopwatch assembly(report.seconds.assembly);
    linear_.forces(state.x, f_);
  }
  if (!solve(state, report)) return;
  x_ = state.x + h * v_;
  if (model_->colliders()) {
    apply_collider_friction(*model_->colliders(), linear_.end(), h, x_, v_);
    x_ = state.x + h * v_;
    report.minimum_gap = smallest_distance(*model_->colliders(), linear_.end(), x_);
  }
  linear_.impose(x_);
  if (!x_.allFinite() || !v_.allFinite()) {
    report.outcome = Outcome::not_finite;
    report.detail = "the velocities of the step are not finite; the step is unstable: raise beta or take smaller steps";
    return;
  }
  report.iterations = 1;
  report.outcome = Outcome::budget_spent;
  {
    const Stopwatch assembly(report.seconds.assembly);
    linear_.measure(x_, linear_.prescribed(), report);
  }
  report.residuals.step_length = v_.cwiseAbs().maxCoeff();
  state.x = x_;
  state.v = v_;
  linear_.end_step(state);
}

}  // namespace pliant
