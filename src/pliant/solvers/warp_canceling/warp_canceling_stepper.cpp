#include "pliant/solvers/warp_canceling/warp_canceling_stepper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "pliant/base/error.hpp"
#include "pliant/base/stopwatch.hpp"
#include "pliant/math/decompositions.hpp"
#include "pliant/math/dense.hpp"
#include "pliant/math/parallel.hpp"
#include "pliant/solvers/factor_failure.hpp"

namespace pliant {

namespace {

constexpr Index kNodeGrain = 2048;

SupernodePartition analysed(SparseCholesky& factor, const Model& model, const WarpCancelingOptions& options) {
  if (options.solve == LinearSolve::conjugate_gradients) return whole_partition(model);
  factor.analyze(model.pattern(), 3);
  return partition_of(factor, model);
}

/// Whether the factor is ever made anew in parts: by the schedule, or where a node touches or leaves a collider.
bool refreshes_in_parts(const Model& model, const WarpCancelingOptions& options) {
  const ScheduleKind kind = options.schedule.kind;
  if (options.solve == LinearSolve::conjugate_gradients || kind == ScheduleKind::everything) return false;
  const bool by_contact = model.colliders() && options.colliders == ColliderTreatment::in_matrix;
  return by_contact || (kind != ScheduleKind::never && kind != ScheduleKind::periodic);
}

}  // namespace

/// The rows of Table II of the paper, in seconds.
struct WarpCancelingStepper::Stages {
  double element_rotations = 0, node_rotations = 0, error_estimate = 0, matrix_update = 0, cholesky_update = 0,
         right_hand_side = 0, solve = 0, contact = 0, residuals = 0;
};

WarpCancelingStepper::WarpCancelingStepper(std::shared_ptr<const Model> model, const WarpCancelingOptions& options)
    : Stepper(std::move(model), ProblemOptions{}),
      options_(options),
      partition_(analysed(cholesky_, *this->model(), options)),
      elements_(*this->model(), partition_.of_element),
      rotations_(*this->model(),
                 options.solve == LinearSolve::conjugate_gradients || options.schedule.kind == ScheduleKind::everything
                     ? NodeRotationKind::identity
                     : options.rotations),
      matrix_(*this->model(), elements_, partition_),
      error_(*this->model(), elements_, partition_, options.measure),
      schedule_(options.schedule, partition_.parent),
      parts_(*this->model()),
      colliders_(options.colliders == ColliderTreatment::in_matrix ? this->model()->colliders() : nullptr),
      contact_(this->model(), options.colliders == ColliderTreatment::as_forces ? this->model()->colliders() : nullptr,
               options.contact),
      has_gas_(pliant::has_gas(*this->model())),
      keeps_updates_(refreshes_in_parts(*this->model(), options)),
      refreshed_(at(elements_.elements()), 0.0) {
  // Newton's method knows nothing of the family's own contact.
  if (options.safeguard == Safeguard::newton && options.contact.kind == BodyContactKind::none)
    guard_.emplace(potential(), this->model());
  if (this->model()->contact()) {
    contact_solve_.emplace(potential(), this->model(), options.contact_solve);
    if (options.schedule.kind != ScheduleKind::everything) {
      present_.emplace(*this->model(), elements_, partition_);
      unturned_.assign(at(this->model()->nodes()), Mat3::Identity());
    }
  }
  if (options.solve == LinearSolve::direct) {
    cholesky_.keep_updates(keeps_updates_);
  } else {
    product_ = BlockProduct<double>(this->model()->pattern(), 3);
    preconditioner_ = make_preconditioner<double>(options.preconditioner);
  }
}

void WarpCancelingStepper::advance(Solution& solution, StepReport& report) {
  Stages stages;
  report.iterations = 1;
  if (!solve(stages, report)) {
    made_for_ = {};  // nothing that is left here is to be relied on
    x_.resize(0);
    if (guard_) guard_->end(solution, report);
    return;
  }
  {
    const Stopwatch watch(stages.residuals);
    hand_over(solution, report);
  }
  ++steps_;
  report.residuals.step_length = change_.cwiseAbs().maxCoeff();
  if (report.outcome == Outcome::converged) report.outcome = Outcome::budget_spent;  // one linear solve, as asked
  record(stages, report);
}

/// The paper's algorithm (section 4): forces and rotations of the present, errors of the stale matrix, its worst parts
/// anew, one solution.
bool WarpCancelingStepper::solve(Stages& stages, StepReport& report) {
  const bool was_here = restore() || (x_.size() == problem().x_n.size() && x_ == problem().x_n && v_ == problem().v_n);
  const bool is_new = prepare(problem());
  if (!begin(stages, report)) return false;
  right_hand_side();
  choose(is_new || !was_here, stages);
  if (const FactorStatus status = refresh(stages, report); status != FactorStatus::ok) {
    end_without_factor(report, status, cholesky_, "the matrix");
    return false;
  }
  {
    const Stopwatch watch(stages.solve);
    if (options_.solve == LinearSolve::direct)
      solve_directly();
    else if (!solve_iteratively(report))
      return false;
  }
  next_v_ = predicted_ + change_;
  if (options_.unknown == WarpUnknown::change) correct_rigid_motion();
  damp();
  move();
  return !contact_solve_ || solve_contact(report);
}

/// Rotations, forces and contacts where the step begins, and the velocities it is expected to end with.
bool WarpCancelingStepper::begin(Stages& stages, StepReport& report) {
  {
    const Stopwatch watch(stages.element_rotations);
    if (x_.size() != problem().x_n.size() || x_ != problem().x_n) deform(problem().x_n);
  }
  if (!std::isfinite(elastic_energy_) || !elastic_force_.allFinite()) {
    report.end(
        std::isnan(elastic_energy_) ? Outcome::not_finite : Outcome::inverted_start,
        "the elastic forces where the step begins are not finite; use a material that is finite for inverted elements");
    return false;
  }
  if (guard_) guard_->begin(elastic_energy_);
  {
    const Stopwatch watch(stages.contact);
    force_.setZero(problem().x_n.size());
    contact_.add_forces(problem(), force_);
    colliders_.linearise(problem());
    parts_.set_boundary(problem());
    for (const ColliderTouch& touch : colliders_.touching()) parts_.hold(touch.node);
  }
  {
    const Stopwatch watch(stages.node_rotations);
    rotations_.compute(problem().x_n, held_);
  }
  const Stopwatch watch(stages.right_hand_side);
  predict();
  return true;
}

/// Rotations and elastic forces of x.
void WarpCancelingStepper::deform(const VecX& x) {
  elastic_energy_ = elements_.deform(x);
  elastic_force_.setZero(x.size());
  elements_.add_impulse(x, 1, std::vector<double>(model()->bodies().size(), 0.0), elastic_force_);
  x_ = x;
}

/// Whether the matrix at hand was made for another problem and must be made anew.
bool WarpCancelingStepper::prepare(const StepProblem& problem) {
  if (made_for_.fits_without_grabs(problem)) return false;
  made_for_ = MatrixKey(problem);
  const std::vector<std::uint8_t>& fixed = problem.boundary.fixed;
  held_.resize(at(model()->nodes()));
  for (std::size_t i = 0; i < held_.size(); ++i) held_[i] = fixed[3 * i] || fixed[3 * i + 1] || fixed[3 * i + 2];
  matrix_.set_boundary(problem);
  return true;
}

/// Takes up what recall() was given: the matrix as it was after the step that led to this state.
bool WarpCancelingStepper::restore() {
  const std::vector<double> memory = std::exchange(recalled_, {});
  const double h = problem().h;
  const auto unknowns = at(problem().x_n.size());
  if (memory.empty() || memory[0] != h) return false;
  StepProblem last;
  last.begin(*model(), {problem().x_n, problem().v_n, problem().start - h, 0, problem().start_activation}, h, {});
  made_for_ = {};
  prepare(last);
  steps_ = static_cast<std::int64_t>(memory[1]);
  change_ = Eigen::Map<const VecX>(memory.data() + 2, problem().x_n.size());
  matrix_.restore(std::span(memory).subspan(2 + unknowns));
  if (options_.schedule.costs == CostKind::flops) schedule_.learn(cholesky_.supernode_costs(), {}, 0);
  return options_.solve != LinearSolve::direct || cholesky_.factor(matrix_.matrix()) == FactorStatus::ok;
}

/// v*: the velocities with the uniform change of free parts, prescribed where prescribed, also by springs: stiff as
/// these are, what they still have to pull would drown all else in the residual of conjugate gradients.
void WarpCancelingStepper::predict() {
  const double h = problem().h;
  if (turns()) {
    pushed_ = h * (problem().explicit_force + force_);
    for (Index i = 0; i < model()->nodes(); ++i)
      node(pushed_, i) += model()->mass().lumped()[i] * node(problem().v_n, i);
    frames_ = parts_.frames(pushed_, problem().x_n, h);
  }
  if (options_.unknown == WarpUnknown::change) {
    predicted_ = problem().v_n;
    scratch_ = h * (problem().explicit_force + force_);
    for (const Body& body : model()->bodies())
      for (Index i = body.nodes.begin; i < body.nodes.end && body.damping.mass > 0; ++i)
        node(scratch_, i) -= h * body.damping.mass * model()->mass().lumped()[i] * node(problem().v_n, i);
    parts_.push(scratch_, problem().x_n, h, predicted_);
  } else {
    predicted_.setZero(problem().v_n.size());
  }
  const BoundaryState& boundary = problem().boundary;
  for (std::size_t s = 0; s < boundary.penalised.size(); ++s)
    node(predicted_, boundary.penalised[s]) = (boundary.targets[s] - node(problem().x_n, boundary.penalised[s])) / h;
  for (Index i : problem().fixed) predicted_[i] = (boundary.positions[i] - problem().x_n[i]) / h;
}

/// rhs = M v + h f - A v* with the present rotations: -h times the gradient at x + h v* of all that is quadratic, and
/// elasticity, damping and colliders linearised.
void WarpCancelingStepper::right_hand_side() {
  const double h = problem().h;
  scratch_ = problem().x_n + h * predicted_;
  potential().gradient(scratch_, rhs_, {.damping = false, .elasticity = false, .colliders = false, .contact = false});
  rhs_ = h * (elastic_force_ + force_ - rhs_);
  for (const Body& body : model()->bodies())
    for (Index i = body.nodes.begin; i < body.nodes.end && body.damping.mass > 0; ++i)
      node(rhs_, i) -= h * body.damping.mass * model()->mass().lumped()[i] * node(predicted_, i);
  if (turns()) {  // M v as the frame sees it: with the centrifugal force
    scratch_ = problem().v_n;
    parts_.turn_back(frames_, scratch_);
    for (Index i = 0; i < model()->nodes(); ++i)
      node(rhs_, i) += model()->mass().lumped()[i] * (node(scratch_, i) - node(problem().v_n, i));
  }
  elements_.add_impulse(predicted_, 0, matrix_.scale(), rhs_);
  for (const ColliderTouch& touch : colliders_.touching())
    node(rhs_, touch.node) +=
        h * touch.force - h * h * (touch.stiffness * (node(predicted_, touch.node) - touch.velocity));
  potential().clear_prescribed(rhs_);
}

/// Measures the errors of the stale matrix and marks what to refresh: where nodes touched or left a collider in any
/// case, elsewhere as the schedule says.
void WarpCancelingStepper::choose(bool all, Stages& stages) {
  const Stopwatch watch(stages.error_estimate);
  const ScheduleKind kind = options_.schedule.kind;
  dirty_.assign(at(partition_.count()), all);
  if (model()->colliders()) {
    constexpr double kNear = 0.05;
    const bool exactly = kind == ScheduleKind::everything || options_.schedule.tau == 0;
    matrix_.set_touching(colliders_.touching(), rotations_.none() ? std::span<const Mat3>() : rotations_.rotations(),
                         exactly ? 0 : kNear, changed_);
    for (std::size_t i = 0; i < changed_.size(); ++i)
      if (changed_[i]) schedule_.mark_path(partition_.of_node[i], dirty_);
    const bool any = std::find(dirty_.begin(), dirty_.end(), std::uint8_t{1}) != dirty_.end();
    if (any && !keeps_updates_) dirty_.assign(dirty_.size(), 1);
  }
  if (all) {
    marked_ = dirty_;
    steps_ = 0;
    return;
  }
  if (kind != ScheduleKind::everything && kind != ScheduleKind::periodic)
    error_.measure(matrix_, rotations_.rotations(), options_.unknown == WarpUnknown::change ? change_ : problem().v_n);
  schedule_.mark(error_.badness(), steps_, dirty_, marked_);
  for (std::size_t s = 0; s < dirty_.size(); ++s) dirty_[s] |= marked_[s];
}

/// Brings the marked parts of matrix and factor up to date.
FactorStatus WarpCancelingStepper::refresh(Stages& stages, StepReport& report) {
  const auto count = std::count(dirty_.begin(), dirty_.end(), std::uint8_t{1});
  for (std::size_t e = 0; e < refreshed_.size(); ++e) refreshed_[e] = marked_[at(partition_.of_element[e])];
  if (count == 0) return FactorStatus::ok;
  {
    const Stopwatch watch(stages.matrix_update);
    matrix_.refresh(marked_, dirty_, rotations_.rotations());
  }
  if (options_.solve == LinearSolve::conjugate_gradients) return FactorStatus::ok;
  FactorStatus status;
  {
    const Stopwatch watch(stages.cholesky_update);
    if (count == partition_.count()) {
      status = cholesky_.factor(matrix_.matrix());
    } else {
      std::vector<Index> nodes;
      for (std::size_t s = 0; s < dirty_.size(); ++s)
        if (dirty_[s]) nodes.push_back(partition_.some_node[s]);
      status = cholesky_.refactor(matrix_.matrix(), nodes);
    }
  }
  ++report.factorisations;
  if (schedule_.has_budget()) schedule_.learn(cholesky_.supernode_costs(), dirty_, stages.cholesky_update);
  return status;
}

/// change_ = R A~^{-1} R^T rhs
void WarpCancelingStepper::solve_directly() {
  if (!problem().grabs.empty() || model()->ties() || has_gas_) return solve_with_springs();
  change_ = rhs_;
  apply_inverse(change_);
}

/// R A~^{-1} R^T times each column, in place.
void WarpCancelingStepper::apply_inverse(Eigen::Ref<Eigen::MatrixXd> columns) {
  const std::span<const Mat3> R = rotations_.rotations();
  const auto turn = [&](auto&& rotation) {
    if (rotations_.none()) return;
    for_chunks(model()->nodes(), kNodeGrain, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        columns.middleRows<3>(3 * Eigen::Index(i)) = (rotation(i) * columns.middleRows<3>(3 * Eigen::Index(i))).eval();
    });
  };
  turn([&](Index i) -> Mat3 { return R[at(i)].transpose(); });
  cholesky_.solve(columns);
  turn([&](Index i) -> const Mat3& { return R[at(i)]; });
}

