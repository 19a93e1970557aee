#include "pliant/simulation/step_adjoint.hpp"

#include <fmt/format.h>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

void check_for_gradients(const Model& model, Integrator integrator) {
  const auto refuse = [](const std::string& what) {
    throw InputError(fmt::format("there are no gradients through {}", what));
  };
  if (integrator == Integrator::implicit_midpoint) refuse("the implicit midpoint; take implicit-euler or quasistatic");
  if (model.contact()) refuse("contact");
  if (model.colliders()) refuse("colliders");
  if (model.articulation()) refuse("links");
  if (!model.carried().empty()) refuse("rigid bodies");
  for (const SurfaceLoad& load : model.surface_loads()) {
    if (load.kind == LoadKind::gas) refuse(fmt::format("gas (load '{}')", load.name));
    if (!load.has_potential())
      refuse(fmt::format("the load '{}', whose forces follow an open surface; set follows = false", load.name));
  }
  if (!has_inertia(integrator)) return;
  for (const Body& body : model.bodies())
    if (body.damping.stiffness > 0) refuse(fmt::format("damping.stiffness (body '{}'); take damping.mass", body.name));
  if (model.ties())
    for (const Tie& tie : model.ties()->ties())
      if (tie.damping > 0) refuse("the damping of springs");
}

}  // namespace

StepAdjoint::StepAdjoint(std::shared_ptr<const Model> model, Integrator integrator)
    : model_(std::move(model)), potential_(model_, {integrator}), H_(potential_.make_matrix()) {
  check_for_gradients(*model_, integrator);
  cholesky_.analyze(H_.shared_pattern(), 3);
}

void StepAdjoint::residual(const State& before, double dt, const VecX& x, VecX& F) {
  potential_.begin_step(before, dt);
  potential_.gradient(x, F);
}

StepAdjoint::Back StepAdjoint::back(const State& before, double dt, const VecX& x, const VecX& of_positions,
                                    const VecX& of_velocities) {
  potential_.begin_step(before, dt);
  const StepProblem& problem = potential_.problem();
  Back back;
  back.lambda = of_positions;
  if (problem.has_inertia()) back.lambda += of_velocities / problem.h;
  potential_.clear_prescribed(back.lambda);
  potential_.hessian(x, Projection::none, 1, H_);
  if (cholesky_.factor(H_) != FactorStatus::ok && cholesky_.factor(H_, Factorisation::ldlt) != FactorStatus::ok)
    throw InputError("the Hessian at the end of the step is singular: there is no one gradient there");
  cholesky_.solve(back.lambda);
  back.positions.setZero(x.size());
  back.velocities.setZero(x.size());
  if (!problem.has_inertia()) return back;
  VecX momentum;
  model_->mass().multiply(back.lambda, momentum);
  back.velocities = momentum / problem.h;
  back.positions = momentum / (problem.h * problem.h) - of_velocities / problem.h;
  for (const Body& body : model_->bodies())
    for (Index i = body.nodes.begin; i < body.nodes.end && body.damping.mass > 0; ++i)
      node(back.positions, i) += body.damping.mass * model_->mass().lumped()[i] / problem.h * node(back.lambda, i);
  return back;
}

}  // namespace pliant
