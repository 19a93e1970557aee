// Where the paper solves with K_qq, we factor H over all nodes with the dynamic ones last (SparseCholesky with
// `schur`): the factor's part before them is that of H_qq, J_qd is a backward substitution with 3 n_d columns at once,
// and J^T H J is the Schur complement, which falls out of the factorisation. The last block need not be positive
// definite; a shift of the size of its own diagonal makes it so, which costs no accuracy and is taken off again.
// Solutions with H_qq alone come from solutions u with the whole matrix, H_qq^{-1} b = u_q - J_qd u_d.
#include "pliant/solvers/conjac/conjac_stepper.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pliant/base/error.hpp"
#include "pliant/base/stopwatch.hpp"
#include "pliant/solvers/conjac/tangential_stiffness.hpp"
#include "pliant/solvers/factor_failure.hpp"

namespace pliant {

namespace {

/// Dense matrices of this many nodes are where another method is the right one.
constexpr std::size_t kMostDynamicNodes = 2000;

}  // namespace

ConjacStepper::ConjacStepper(std::shared_ptr<const Model> model, const ConjacOptions& options)
    : Stepper(std::move(model), {.imposes_scripts = true}),
      options_(options),
      frame_(*this->model(), options.turning),
      H_(potential().make_matrix()) {
  chosen_ = pliant::dynamic_nodes(*this->model(), options_.dynamic);
  if (chosen_.size() > kMostDynamicNodes)
    throw InputError(
        fmt::format("{} dynamic nodes: conjac is for a few, up to {}; to make all nodes dynamic, use linearly-implicit",
                    chosen_.size(), kMostDynamicNodes));
  dynamic_ = chosen_;
  links_ = this->model()->articulation();
  joints_ = links_ ? links_->degrees() : 0;
  if (links_) find_link_rows();
  mass_.resize(this->model()->rest().size());
  for (Index i = 0; i < this->model()->nodes(); ++i) node(mass_, i).setConstant(this->model()->mass().lumped()[i]);
  // Newton's method moves no links.
  if (options.safeguard == Safeguard::newton && !links_)
    guard_.emplace(potential(), this->model(), StepGuard::Balance::some_nodes);
  if (!potential().contact()) return;
  contact_.emplace(potential(), this->model(), options.contact);
  linear_contact_.emplace();
  without_contact_ = potential().make_matrix();
}

void ConjacStepper::advance(Solution& solution, StepReport& report) {
  if (guard_) guard_->begin();
  take_step(solution, report);
  if (guard_) guard_->end(solution, report);
}

/// Algorithm 1.
void ConjacStepper::take_step(Solution& solution, StepReport& report) {
  moving_.set(problem());
  assign_roles();
  x_ = problem().x_n;
  if (links_) look_at_links();
  if (linear_contact_) potential().linearise_contact(linear_contact_->force, linear_contact_->stiffness);
  begin_frame();
  if (options_.initial_solve && problem().steps_before == 0 && !settle(report)) return;
  if (guard_) guard_->note_straight_from(x_);
  {
    const Stopwatch watch(report.seconds.assembly);
    find_forces(x_, f_);
  }
  if (!solve_for_velocities(report)) return;
  apply_friction();
  stabilise(report);
  problem().impose_boundary(x_);
  if (links_) end_links();
  v_ += frame_.v();
  frame_.keep_momentum(x_, v_);
  report.iterations = 1;
  report.residuals.step_length = v_.cwiseAbs().maxCoeff();
  report.outcome = Outcome::budget_spent;
  if (contact_ && guard_ && guard_->is_hopeless(x_))
    return report.end(Outcome::diverged, "the linear step folded elements or turned joints far");
  if (contact_ && !solve_contact(report)) return;
  std::swap(solution.x, x_);
  solution.v = v_;
}

/// Parts turn that neither links nor contact hold, and that are not to be settled first.
void ConjacStepper::begin_frame() {
  unturned_ = held_;
  if (linear_contact_) {
    const BlockMatrix& K = linear_contact_->stiffness;
    for (Index i = 0; i < model()->nodes(); ++i) {
      const double* block = K.block(K.pattern().diagonal(i));
      if (block[0] != 0 || block[4] != 0 || block[8] != 0) unturned_[3 * at(i)] = 1;
    }
  }
  if (options_.initial_solve && problem().steps_before == 0) unturned_.assign(unturned_.size(), 1);
  frame_.begin(problem(), unturned_);
  x_ = frame_.x();
}

std::string ConjacStepper::remedy() const {
  return options_.safeguard == Safeguard::newton ? Stepper::remedy() : "set safeguard = \"newton\"";
}

/// All forces but damping, contact as linearised at x^n; returns the energy they derive from, up to a constant.
double ConjacStepper::find_forces(const VecX& x, VecX& f) {
  double value = forces(potential(), x, f);
  if (!linear_contact_) return value;
  LinearContact& contact = *linear_contact_;
  contact.displacement = x - problem().x_n;
  contact.stiffness.multiply(contact.displacement, contact.resistance);
  f += contact.force - contact.resistance;
  potential().clear_prescribed(f);
  return value + contact.displacement.dot(0.5 * contact.resistance - contact.force);
}

/// That energy alone.
double ConjacStepper::energy(const VecX& x) {
  double value = potential().value(x, kForces);
  if (!linear_contact_) return value;
  LinearContact& contact = *linear_contact_;
  contact.displacement = x - problem().x_n;
  contact.stiffness.multiply(contact.displacement, contact.resistance);
  return value + contact.displacement.dot(0.5 * contact.resistance - contact.force);
}

/// H = -df/dx of the same forces.
void ConjacStepper::assemble_stiffness(const VecX& x, Projection projection) {
  const std::span<const RankOne> ones = potential().find_rank_ones(x);
  ones_.assign(ones.begin(), ones.end());
  if (!linear_contact_) return potential().stiffness(x, projection, H_);
  potential().stiffness(x, projection, without_contact_);
  potential().copy_with_contact(without_contact_, linear_contact_->stiffness, H_);
}

/// The step so far knows contact as it was at x^n, and none that is new. With the linearised part taken off again, it
/// goes through the same solution as those of the other linearly implicit solvers, over all nodes.
bool ConjacStepper::solve_contact(StepReport& report) {
  const double h = problem().h;
  BlockMatrix& A = contact_->matrix();
  potential().stiffness(frame_.x(), Projection::analytic, A);
  const std::span<const RankOne> ones = potential().find_rank_ones(frame_.x());
  ones_.assign(ones.begin(), ones.end());
  const double weight = std::max(1.0, options_.beta);  // less, and what is stopped here is pushed off too fast
  for (double& a : A.values()) a *= weight;
  if (const BlockMatrix* D = potential().damping())
    for (std::size_t k = 0; k < A.values().size(); ++k) A.values()[k] += D->values()[k] / h;
  model()->mass().add_to(A, 1 / (h * h));
  LinearContact& linear = *linear_contact_;
  linear.displacement = x_ - problem().x_n;
  linear.stiffness.multiply(linear.displacement, linear.resistance);
  const VecX b = linear.force - linear.resistance;
  trial_ = x_;
  for (RankOne& one : ones_) one.scale *= weight;
  if (!contact_->run(x_, held_, report, &b, ones_)) return false;
  trial_ = x_ - trial_;
  v_ += trial_ / h;
  if (guard_) guard_->note_unforeseen(trial_);
  return true;
}

void ConjacStepper::look_at_links() {
  poses_ = links_->poses(x_);
  links_->columns(poses_, x_, B_);
  links_->bias(poses_, x_, problem().v_n, bias_);
}

/// Which nodes are dynamic and which unknowns quasistatic; anew when pins and scripts hold other unknowns than before.
void ConjacStepper::assign_roles() {
  if (analysed_ && prescribed_ == problem().boundary.fixed) return;
  held_ = prescribed_ = problem().boundary.fixed;
  if (links_)
    for (std::size_t i = 0; i < links_->link_of().size(); ++i)
      if (links_->link_of()[i] >= 0)
        for (std::size_t c = 0; c < 3; ++c) held_[3 * i + c] = 1;
  dynamic_ = chosen_;
  const std::vector<Index> more = supporting_nodes(*model(), held_, chosen_);
  dynamic_.insert(dynamic_.end(), more.begin(), more.end());
  const std::vector<Index> frames = frame_nodes(*model());
  dynamic_.insert(dynamic_.end(), frames.begin(), frames.end());
  std::sort(dynamic_.begin(), dynamic_.end());
  dynamic_.erase(std::unique(dynamic_.begin(), dynamic_.end()), dynamic_.end());
  std::erase_if(dynamic_, [&](Index i) { return held_[3 * at(i)] && held_[3 * at(i) + 1] && held_[3 * at(i) + 2]; });
  is_quasistatic_.resize(model()->rest().size());
  for (Eigen::Index i = 0; i < is_quasistatic_.size(); ++i) is_quasistatic_[i] = held_[at(i)] ? 0 : 1;
  for (Index i : dynamic_) node(is_quasistatic_, i).setZero();
  floating_ = floating_pieces(*model(), held_);
  const Index pieces = floating_.empty() ? 0 : 1 + *std::max_element(floating_.begin(), floating_.end());
  floating_mass_.assign(at(pieces), 0.0);
  for (Index i = 0; i < model()->nodes(); ++i)
    if (floating_[at(i)] >= 0) floating_mass_[at(floating_[at(i)])] += model()->mass().lumped()[i];
  analysed_pattern_ = nullptr;
  analysed_ = true;
}

std::span<const ConjacStepper::Rung> ConjacStepper::ladder() const {
  static constexpr Rung all[] = {Rung::exact, Rung::projected, Rung::projected_with_inertia};
  static constexpr Rung exact[] = {Rung::exact, Rung::exact_ldlt};
  switch (options_.stiffness) {
    case StiffnessKind::on_demand:
      return all;
    case StiffnessKind::projected:
      return std::span(all).subspan(1);
    case StiffnessKind::exact:
      return exact;
  }
  return {};
}

FactorStatus ConjacStepper::factor(const VecX& x, Rung rung, StepReport& report) {
  rung_ = rung;
  {
    const Stopwatch watch(report.seconds.assembly);
    const bool projects = rung == Rung::projected || rung == Rung::projected_with_inertia;
    assemble_stiffness(x, projects ? Projection::analytic : Projection::none);
    if (options_.tangential > 0 && model()->colliders())
      add_tangential_stiffness(*model()->colliders(), problem().end, x, options_.tangential, H_);
    if (rung == Rung::projected_with_inertia) model()->mass().add_to(H_, 1 / (problem().h * problem().h));
    if (projects) report.projected_iterations = 1;
    if (moving_.moves) multiply_H(moving_.v, pull_);
    W_.resize(x.size(), joints_);
    for (Eigen::Index j = 0; j < joints_; ++j) {
      scratch_ = B_.col(j);
      multiply_H(scratch_, trial_);
      W_.col(j) = trial_;
    }
    H_.eliminate(held_);
    shift_ = 0;
    for (Index i : dynamic_) {
      const double* block = H_.block(H_.pattern().diagonal(i));
      for (int c = 0; c < 3; ++c) shift_ = std::max(shift_, std::abs(block[4 * c]));
    }
    for (Index i : dynamic_)
      for (int c = 0; c < 3; ++c)
        if (!held_[3 * at(i) + at(c)]) H_.block(H_.pattern().diagonal(i))[4 * c] += shift_;
  }
  const Stopwatch watch(report.seconds.factorisation);
  if (analysed_pattern_ != H_.shared_pattern()) {  // contact couples other nodes from step to step
    analysed_pattern_ = H_.shared_pattern();
    cholesky_.analyze(analysed_pattern_, 3, {.last_nodes = dynamic_, .schur = !dynamic_.empty()});
  }
  ++report.factorisations;
  const FactorStatus status = cholesky_.factor(H_, rung == Rung::exact_ldlt ? Factorisation::ldlt : Factorisation::llt);
  if (status != FactorStatus::ok) ++report.failed_factorisations;
  return status;
}

/// J, with columns for the dynamic nodes and then for the joints; the velocities when only the boundary moves; and, in
/// the last column of U, H_qq^{-1} f_q. What joints and the boundary move pulls the quasistatic nodes along: for
/// velocities B of held nodes these follow with -H_qq^{-1} (H B)_q.
void ConjacStepper::condense() {
  const Eigen::Index n = model()->rest().size(), columns = 3 * static_cast<Eigen::Index>(dynamic_.size());
  J_.setZero(n, columns + joints_);
  for (std::size_t k = 0; k < dynamic_.size(); ++k)
    for (int c = 0; c < 3; ++c) J_(3 * Eigen::Index(dynamic_[k]) + c, 3 * static_cast<Eigen::Index>(k) + c) = 1;
  if (columns > 0) cholesky_.condense(J_.leftCols(columns));
  for (std::size_t k = 0; k < dynamic_.size(); ++k)
    for (int c = 0; c < 3; ++c)
      if (held_[3 * at(dynamic_[k]) + at(c)]) J_.col(3 * static_cast<Eigen::Index>(k) + c).setZero();
  add_rank_ones();

  const bool moves = moving_.moves;
  U_.resize(n, joints_ + (moves ? 2 : 1));
  for (Eigen::Index j = 0; j < joints_; ++j) U_.col(j) = -W_.col(j).cwiseProduct(is_quasistatic_);
  if (moves) U_.col(joints_) = -pull_.cwiseProduct(is_quasistatic_);
  imbalance(f_, scratch_);
  U_.rightCols(1) = scratch_;
  solve_quasistatic(U_);
  for (Eigen::Index j = 0; j < joints_; ++j) J_.col(columns + j) = B_.col(j) + U_.col(j);
  if (moves)
    moved_ = moving_.v + U_.col(joints_);
  else
    moved_.setZero(n);
}

/// H_qq and J with the matrices of rank one, of which the factor knows nothing. With y = H_qq^{-1} u_q, a = u_q . y and
/// w = J^T u, a matrix c u u^T beside H takes y w^T/(1/c + a) from J, and adds w w^T/(1/c + a) to J^T H J.
void ConjacStepper::add_rank_ones() {
  update_.clear();
  reduced_ones_.resize(0, 0);
  if (ones_.empty()) return;
  std::vector<RankOne> quasistatic = ones_;
  for (RankOne& one : quasistatic) one.vector = one.vector.cwiseProduct(is_quasistatic_);
  update_.set(quasistatic, [&](MatView columns) { solve_quasistatic(columns); });
  const Eigen::Index columns = 3 * static_cast<Eigen::Index>(dynamic_.size());
  if (update_.none() || columns == 0) return;
  MatX free(J_.rows(), static_cast<Eigen::Index>(ones_.size()));
  Eigen::Index count = 0;
  for (const RankOne& one : ones_)
    if (one.scale > 0) free.col(count++) = one.vector;
  reduced_ones_.setZero(columns, count);
  add_transposed_product(1, J_.leftCols(columns), free.leftCols(count), reduced_ones_);
  add_product(-1, update_.solved(), update_.coefficients(reduced_ones_.transpose()), J_.leftCols(columns));
}

/// H as it is before held unknowns leave it.
void ConjacStepper::multiply_H(const VecX& x, VecX& result) const {
  H_.multiply(x, result);
  for (const RankOne& one : ones_) result += one.scale * one.vector.dot(x) * one.vector;
}

/// The forces that quasistatic nodes are out of balance by: f_q, in the frame of pieces that float as it accelerates
/// with their centre of mass and turns with them. Without that a falling body would sag from its dynamic nodes as if
/// they were hung up. The paper has no such term; once a body rests it is zero.
void ConjacStepper::imbalance(const VecX& f, VecX& result) {
  acceleration_.assign(floating_mass_.size(), Vec3::Zero());
  for (Index i = 0; i < model()->nodes(); ++i)
    if (floating_[at(i)] >= 0) acceleration_[at(floating_[at(i)])] += node(f, i);
  for (std::size_t p = 0; p < acceleration_.size(); ++p) acceleration_[p] /= floating_mass_[p];
  take_off_acceleration(f, result);
}

/// f_q less what accelerates the pieces that float.
void ConjacStepper::take_off_acceleration(const VecX& f, VecX& result) const {
  result = f.cwiseProduct(is_quasistatic_);
  if (acceleration_.empty()) return;
  for (Index i = 0; i < model()->nodes(); ++i)
    if (floating_[at(i)] >= 0 && is_quasistatic_[3 * Eigen::Index(i)] > 0)
      node(result, i) -=
          model()->mass().lumped()[i] * (acceleration_[at(floating_[at(i)])] + node(frame_.centripetal(), i));
}

/// The correction anew, for the pieces' acceleration in the step that has been solved. Before it, that is only known
/// from the forces at its start, of which a stiff floor's are a hundred times those that stop a body within the step:
/// the quasistatic nodes would sag as if the body were thrown up at hundreds of g.
void ConjacStepper::correct_for_floor() {
  if (!model()->colliders() || acceleration_.empty()) return;
  constexpr double kAlike = 1e-6;
  std::vector<Vec3> actual(acceleration_.size(), Vec3::Zero());
  for (Index i = 0; i < model()->nodes(); ++i)
    if (floating_[at(i)] >= 0)
      actual[at(floating_[at(i)])] +=
          model()->mass().lumped()[i] * (node(v_, i) + node(frame_.v(), i) - node(problem().v_n, i));
  bool alike = true;
  for (std::size_t p = 0; p < actual.size(); ++p) {
    actual[p] /= problem().h * floating_mass_[p];
    alike = alike && (actual[p] - acceleration_[p]).norm() <= kAlike * acceleration_[p].norm();
  }
  if (alike) return;
  acceleration_ = std::move(actual);
  take_off_acceleration(f_, scratch_);
  Eigen::MatrixXd correction = scratch_;
  solve_quasistatic(correction);
  U_.rightCols(1) = correction;
}

/// In place: the columns, zero outside q, become H_qq^{-1} times them.
void ConjacStepper::solve_quasistatic(Eigen::Ref<Eigen::MatrixXd> B) {
  cholesky_.solve(B);
  if (dynamic_.empty()) return update_.apply(B);
  const Eigen::Index columns = 3 * static_cast<Eigen::Index>(dynamic_.size());
  at_dynamic_.resize(columns, B.cols());
  for (std::size_t k = 0; k < dynamic_.size(); ++k)
    at_dynamic_.middleRows<3>(3 * static_cast<Eigen::Index>(k)) = B.middleRows<3>(3 * Eigen::Index(dynamic_[k]));
  add_product(-1, J_.leftCols(columns), at_dynamic_, B);
  if (reduced_ones_.size() > 0) {  // J has what gas takes from it, which is no part of this factor's
    product_.setZero(reduced_ones_.cols(), B.cols());
    add_transposed_product(1, reduced_ones_, at_dynamic_, product_);
    add_product(-1, update_.solved(), update_.coefficients(product_), B);
  }
  update_.apply(B);
}

void ConjacStepper::find_link_rows() {
  const std::vector<Index>& link_of = links_->link_of();
  for (auto end = static_cast<Index>(link_of.size()); end > 0 && link_of[at(end - 1)] >= 0;) {
    const Index link = link_of[at(end - 1)];
    Index begin = end;
    while (begin > 0 && link_of[at(begin - 1)] == link) --begin;
    LinkRows rows{3 * Eigen::Index(begin), 3 * Eigen::Index(end - begin), {}};
    for (Index l = link; l >= 0; l = links_->links()[at(l)].parent) {
      const Index next = at(l) + 1 < links_->links().size() ? links_->first_degree(at(l) + 1) : links_->degrees();
      for (Index d = links_->first_degree(at(l)); d < next; ++d) rows.joints.push_back(d);
    }
    link_rows_.push_back(std::move(rows));
    end = begin;
  }
  std::reverse(link_rows_.begin(), link_rows_.end());
}

/// J^T times a matrix. The nodes that a link has to itself move with the joints between it and the world and with
/// nothing else, which is next to none of them where there are many links.
void ConjacStepper::multiply_J_transposed(const Eigen::MatrixXd& right, Eigen::Ref<Eigen::MatrixXd> out) {
  const Eigen::Index shared = link_rows_.empty() ? J_.rows() : link_rows_.front().begin;
  const Eigen::Index first = J_.cols() - joints_;
  out.setZero();
  add_transposed_product(1, J_.topRows(shared), right.topRows(shared), out);
  for (const LinkRows& rows : link_rows_) {
    const auto count = static_cast<Eigen::Index>(rows.joints.size());
    own_.resize(rows.size, count);
    for (Eigen::Index c = 0; c < count; ++c)
      own_.col(c) = J_.col(first + rows.joints[at(c)]).segment(rows.begin, rows.size);
    product_.setZero(count, right.cols());
    add_transposed_product(1, own_, right.middleRows(rows.begin, rows.size), product_);
    for (Eigen::Index c = 0; c < count; ++c) out.row(first + rows.joints[at(c)]) += product_.row(c);
  }
}

/// The left and right sides of Eq. (11), with the terms of a moving boundary. False when the matrix is not positive
/// definite.
bool ConjacStepper::reduce() {
  const double h = problem().h, weight = options_.beta * h * h;
  const Eigen::Index columns = J_.cols(), of_nodes = columns - joints_;
  const bool moves = moving_.moves, inertial = rung_ == Rung::projected_with_inertia;
  const BlockMatrix* D = potential().damping();
  const Mass& mass = model()->mass();

  if (mass.kind() == MassKind::lumped) {
    MJ_ = mass_.asDiagonal() * J_;
  } else {
    MJ_.resize(J_.rows(), columns);
    for (Eigen::Index c = 0; c < columns; ++c) {
      scratch_ = J_.col(c);
      mass.multiply(scratch_, momentum_);
      MJ_.col(c) = momentum_;
    }
  }
  Z_.resize(columns, columns);
  multiply_J_transposed(MJ_, Z_);
  // H J vanishes over q, so J^T H J for a column of the joints is J^T (H B).
  stiffness_.resize(columns, columns);
  if (of_nodes > 0) {
    stiffness_.topLeftCorner(of_nodes, of_nodes) = cholesky_.schur_complement();
    stiffness_.diagonal().head(of_nodes).array() -= shift_;
    if (reduced_ones_.size() > 0)
      add_product(1, reduced_ones_, update_.coefficients(reduced_ones_.transpose()),
                  stiffness_.topLeftCorner(of_nodes, of_nodes));
  }
  if (joints_ > 0) {
    multiply_J_transposed(W_, stiffness_.rightCols(joints_));
    stiffness_.bottomLeftCorner(joints_, of_nodes) = stiffness_.topRightCorner(of_nodes, joints_).transpose();
  }
  if (inertial) stiffness_ -= Z_ / (h * h);
  Z_ += weight * stiffness_;
  mass.multiply(problem().v_n - frame_.v(), momentum_);
  scratch_ = momentum_ + h * f_;
  if (D && frame_.moves()) {
    D->multiply(frame_.v(), momentum_);
    scratch_ -= h * momentum_;
  }
  if (links_) {
    mass.multiply(bias_, momentum_);
    scratch_ -= h * momentum_;
  }
  if (moves) {  // J^T (M + h D + beta h^2 H) moved; J^T H moved = J^T pull, since H moved vanishes over q
    mass.multiply(moved_, momentum_);
    scratch_ -= momentum_ + weight * pull_;
    if (inertial) scratch_ += options_.beta * momentum_;
  }
  if (D) {
    DJ_.resize(J_.rows(), columns);
    for (Eigen::Index c = 0; c < columns; ++c) {
      trial_ = J_.col(c);
      D->multiply(trial_, momentum_);
      DJ_.col(c) = momentum_;
    }
    add_transposed_product(h, J_, DJ_, Z_);
    if (moves) {
      D->multiply(moved_, momentum_);
      scratch_ -= h * momentum_;
    }
  }
  rhs_.noalias() = J_.transpose() * scratch_;
  for (Eigen::Index c = 0; c < of_nodes; ++c)
    if (held_[3 * at(dynamic_[at(c / 3)]) + at(c % 3)]) {
      Z_.row(c).setZero();
      Z_.col(c).setZero();
      Z_(c, c) = 1;
    }
  if (columns == 0) return true;
  Z_factor_.factor(Z_);
  return Z_factor_.is_valid() && (Z_factor_.is_positive() || options_.stiffness == StiffnessKind::exact);
}

bool ConjacStepper::solve_for_velocities(StepReport& report) {
  FactorStatus status = FactorStatus::not_positive_definite;
  for (Rung rung : ladder()) {
    status = factor(x_, rung, report);
    if (status == FactorStatus::not_positive_definite || status == FactorStatus::singular) continue;
    if (status != FactorStatus::ok) return fail(status, report);
    const Stopwatch watch(report.seconds.solve);
    condense();
    if (!reduce()) {
      status = FactorStatus::not_positive_definite;
      continue;
    }
    z_ = J_.cols() > 0 ? Z_factor_.solve(rhs_) : VecX(0);
    v_.noalias() = J_ * z_;
    v_ += moved_;
    return true;
  }
  return fail(status, report);
}

bool ConjacStepper::fail(FactorStatus status, StepReport& report) const {
  end_without_factor(report, status, cholesky_, "the stiffness of the quasistatic nodes",
                     options_.stiffness == StiffnessKind::exact ? "stiffness = \"on-demand\" projects it instead" : "");
  return false;
}

/// Filters the velocities of all nodes, then projects what was filtered onto the dynamic ones (conjac, section 4,
/// "Bunny"): v_d* = argmin |v_f - J v_d| in the norm of M + h D + beta h^2 H. With v_f = v + dv this is
/// v_d* = v_d + Z^{-1} J^T (M + h D + beta h^2 H) dv, and J^T H has columns for the dynamic nodes alone.
void ConjacStepper::apply_friction() {
  if (!model()->colliders()) return;
  const double h = problem().h;
  trial_ = x_ + h * v_;
  scratch_ = v_ + frame_.v();
  apply_collider_friction(*model()->colliders(), problem().end, h, trial_, scratch_);
  scratch_ -= v_ + frame_.v();
  for (Eigen::Index i = 0; i < scratch_.size(); ++i)
    if (prescribed_[at(i)]) scratch_[i] = 0;
  if (J_.cols() == 0 || scratch_.isZero(0)) return;
  rhs_.noalias() = MJ_.transpose() * scratch_;
  if (potential().damping()) rhs_.noalias() += h * DJ_.transpose() * scratch_;
  VecX change(J_.cols() - joints_);
  for (std::size_t k = 0; k < dynamic_.size(); ++k)
    change.segment<3>(3 * static_cast<Eigen::Index>(k)) = node(scratch_, dynamic_[k]);
  rhs_.noalias() += options_.beta * h * h * stiffness_.leftCols(change.size()) * change;
  for (Eigen::Index c = 0; c < change.size(); ++c)
    if (held_[3 * at(dynamic_[at(c / 3)]) + at(c % 3)]) rhs_[c] = 0;
  z_ += Z_factor_.solve(rhs_);
  v_.noalias() = J_ * z_;
  v_ += moved_;
}

/// Eq. (13): x becomes x0 + h v plus the corrections of the quasistatic nodes.
void ConjacStepper::stabilise(StepReport& report) {
  const StabilisationOptions& options = options_.stabilisation;
  // Forces of contact vary too much over a step for a share of the correction to be right without looking. With links,
  // whose steps the safeguard cannot repair, it looks as well.
  const bool searches = options.line_search || contact_ || (links_ && options_.safeguard == Safeguard::newton);
  x_ += problem().h * v_;
  correct_for_floor();
  if (links_) {
    poses_ = links_->advance(poses_, z_.tail(joints_), problem().h);
    links_->place(poses_, x_);
  }
  int begin = 0;
  if (!searches && options.corrections > 0) {
    x_ += options.gamma * U_.rightCols(1);
    begin = 1;
  }
  for (int k = begin; k < options.corrections; ++k) {
    const double alpha = correct(x_, searches ? 1 : options.gamma, report);
    report.smallest_alpha = std::min(report.smallest_alpha, alpha);
    if (alpha == 0) return;
  }
}

/// Velocities of the links' nodes where they are now: the joints' velocities with the columns there. Turning with its
/// joints changes a chain's linear momentum, which it must not where nothing but forces may: what a free chain gains
/// that way, beyond what the bias already counted, is taken off its root.
void ConjacStepper::end_links() {
  const VecX before = v_;
  links_->columns(poses_, x_, B_);
  const std::vector<Link>& links = links_->links();
  std::vector<std::size_t> root(links.size());
  std::vector<double> mass(links.size(), 0.0);
  std::vector<Vec3> gained(links.size(), Vec3::Zero());
  for (std::size_t l = 0; l < links.size(); ++l) {
    root[l] = links[l].parent < 0 ? l : root[at(links[l].parent)];
    for (Index i : links[l].nodes) {
      node(v_, i).noalias() = B_.middleRows<3>(3 * Eigen::Index(i)) * z_.tail(joints_);
      const double m = model()->mass().lumped()[i];
      mass[root[l]] += m;
      gained[root[l]] += m * (node(v_, i) - node(before, i) - problem().h * node(bias_, i));
    }
  }
  for (std::size_t l = 0; l < links.size(); ++l)
    if (links[root[l]].joint == JointKind::free)
      for (Index i : links[l].nodes) node(v_, i) -= gained[root[l]] / mass[root[l]];
}

/// One quasi-Newton correction of x with the factor at hand: `length` of it, halved until the energy falls. Returns the
/// length that did. In a floating piece's frame the energy has the work of the frame's acceleration too: that of the
/// difference between forces and imbalance.
double ConjacStepper::correct(VecX& x, double length, StepReport& report) {
  constexpr int kHalvings = 12;
  constexpr double kDecrease = 1e-4;
  const Stopwatch watch(report.seconds.line_search);
  const double before = find_forces(x, f_);
  imbalance(f_, scratch_);
  U_ = scratch_;
  solve_quasistatic(U_);
  const double slope = -scratch_.dot(U_.col(0));
  const double frame = (f_.cwiseProduct(is_quasistatic_) - scratch_).dot(U_.col(0));
  double alpha = length;
  for (int k = 0; k < kHalvings; ++k, alpha /= 2) {
    trial_ = x + alpha * U_.col(0);
    ++report.line_search_evaluations;
    // Where rounding hides the decrease, forces are as balanced as can be: any length will do.
    if (energy(trial_) + alpha * frame - before <= kDecrease * alpha * slope + 1e-14 * std::abs(before)) {
      x = trial_;
      return alpha;
    }
  }
  return 0;
}

/// Algorithm 1, line 1: Newton's method over the quasistatic nodes, the dynamic ones where the state has them.
bool ConjacStepper::settle(StepReport& report) {
  constexpr int kIterations = 200;
  constexpr double kTolerance = 1e-10;
  problem().impose_boundary(x_);
  double first = 0;
  for (int k = 0; k < kIterations; ++k) {
    find_forces(x_, f_);
    imbalance(f_, scratch_);
    const double norm = scratch_.norm();
    if (k == 0) first = std::max(norm, problem().explicit_force.norm());
    if (norm <= kTolerance * first) return true;
    FactorStatus status = FactorStatus::ok;
    for (Rung rung : ladder())
      if ((status = factor(x_, rung, report)) == FactorStatus::ok || status == FactorStatus::not_finite) break;
    if (status != FactorStatus::ok) return fail(status, report);
    condense();
    if (correct(x_, 1, report) == 0) return true;
  }
  return true;
}

}  // namespace pliant