/// What gas adds to the stiffness where the right-hand side is, zero where prescribed, N/m. It couples all nodes of a
/// wall, and is no part of the matrix.
std::vector<RankOne> WarpCancelingStepper::gases_at_prediction() {
  if (!has_gas_) return {};
  scratch_ = problem().x_n + problem().h * predicted_;
  const std::span<const RankOne> found = potential().find_rank_ones(scratch_);
  std::vector<RankOne> gases(found.begin(), found.end());
  std::erase_if(gases, [](const RankOne& gas) { return !std::isfinite(gas.scale); });  // the step is beyond repair
  for (RankOne& gas : gases) potential().clear_prescribed(gas.vector);
  return gases;
}

/// The columns of grabs, of gases, then of springs and attachments, linearised where the right-hand side is.
Eigen::MatrixXd WarpCancelingStepper::spring_columns() {
  const auto grabs = 3 * static_cast<Eigen::Index>(problem().grabs.size());
  const std::vector<RankOne> gases = gases_at_prediction();
  std::vector<VecX> of_ties;
  std::vector<std::size_t> tie_of;  // each of these
  if (const TieEnergy* ties = model()->ties()) {
    scratch_ = problem().x_n + problem().h * predicted_;
    for (std::size_t t = 0; t < ties->ties().size(); ++t) {
      potential().ties()->append_columns(t, problem().pose(scratch_), of_ties);
      tie_of.resize(of_ties.size(), t);
    }
  }
  Eigen::Index count = grabs + static_cast<Eigen::Index>(gases.size() + of_ties.size());
  Eigen::MatrixXd WS = Eigen::MatrixXd::Zero(rhs_.size(), count);
  const auto put = [&](Eigen::Index column, Index of, int axis, double value) {
    const Eigen::Index i = 3 * Eigen::Index(of) + axis;
    if (!problem().boundary.fixed[at(i)]) WS(i, column) += problem().h * value;
  };
  for (Eigen::Index c = 0; c < grabs; ++c) {
    const Grab& grab = problem().grabs[at(c / 3)];
    for (std::size_t a = 0; a < 3; ++a)
      put(c, grab.nodes[a], static_cast<int>(c % 3), std::sqrt(grab.stiffness) * grab.weights[a]);
  }
  count = grabs;
  for (const RankOne& gas : gases) WS.col(count++) = problem().h * std::sqrt(gas.scale) * gas.vector;
  for (std::size_t k = 0; k < of_ties.size(); ++k, ++count) {
    const Tie& tie = model()->ties()->ties()[tie_of[k]];
    for (std::size_t a = 0; a < tie.nodes.size(); ++a)
      for (int axis = 0; axis < 3; ++axis)
        put(count, tie.nodes[a], axis, of_ties[k][3 * static_cast<Eigen::Index>(a) + axis]);
  }
  return WS;
}

