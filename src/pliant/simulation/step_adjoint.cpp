#include "pliant/simulation/step_adjoint.hpp"

#include <fmt/format.h>

#include <utility>

#include "pliant/base/error.hpp"
#include "pliant/sim/contact/contact_step.hpp"
#include "pliant/sim/rank_one.hpp"
#include "pliant/simulation/lagged_adjoint.hpp"

namespace pliant {

namespace {

void check_for_gradients(const Model& model, Integrator integrator) {
  const auto refuse = [](const std::string& what) {
    throw InputError(fmt::format("there are no gradients through {}", what));
  };
  if (integrator == Integrator::implicit_midpoint) refuse("the implicit midpoint; take implicit-euler or quasistatic");
  if (model.colliders()) refuse("colliders by penalties; leave simulation.colliders at \"barrier\"");
  if (model.articulation()) refuse("links");
  if (model.contact()) {
    if (model.contact()->options.adaptive) refuse("contact that grows stiffer within a step; set adaptive = false");
    if (model.contact()->options.friction_iterations > 1)
      refuse("friction that is renewed within a step; set friction_iterations = 1");
  }
}

}  // namespace

StepAdjoint::StepAdjoint(std::shared_ptr<const Model> model, Integrator integrator)
    : model_(std::move(model)), potential_(model_, {integrator}), full_(potential_.make_matrix()) {
  check_for_gradients(*model_, integrator);
}

void StepAdjoint::begin(const State& before, double dt) {
  potential_.begin_step(before, dt);
  if (ContactStep* contact = potential_.contact()) contact->place_obstacles(1);
}

void StepAdjoint::residual(const State& before, double dt, const VecX& x, VecX& F) {
  begin(before, dt);
  potential_.gradient(x, F);
}

VecX StepAdjoint::prescribed(const State& before, double dt) {
  begin(before, dt);
  VecX positions = VecX::Zero(before.x.size());
  for (Index i : potential_.problem().fixed) positions[i] = potential_.problem().boundary.positions[i];
  return positions;
}

/// lambda becomes H^{-1} lambda.
void StepAdjoint::solve(VecX& lambda) {
  H_ = full_;
  H_.eliminate(potential_.problem().boundary.fixed);
  if (analysed_ != H_.shared_pattern()) cholesky_.analyze(H_.shared_pattern(), 3);
  analysed_ = H_.shared_pattern();
  if (cholesky_.factor(H_) != FactorStatus::ok && cholesky_.factor(H_, Factorisation::ldlt) != FactorStatus::ok)
    throw InputError("the Hessian at the end of the step is singular: there is no one gradient there");
  cholesky_.solve(lambda);
  std::vector<RankOne> ones(potential_.rank_ones().begin(), potential_.rank_ones().end());
  for (RankOne& one : ones) potential_.clear_prescribed(one.vector);
  add_rank_ones(cholesky_, ones, lambda);
}

/// What damping, friction and forces on open surfaces take from where the step began.
void StepAdjoint::take_back_lagged(const VecX& x, Back& back) {
  const StepProblem& problem = potential_.problem();
  VecX by_start = VecX::Zero(x.size());
  if (const BlockMatrix* D = potential_.damping()) {
    VecX resisted;
    D->multiply(back.lambda, resisted);
    by_start -= resisted / problem.h;
    add_damping_by_start(*model_, problem, x, back.lambda, by_start);
  }
  if (problem.has_inertia()) add_tie_damping_by_start(*model_, problem, x, back.lambda, by_start);
  if (ContactStep* contact = potential_.contact(); contact && contact->has_friction())
    contact->add_friction_by_start(x, back.lambda, by_start);
  back.positions -= by_start;
  VecX by_end = VecX::Zero(x.size());  // x^n + h v^n; prescribed positions are a matter of p, not of the start
  add_surface_forces_by_end(*model_, problem, back.lambda, by_end);
  potential_.clear_prescribed(by_end);
  back.positions -= by_end;
  if (problem.has_inertia()) back.velocities -= problem.h * by_end;
}

StepAdjoint::Back StepAdjoint::back(const State& before, double dt, const VecX& x, const VecX& of_positions,
                                    const VecX& of_velocities) {
  begin(before, dt);
  const StepProblem& problem = potential_.problem();
  Back back;
  VecX of_end = of_positions;
  if (problem.has_inertia()) of_end += of_velocities / problem.h;
  back.lambda = of_end;
  potential_.clear_prescribed(back.lambda);
  potential_.full_hessian(x, full_);
  solve(back.lambda);

  VecX pulled;
  full_.multiply(back.lambda, pulled);
  for (const RankOne& one : potential_.rank_ones()) pulled += one.scale * one.vector.dot(back.lambda) * one.vector;
  back.prescribed.setZero(x.size());
  for (Index i : problem.fixed) back.prescribed[i] = of_end[i] - pulled[i];

  back.positions.setZero(x.size());
  back.velocities.setZero(x.size());
  if (problem.has_inertia()) {
    VecX momentum;
    model_->mass().multiply(back.lambda, momentum);
    back.velocities = momentum / problem.h;
    back.positions = momentum / (problem.h * problem.h) - of_velocities / problem.h;
  }
  take_back_lagged(x, back);
  return back;
}

}  // namespace pliant
