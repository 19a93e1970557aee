#include "pliant/solvers/conjac/linearly_implicit_stepper.hpp"

#include <fmt/format.h>

#include "pliant/base/stopwatch.hpp"
#include "pliant/solvers/conjac/tangential_stiffness.hpp"

namespace pliant {

LinearlyImplicitStepper::LinearlyImplicitStepper(std::shared_ptr<const Model> model,
                                                 const LinearlyImplicitOptions& options)
    : Stepper(std::move(model), {.imposes_scripts = true}), options_(options), A_(potential().make_matrix()) {
  if (potential().contact()) contact_.emplace(potential(), this->model(), options.contact);
}

/// Algorithm 2: one linear system for the velocities of all nodes.
void LinearlyImplicitStepper::advance(Solution& solution, StepReport& report) {
  prescribed_.set(problem());
  {
    const Stopwatch assembly(report.seconds.assembly);
    forces(potential(), problem().x_n, f_);
  }
  if (!solve(report)) return;
  solution.x = problem().x_n + problem().h * v_;
  if (const ColliderPenalty* colliders = model()->colliders()) {
    apply_collider_friction(*colliders, problem().end, problem().h, solution.x, v_);
    solution.x = problem().x_n + problem().h * v_;
  }
  problem().impose_boundary(solution.x);
  solution.v = v_;
  report.iterations = 1;
  report.residuals.step_length = v_.cwiseAbs().maxCoeff();
  report.outcome = Outcome::budget_spent;
  if (contact_) solve_contact(solution, report);
}

/// The velocities change with the positions.
void LinearlyImplicitStepper::solve_contact(Solution& solution, StepReport& report) {
  scratch_ = solution.x;
  if (contact_->run(solution.x, problem().boundary.fixed, report)) solution.v += (solution.x - scratch_) / problem().h;
}

/// A = M + h D + beta h^2 H over all unknowns, and the right-hand side that it takes prescribed velocities to; then
/// these are eliminated.
void LinearlyImplicitStepper::assemble(Projection projection, StepReport& report) {
  const Stopwatch watch(report.seconds.assembly);
  const double h = problem().h;
  potential().stiffness(problem().x_n, projection, A_);
  if (options_.tangential > 0 && model()->colliders())
    add_tangential_stiffness(*model()->colliders(), problem().end, problem().x_n, options_.tangential, A_);
  const double scale = options_.beta * h * h;
  for (double& a : A_.values()) a *= scale;
  if (const BlockMatrix* D = potential().damping())
    for (std::size_t k = 0; k < A_.values().size(); ++k) A_.values()[k] += h * D->values()[k];
  model()->mass().add_to(A_, 1.0);
  if (contact_)
    for (std::size_t k = 0; k < A_.values().size(); ++k) contact_->matrix().values()[k] = A_.values()[k] / (h * h);

  model()->mass().multiply(problem().v_n, momentum_);
  v_ = momentum_ + h * f_;
  if (prescribed_.moves) {
    A_.multiply(prescribed_.v, coupling_);
    v_ -= coupling_;
  }
  for (Index i : problem().fixed) v_[i] = prescribed_.v[i];
  A_.eliminate(problem().boundary.fixed);
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

bool LinearlyImplicitStepper::solve(StepReport& report) {
  const bool project = options_.stiffness == StiffnessKind::projected;
  assemble(project ? Projection::analytic : Projection::none, report);
  FactorStatus status = factor(Factorisation::llt, report);
  if (status == FactorStatus::not_positive_definite && options_.stiffness == StiffnessKind::on_demand) {
    assemble(Projection::analytic, report);
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
  report.end(status == FactorStatus::not_finite ? Outcome::not_finite : Outcome::factorisation_failed,
             fmt::format("the matrix of the step could not be factorised: {}", to_string(status)));
  return false;
}

}  // namespace pliant