/// The same with gas and the springs of grabs and ties in the matrix. With W a column w for each of them and each axis,
/// S^2 = h^2 k on the diagonal and B the inverse without them,
/// (B^{-1} + W S^2 W^T)^{-1} b = y - B W S (1 + S W^T B W S)^{-1} S W^T y, y = B b.
void WarpCancelingStepper::solve_with_springs() {
  const Eigen::MatrixXd WS = spring_columns();
  const Eigen::Index count = WS.cols();
  Eigen::MatrixXd Z(rhs_.size(), count + 1);
  Z.leftCols(count) = WS;
  Z.col(count) = rhs_;
  apply_inverse(Z);
  Eigen::MatrixXd coupling = Eigen::MatrixXd::Zero(count, count);
  add_transposed_product(1, WS, Z.leftCols(count), coupling);
  coupling.diagonal().array() += 1;
  DenseLdlt factor;
  factor.factor(coupling);
  const VecX pull = factor.solve(WS.transpose() * Z.col(count));
  change_ = Z.col(count);
  change_.noalias() -= Z.leftCols(count) * pull;
}

/// The solution with the stale matrix leaves a residual in the system with the present rotations, which is at hand
/// without that matrix. Whatever in it moves free parts as a whole is made up for. Where everything is fresh it is
/// zero.
void WarpCancelingStepper::correct_rigid_motion() {
  const bool fresh = std::find(marked_.begin(), marked_.end(), std::uint8_t{0}) == marked_.end();
  if (parts_.none() || fresh) return;
  const double h = problem().h;
  scratch_ = rhs_;
  elements_.add_impulse(change_, 0, matrix_.scale(), scratch_);
  for (const Body& body : model()->bodies())
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i)
      node(scratch_, i) -= (1 + h * body.damping.mass) * model()->mass().lumped()[i] * node(change_, i);
  for (const ColliderTouch& touch : colliders_.touching())
    node(scratch_, touch.node) -= h * h * (touch.stiffness * node(change_, touch.node));
  parts_.push(scratch_, problem().x_n, h, next_v_);
}

