#include "pliant/solvers/conjac/linearly_implicit_stepper.hpp"

#include <fmt/format.h>

#include "pliant/base/stopwatch.hpp"
#include "pliant/solvers/conjac/tangential_stiffness.hpp"
#include "pliant/solvers/factor_failure.hpp"

namespace pliant {

LinearlyImplicitStepper::LinearlyImplicitStepper(std::shared_ptr<const Model> model,
                                                 const LinearlyImplicitOptions& options)
    : Stepper(std::move(model), {.imposes_scripts = true}),
      options_(options),
      frame_(*this->model(), options.turning),
      A_(potential().make_matrix()) {
  if (options.safeguard == Safeguard::newton) guard_.emplace(potential(), this->model());
  if (potential().contact()) contact_.emplace(potential(), this->model(), options.contact);
}

void LinearlyImplicitStepper::advance(Solution& solution, StepReport& report) {
  if (guard_) guard_->begin();
  take_step(solution, report);
  if (guard_) guard_->end(solution, report);
}

/// Algorithm 2: one linear system for the velocities of all nodes.
void LinearlyImplicitStepper::take_step(Solution& solution, StepReport& report) {
  prescribed_.set(problem());
  frame_.begin(problem());
  if (guard_) guard_->note_straight_from(frame_.x());
  {
    const Stopwatch assembly(report.seconds.assembly);
    forces(potential(), frame_.x(), f_);
    const std::span<const RankOne> ones = potential().find_rank_ones(frame_.x());
    ones_.assign(ones.begin(), ones.end());
  }
  if (!solve(report)) return;
  solution.x = frame_.x() + problem().h * v_;
  v_ += frame_.v();
  if (const ColliderPenalty* colliders = model()->colliders()) {
    scratch_ = v_;
    apply_collider_friction(*colliders, problem().end, problem().h, solution.x, v_);
    solution.x += problem().h * (v_ - scratch_);
  }
  problem().impose_boundary(solution.x);
  frame_.keep_momentum(solution.x, v_);
  solution.v = v_;
  report.iterations = 1;
  report.residuals.step_length = v_.cwiseAbs().maxCoeff();
  report.outcome = Outcome::budget_spent;
  if (contact_) solve_contact(solution, report);
}

std::string LinearlyImplicitStepper::remedy() const {
  return guard_ ? Stepper::remedy() : "set safeguard = \"newton\"";
}

/// The velocities change with the positions.
void LinearlyImplicitStepper::solve_contact(Solution& solution, StepReport& report) {
  scratch_ = solution.x;
  for (RankOne& one : ones_) one.scale *= options_.beta;
  if (contact_->run(solution.x, problem().boundary.fixed, report, nullptr, ones_))
    solution.v += (solution.x - scratch_) / problem().h;
}

/// A = M + h D + beta h^2 H over all unknowns, and the right-hand side M (v0 - u) + h f - h D u, from which prescribed
/// velocities are eliminated.
void LinearlyImplicitStepper::assemble(Projection projection, StepReport& report) {
  const Stopwatch watch(report.seconds.assembly);
  const double h = problem().h;
  potential().stiffness(frame_.x(), projection, A_);
  if (options_.tangential > 0 && model()->colliders())
    add_tangential_stiffness(*model()->colliders(), problem().end, frame_.x(), options_.tangential, A_);
  momentum_ = h * f_;
  if (const BlockMatrix* D = potential().damping(); D && frame_.moves()) {
    D->multiply(frame_.v(), coupling_);
    momentum_ -= h * coupling_;
  }
  const double scale = options_.beta * h * h;
  for (double& a : A_.values()) a *= scale;
  if (const BlockMatrix* D = potential().damping())
    for (std::size_t k = 0; k < A_.values().size(); ++k) A_.values()[k] += h * D->values()[k];
  model()->mass().add_to(A_, 1.0);
  if (contact_)
    for (std::size_t k = 0; k < A_.values().size(); ++k) contact_->matrix().values()[k] = A_.values()[k] / (h * h);

  model()->mass().multiply(problem().v_n - frame_.v(), v_);
  v_ += momentum_;
  if (prescribed_.moves) {
    A_.multiply(prescribed_.v, coupling_);
    v_ -= coupling_;
    for (const RankOne& one : ones_) v_ -= scale * one.scale * one.vector.dot(prescribed_.v) * one.vector;
  }
  for (Index i : problem().fixed) v_[i] = prescribed_.v[i];
  A_.eliminate(problem().boundary.fixed);
}

/// What gas adds to the matrix, which couples all nodes of a wall.
void LinearlyImplicitStepper::add_rank_ones() {
  if (ones_.empty()) return;
  std::vector<RankOne> scaled = ones_;
  for (RankOne& one : scaled) {
    one.scale *= options_.beta * problem().h * problem().h;
    potential().clear_prescribed(one.vector);
  }
  pliant::add_rank_ones(cholesky_, scaled, v_);
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
    add_rank_ones();
    return true;
  }
  end_without_factor(report, status, cholesky_, "the matrix of the step");
  return false;
}

}  // namespace pliant