/// Of grabs, springs and attachments, where the right-hand side is taken.
void WarpCancelingStepper::add_spring_hessians(BlockMatrix& A) {
  add_grab_hessian(problem().grabs, 1, A);
  if (!model()->ties()) return;
  scratch_ = problem().x_n + problem().h * predicted_;
  potential().ties()->add_hessian(problem().pose(scratch_), Projection::analytic, A);
}

bool WarpCancelingStepper::solve_iteratively(StepReport& report) {
  if (problem().grabs.empty() && !model()->ties()) {
    product_.set(matrix_.matrix());
  } else {  // nodes do not turn here: the matrix has the springs' coordinates
    with_springs_ = BlockMatrix(model()->pattern(), 3);
    with_springs_.set_zero();
    add_spring_hessians(with_springs_);
    const double h2 = problem().h * problem().h;
    for (std::size_t k = 0; k < with_springs_.values().size(); ++k)
      with_springs_.values()[k] = matrix_.matrix().values()[k] + h2 * with_springs_.values()[k];
    with_springs_.eliminate(problem().boundary.fixed);
    product_.set(with_springs_);
  }
  preconditioner_->set(product_);
  // The tolerance is that of the system for v' itself, begun at v*: relative to its right-hand side, but for the rows
  // of what is prescribed.
  double reference = 1;
  if (!options_.absolute_residual) {
    product_.multiply(predicted_, scratch_);
    scratch_ += rhs_;
    for (Index i : problem().boundary.penalised) node(scratch_, i).setZero();
    for (Index i : problem().fixed) scratch_[i] = 0;
    reference = scratch_.norm();
  }
  if (has_gas_) return solve_with_gas(reference, report);
  const double start = rhs_.norm();
  PcgOptions options = options_.pcg;
  if (start > 0) options.tolerance *= reference / start;
  return solve_one(rhs_, options, start / reference, change_, report);
}

/// By conjugate gradients, from zero. `shown`: what residuals are multiplied by for people.
bool WarpCancelingStepper::solve_one(const VecX& rhs, const PcgOptions& options, double shown, VecX& x,
                                     StepReport& report) {
  x.setZero(rhs.size());
  if (!(rhs.squaredNorm() > 0)) return true;
  const PcgReport pcg = pcg_.solve(product_, rhs, x, *preconditioner_, options);
  report.linear_iterations += pcg.iterations;
  if (pcg.outcome == PcgOutcome::not_finite || pcg.outcome == PcgOutcome::negative_curvature) {
    report.end(Outcome::not_finite, "the iterates of conjugate gradients overflowed");
    return false;
  }
  if (pcg.outcome == PcgOutcome::iteration_limit)
    report.end(Outcome::iteration_limit,
               fmt::format("conjugate gradients left a residual of {:.2g} after {} iterations", pcg.residual * shown,
                           pcg.iterations));
  return true;
}

/// The same with gas, as in solve_with_springs(). What the system without gas gives way to, and gas does not, is
/// subtracted again: it is to be as much more accurate.
bool WarpCancelingStepper::solve_with_gas(double reference, StepReport& report) {
  constexpr double kColumn = 1e-10;
  const std::vector<RankOne> gases = gases_at_prediction();
  const auto count = static_cast<Eigen::Index>(gases.size());
  MatX W(rhs_.size(), count), Z(rhs_.size(), count), coupling = MatX::Identity(count, count);
  PcgOptions options = options_.pcg;
  options.tolerance = kColumn;
  for (Eigen::Index c = 0; c < count; ++c) {
    const RankOne& gas = gases[at(c)];
    scratch_ = problem().h * std::sqrt(gas.scale) * gas.vector;
    W.col(c) = scratch_;
    if (!solve_one(scratch_, options, 1, change_, report)) return false;
    Z.col(c) = change_;
  }
  add_transposed_product(1, W, Z, coupling);
  const double start = rhs_.norm();
  options.tolerance = options_.pcg.tolerance / coupling.diagonal().maxCoeff();
  if (start > 0) options.tolerance *= reference / start;
  if (!solve_one(rhs_, options, start / reference, change_, report)) return false;
  DenseLdlt factor;
  factor.factor(coupling);
  change_ -= Z * factor.solve(W.transpose() * change_);
  return true;
}

/// Supernodes that are bad and were left alone are drawn towards their rigid motion (warp-canceling, 4.4).
void WarpCancelingStepper::damp() {
  if (!std::isfinite(options_.damp_above) || steps_ == 0) return;
  std::vector<std::vector<Index>> nodes(at(partition_.count()));
  const std::span<const double> badness = error_.badness();
  for (Index i = 0; i < model()->nodes(); ++i) {
    const auto s = at(partition_.of_node[at(i)]);
    if (!marked_[s] && badness[s] > options_.damp_above) nodes[s].push_back(i);
  }
  for (std::size_t s = 0; s < nodes.size(); ++s)
    if (nodes[s].size() > 1)
      damp_towards_rigid(*model(), nodes[s], problem().boundary.fixed, problem().x_n,
                         1 - options_.damp_above / badness[s], next_v_);
}

/// Where the velocities lead. Free parts turn on with the frame that the system was solved in, and keep the momentum
/// and the angular momentum that they have and that constant forces add.
void WarpCancelingStepper::move() {
  const double h = problem().h;
  solved_v_ = next_v_;
  if (turns()) {
    parts_.turn_on(frames_, problem().x_n, h, next_v_, next_x_);
    parts_.keep_momentum(pushed_, problem().x_n, h, next_x_, next_v_);
  } else {
    next_x_ = problem().x_n + h * next_v_;
  }
  problem().impose_boundary(next_x_);
}

/// Contact in the system with the present rotations, of which the solution with a stale matrix is not quite the
/// minimum: with A v = rhs over v*, the gradient of its quadratic at x is A (x - x^n - h v*)/h^2 - rhs/h.
bool WarpCancelingStepper::solve_contact(StepReport& report) {
  const double h = problem().h;
  if (present_) {
    const std::vector<std::uint8_t> all(at(partition_.count()), 1);
    present_->set_boundary(problem());
    present_->refresh(all, all, unturned_);
  }
  BlockMatrix& A = contact_solve_->matrix();
  A = (present_ ? *present_ : matrix_).matrix();
  for (double& a : A.values()) a /= h * h;
  add_spring_hessians(A);
  const std::vector<RankOne> gases = gases_at_prediction();
  scratch_ = solved_v_ - predicted_;
  VecX b;
  A.multiply(scratch_, b);
  for (const RankOne& gas : gases) b += gas.scale * gas.vector.dot(scratch_) * gas.vector;
  b = h * b - rhs_ / h;
  scratch_ = next_x_;
  if (!contact_solve_->run(next_x_, problem().boundary.fixed, report, &b, gases)) return false;
  next_v_ += (next_x_ - scratch_) / h;
  return true;
}

/// The next state with its gradient; leaves rotations and elastic forces of the new positions behind, with which the
/// next step begins.
void WarpCancelingStepper::hand_over(Solution& solution, StepReport& report) {
  const double h = problem().h;
  if (!colliders_.touching().empty()) {
    scratch_ = next_v_;
    apply_collider_friction(*model()->colliders(), problem().end, h, next_x_, next_v_);
    next_x_ += h * (next_v_ - scratch_);
    problem().impose_boundary(next_x_);
  }
  solution.x = next_x_;
  solution.v = v_ = next_v_;
  deform(solution.x);
  if (guard_) {
    scratch_ = -elastic_force_;
    guard_->end(solution, report, elastic_energy_, scratch_);
    if (solution.v.size() == 0 && report.advanced()) take_over_repaired(solution);
    return;
  }
  solution.energy = elastic_energy_ + potential().gradient(solution.x, solution.gradient, {.elasticity = false});
  solution.gradient -= elastic_force_;
  potential().clear_prescribed(solution.gradient);
  solution.is_measured = true;
}

/// What Newton's method found is where the next step begins: the matrix at hand stays of use.
void WarpCancelingStepper::take_over_repaired(Solution& solution) {
  potential().velocities(solution.x, solution.v);
  v_ = solution.v;
  change_ = v_ - predicted_;
  deform(solution.x);
}

std::string WarpCancelingStepper::remedy() const {
  if (guard_) return Stepper::remedy();
  return options_.contact.kind == BodyContactKind::none
             ? "set safeguard = \"newton\""
             : "take [contact] of the scene in place of the solver's own, with which there is no safeguard";
}

void WarpCancelingStepper::record(const Stages& stages, StepReport& report) const {
  report.seconds.assembly += stages.element_rotations + stages.node_rotations + stages.error_estimate +
                             stages.matrix_update + stages.right_hand_side + stages.contact + stages.residuals;
  report.seconds.factorisation += stages.cholesky_update;
  report.seconds.solve += stages.solve;
  double elements = 0, supernodes = 0;
  for (double e : refreshed_) elements += e;
  for (std::uint8_t s : marked_) supernodes += s;
  const std::vector<Figure> of_contact = std::move(report.figures);
  report.figures = {
      {"refreshed_elements", elements / static_cast<double>(refreshed_.size())},
      {"refreshed_supernodes", supernodes / static_cast<double>(marked_.size())},
      {"largest_error", error_.largest()},
      {"seconds_element_rotations", stages.element_rotations + stages.residuals},
      {"seconds_node_rotations", stages.node_rotations},
      {"seconds_error_estimate", stages.error_estimate},
      {"seconds_matrix_update", stages.matrix_update},
      {"seconds_cholesky_update", stages.cholesky_update},
      {"seconds_right_hand_side", stages.right_hand_side},
      {"seconds_solve", stages.solve},
      {"seconds_contact", stages.contact},
      {"contacts", static_cast<double>(contact_.touching()) + static_cast<double>(colliders_.touching().size())}};
  report.figures.insert(report.figures.end(), of_contact.begin(), of_contact.end());
  if (schedule_.has_budget()) report.figures.push_back({"seconds_budget", schedule_.budget()});
}

std::vector<ElementValues> WarpCancelingStepper::element_values() const {
  if (options_.solve == LinearSolve::conjugate_gradients) return {};
  return {{"refreshed", refreshed_}};
}

/// The step size, the steps since everything was fresh, the last change of velocity and the rotations of the matrix.
std::vector<double> WarpCancelingStepper::memory() const {
  const ScheduleKind kind = options_.schedule.kind;
  if (x_.size() == 0 || kind == ScheduleKind::everything) return {};
  std::vector<double> memory = {problem().h, static_cast<double>(steps_)};
  memory.insert(memory.end(), change_.data(), change_.data() + change_.size());
  const std::vector<double> matrix = matrix_.memory();
  memory.insert(memory.end(), matrix.begin(), matrix.end());
  return memory;
}

void WarpCancelingStepper::recall(std::span<const double> memory) {
  const auto unknowns = at(model()->rest().size());
  if (!memory.empty() && (memory.size() < 2 + unknowns || !matrix_.is_memory(memory.subspan(2 + unknowns))))
    throw InputError(fmt::format("the saved memory of the solver '{}' belongs to another model", options_.name));
  recalled_.assign(memory.begin(), memory.end());
  made_for_ = {};
  x_.resize(0);
}

}  // namespace pliant
