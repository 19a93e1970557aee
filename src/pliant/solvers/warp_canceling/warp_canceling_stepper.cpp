#include "pliant/solvers/warp_canceling/warp_canceling_stepper.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <utility>

#include "pliant/base/error.hpp"
#include "pliant/base/stopwatch.hpp"
#include "pliant/math/parallel.hpp"
#include "pliant/sim/start_check.hpp"

namespace pliant {

namespace {

constexpr Index kNodeGrain = 2048;

const Model& checked(const Model& model, const std::string& solver) {
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format("solver '{}' {}; use another, such as newton or quasi-newton", solver, what));
  };
  for (const Body& body : model.bodies()) {
    if (!body.is_solid()) refuse(fmt::format("needs solids, but body '{}' is a network of springs", body.name));
    if (body.elements->reference().nodes() != 4)
      refuse(fmt::format("needs elements of order 1, but body '{}' has a higher one", body.name));
    if (!body.fibres.empty()) refuse(fmt::format("knows no fibres, but body '{}' has some", body.name));
  }
  if (!model.more_energies().empty()) refuse("knows no energies beyond elasticity and colliders");
  if (model.mass().kind() == MassKind::consistent) refuse("needs lumped mass: remove mass = \"consistent\"");
  return model;
}

SupernodePartition analysed(SparseCholesky& factor, const Model& model, const WarpCancelingOptions& options) {
  if (options.solve == LinearSolve::conjugate_gradients) return whole_partition(checked(model, options.name));
  factor.analyze(checked(model, options.name).pattern(), 3);
  factor.keep_updates(options.schedule.kind != ScheduleKind::everything &&
                      options.schedule.kind != ScheduleKind::never && options.schedule.kind != ScheduleKind::periodic);
  return partition_of(factor, model);
}

}  // namespace

/// The rows of Table II of the paper, in seconds.
struct WarpCancelingStepper::Stages {
  double element_rotations = 0, node_rotations = 0, error_estimate = 0, matrix_update = 0, cholesky_update = 0,
         right_hand_side = 0, solve = 0, contact = 0, residuals = 0;
};

WarpCancelingStepper::WarpCancelingStepper(std::shared_ptr<const Model> model, const WarpCancelingOptions& options)
    : model_(std::move(model)),
      options_(options),
      partition_(analysed(cholesky_, *model_, options)),
      elements_(*model_, partition_.of_element),
      rotations_(*model_,
                 options.solve == LinearSolve::conjugate_gradients || options.schedule.kind == ScheduleKind::everything
                     ? NodeRotationKind::identity
                     : options.rotations),
      matrix_(*model_, elements_, partition_),
      error_(*model_, elements_, partition_),
      schedule_(options.schedule, partition_.parent),
      parts_(*model_),
      contact_(model_, options.contact),
      residuals_(model_, {}),
      refreshed_(at(elements_.elements()), 0.0) {
  if (options.solve == LinearSolve::conjugate_gradients) {
    product_ = BlockProduct<double>(model_->pattern(), 3);
    preconditioner_ = make_preconditioner<double>(options.preconditioner);
  }
}

StepReport WarpCancelingStepper::step(State& state, double h) {
  StepReport report;
  Stages stages;
  {
    const Stopwatch watch(report.seconds.total);
    advance(state, h, stages, report);
  }
  if (report.advanced())
    tell(stages, report);
  else
    h_ = -1;  // nothing that is left here is to be relied on
  return report;
}

void WarpCancelingStepper::advance(State& state, double h, Stages& stages, StepReport& report) {
  const auto fail = [&](Outcome outcome, std::string detail) {
    report.outcome = outcome;
    report.detail = std::move(detail);
  };
  if (refuse_bad_start(state, h, report)) return;
  const BoundaryState boundary = boundary_state(model_->pins(), model_->scripts(), model_->rest(), state.time + h);
  const bool ours = restore(state, h) || (x_.size() == state.x.size() && x_ == state.x && v_ == state.v);
  const bool all = prepare(boundary, h) || !ours;
  check_grabs(*model_, state.grabs);
  if (!state.grabs.empty() || !grabs_.empty()) parts_.set_boundary(boundary, state.grabs);
  grabs_ = state.grabs;
  {
    const Stopwatch watch(stages.element_rotations);
    if (x_.size() != state.x.size() || x_ != state.x) deform(state.x);
  }
  if (!std::isfinite(elastic_energy_) || !elastic_force_.allFinite())
    return fail(std::isnan(elastic_energy_) ? Outcome::not_finite : Outcome::inverted_start,
                "the elastic forces where the step begins are not finite; use law = \"linear-corotated\" or another "
                "that survives inversion");
  {
    const Stopwatch watch(stages.contact);
    force_ = model_->external_force();
    contact_.add_forces(state, h, force_);
  }
  {
    const Stopwatch watch(stages.right_hand_side);
    right_hand_side(state, boundary, h);
  }
  {
    const Stopwatch watch(stages.node_rotations);
    rotations_.compute(state.x, held_);
  }
  choose(state, all, stages);
  if (const FactorStatus status = refresh(stages, report); status != FactorStatus::ok)
    return fail(Outcome::factorisation_failed,
                fmt::format("the matrix could not be factorised: {}", to_string(status)));
  {
    const Stopwatch watch(stages.solve);
    if (options_.solve == LinearSolve::direct)
      solve_directly();
    else if (!solve_iteratively(report))
      return;
  }
  next_v_ = predicted_ + change_;
  if (options_.unknown == WarpUnknown::change) correct_rigid_motion(state, h);
  damp(state);
  next_x_ = state.x + h * next_v_;
  for (Eigen::Index i = 0; i < next_x_.size(); ++i)
    if (fixed_[at(i)]) next_x_[i] = boundary.positions[i];
  if (!next_x_.allFinite() || !next_v_.allFinite())
    return fail(Outcome::not_finite, "positions or velocities ran over; refresh more (a smaller tau) or step shorter");
  {
    const Stopwatch watch(stages.residuals);
    measure(state, boundary, h, report);
  }
  state.activation = model_->activation(state, state.time + h);
  state.x = next_x_;
  state.v = v_ = next_v_;
  state.time += h;
  ++state.step;
  ++steps_;
  report.iterations = 1;
  if (report.outcome == Outcome::converged) report.outcome = Outcome::budget_spent;  // one linear solve, as asked
}

/// Rotations and elastic forces of x.
void WarpCancelingStepper::deform(const VecX& x) {
  elastic_energy_ = elements_.deform(x);
  elastic_force_.setZero(x.size());
  elements_.add_impulse(x, 1, std::vector<double>(model_->bodies().size(), 0.0), elastic_force_);
  x_ = x;
}

/// Whether boundaries or step size are others than those of the matrix at hand, which is then to be made anew.
bool WarpCancelingStepper::prepare(const BoundaryState& boundary, double h) {
  if (h == h_ && boundary.fixed == fixed_ && boundary.penalised == penalised_ && boundary.sigma == sigma_) return false;
  h_ = h;
  fixed_ = boundary.fixed;
  penalised_ = boundary.penalised;
  sigma_ = boundary.sigma;
  held_.resize(at(model_->nodes()));
  for (std::size_t i = 0; i < held_.size(); ++i) held_[i] = fixed_[3 * i] || fixed_[3 * i + 1] || fixed_[3 * i + 2];
  matrix_.set_boundary(boundary, h);
  parts_.set_boundary(boundary);
  return true;
}

/// Takes up what recall() was given: the matrix as it was after the step that led to this state.
bool WarpCancelingStepper::restore(const State& state, double h) {
  const std::vector<double> memory = std::exchange(recalled_, {});
  const auto unknowns = at(state.x.size());
  if (memory.size() != 2 + unknowns + matrix_.memory().size() || memory[0] != h) return false;
  h_ = -1;
  prepare(boundary_state(model_->pins(), model_->scripts(), model_->rest(), state.time), h);
  steps_ = static_cast<std::int64_t>(memory[1]);
  change_ = Eigen::Map<const VecX>(memory.data() + 2, state.x.size());
  matrix_.restore(std::span(memory).subspan(2 + unknowns));
  if (options_.solve == LinearSolve::direct && cholesky_.factor(matrix_.matrix()) != FactorStatus::ok) return false;
  return true;
}

/// Predicts the velocities and sets rhs_ = M v + h f - A v* with the present rotations, zero where prescribed.
void WarpCancelingStepper::right_hand_side(const State& state, const BoundaryState& boundary, double h) {
  if (options_.unknown == WarpUnknown::change) {
    predicted_ = state.v;
    scratch_ = h * force_;
    for (const Body& body : model_->bodies())
      for (Index i = body.nodes.begin; i < body.nodes.end && body.damping.mass > 0; ++i)
        node(scratch_, i) -= h * body.damping.mass * model_->mass().lumped()[i] * node(state.v, i);
    parts_.push(scratch_, state.x, h, predicted_);
  } else {
    predicted_.setZero(state.v.size());
  }
  for (Eigen::Index i = 0; i < predicted_.size(); ++i)
    if (fixed_[at(i)]) predicted_[i] = (boundary.positions[i] - state.x[i]) / h;
  rhs_ = h * (force_ + elastic_force_);
  const VecX& mass = model_->mass().lumped();
  for (const Body& body : model_->bodies())
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i)
      node(rhs_, i) += mass[i] * (node(state.v, i) - (1 + h * body.damping.mass) * node(predicted_, i));
  const VecX weight = model_->mass().consistent_diagonal();
  for (std::size_t k = 0; k < boundary.penalised.size(); ++k) {
    const Index i = boundary.penalised[k];
    node(rhs_, i) +=
        h * boundary.sigma[k] * weight[i] * (boundary.targets[k] - node(state.x, i) - h * node(predicted_, i));
  }
  for (const Grab& grab : grabs_) {
    const Vec3 pull = h * grab.stiffness * (grab.target - grab.point(state.x) - h * grab.point(predicted_));
    for (std::size_t a = 0; a < 3; ++a) node(rhs_, grab.nodes[a]) += grab.weights[a] * pull;
  }
  elements_.add_impulse(predicted_, 0, matrix_.scale(), rhs_);
  for (Eigen::Index i = 0; i < rhs_.size(); ++i)
    if (fixed_[at(i)]) rhs_[i] = 0;
}

/// Measures the errors of the stale matrix and marks what to refresh.
void WarpCancelingStepper::choose(const State& state, bool all, Stages& stages) {
  const Stopwatch watch(stages.error_estimate);
  if (all) {
    marked_.assign(at(partition_.count()), 1);
    steps_ = 0;
    return;
  }
  const ScheduleKind kind = options_.schedule.kind;
  if (kind != ScheduleKind::everything && kind != ScheduleKind::periodic)
    error_.measure(matrix_, rotations_.rotations(), options_.unknown == WarpUnknown::change ? change_ : state.v);
  schedule_.mark(error_.badness(), steps_, marked_);
}

/// Brings the marked parts of matrix and factor up to date.
FactorStatus WarpCancelingStepper::refresh(Stages& stages, StepReport& report) {
  const auto count = std::count(marked_.begin(), marked_.end(), std::uint8_t{1});
  for (std::size_t e = 0; e < refreshed_.size(); ++e) refreshed_[e] = marked_[at(partition_.of_element[e])];
  if (count == 0) return FactorStatus::ok;
  {
    const Stopwatch watch(stages.matrix_update);
    matrix_.refresh(marked_, rotations_.rotations());
  }
  if (options_.solve == LinearSolve::conjugate_gradients) return FactorStatus::ok;
  FactorStatus status;
  {
    const Stopwatch watch(stages.cholesky_update);
    if (count == partition_.count()) {
      status = cholesky_.factor(matrix_.matrix());
    } else {
      std::vector<Index> dirty;
      for (std::size_t s = 0; s < marked_.size(); ++s)
        if (marked_[s]) dirty.push_back(partition_.some_node[s]);
      status = cholesky_.refactor(matrix_.matrix(), dirty);
    }
  }
  ++report.factorisations;
  if (schedule_.has_budget()) schedule_.learn(cholesky_.supernode_costs(), marked_, stages.cholesky_update);
  return status;
}

/// change_ = R A~^{-1} R^T rhs
void WarpCancelingStepper::solve_directly() {
  if (!grabs_.empty()) return pull_grabs();
  change_ = rhs_;
  apply_inverse(change_);
}

/// R A~^{-1} R^T times each column, in place.
void WarpCancelingStepper::apply_inverse(Eigen::Ref<Eigen::MatrixXd> columns) {
  const std::span<const Mat3> R = rotations_.rotations();
  const auto turn = [&](auto&& rotation) {
    if (rotations_.none()) return;
    for_chunks(model_->nodes(), kNodeGrain, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        columns.middleRows<3>(3 * Eigen::Index(i)) = (rotation(i) * columns.middleRows<3>(3 * Eigen::Index(i))).eval();
    });
  };
  turn([&](Index i) -> Mat3 { return R[at(i)].transpose(); });
  cholesky_.solve(columns);
  turn([&](Index i) -> const Mat3& { return R[at(i)]; });
}

/// The same with the grabs' springs in the matrix. With W a column w for each grab and axis, S^2 = h^2 k on the
/// diagonal and B the inverse without them, (B^{-1} + W S^2 W^T)^{-1} b = y - B W S (1 + S W^T B W S)^{-1} S W^T y, y =
/// B b.
void WarpCancelingStepper::pull_grabs() {
  const auto count = 3 * static_cast<Eigen::Index>(grabs_.size());
  Eigen::MatrixXd WS = Eigen::MatrixXd::Zero(rhs_.size(), count), Z(rhs_.size(), count + 1);
  for (Eigen::Index c = 0; c < count; ++c) {
    const Grab& grab = grabs_[at(c / 3)];
    for (std::size_t a = 0; a < 3; ++a)
      if (const Eigen::Index i = 3 * Eigen::Index(grab.nodes[a]) + c % 3; !fixed_[at(i)])
        WS(i, c) += h_ * std::sqrt(grab.stiffness) * grab.weights[a];
  }
  Z.leftCols(count) = WS;
  Z.col(count) = rhs_;
  apply_inverse(Z);
  Eigen::MatrixXd coupling = WS.transpose() * Z.leftCols(count);
  coupling.diagonal().array() += 1;
  const VecX pull = coupling.ldlt().solve(WS.transpose() * Z.col(count));
  change_ = Z.col(count);
  change_.noalias() -= Z.leftCols(count) * pull;
}

/// The solution with the stale matrix leaves a residual in the system with the present rotations, which is at hand
/// without that matrix. Whatever in it moves free parts as a whole is made up for. Where everything is fresh it is
/// zero.
void WarpCancelingStepper::correct_rigid_motion(const State& state, double h) {
  const bool fresh = std::find(marked_.begin(), marked_.end(), std::uint8_t{0}) == marked_.end();
  if (parts_.none() || fresh) return;
  scratch_ = rhs_;
  elements_.add_impulse(change_, 0, matrix_.scale(), scratch_);
  for (const Body& body : model_->bodies())
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i)
      node(scratch_, i) -= (1 + h * body.damping.mass) * model_->mass().lumped()[i] * node(change_, i);
  parts_.push(scratch_, state.x, h, next_v_);
}

bool WarpCancelingStepper::solve_iteratively(StepReport& report) {
  if (grabs_.empty()) {
    product_.set(matrix_.matrix());
  } else {  // nodes do not turn here: the matrix has the springs' coordinates
    with_grabs_ = matrix_.matrix();
    add_grab_hessian(grabs_, h_ * h_, with_grabs_);
    with_grabs_.eliminate(fixed_);
    product_.set(with_grabs_);
  }
  preconditioner_->set(product_);
  // The tolerance is that of the system for v' itself, begun at v*: relative to its right-hand side.
  double reference = 1;
  if (!options_.absolute_residual) {
    product_.multiply(predicted_, scratch_);
    reference = (rhs_ + scratch_).norm();
  }
  const double start = rhs_.norm();
  change_.setZero(rhs_.size());
  if (start > 0) {
    PcgOptions options = options_.pcg;
    options.tolerance *= reference / start;
    const PcgReport pcg = pcg_.solve(product_, rhs_, change_, *preconditioner_, options);
    report.linear_iterations = pcg.iterations;
    if (pcg.outcome == PcgOutcome::not_finite || pcg.outcome == PcgOutcome::negative_curvature) {
      report.outcome = Outcome::not_finite;
      report.detail = "conjugate gradients ran over";
      return false;
    }
    if (pcg.outcome == PcgOutcome::iteration_limit) {
      report.outcome = Outcome::iteration_limit;
      report.detail = fmt::format("conjugate gradients left a residual of {:.2g} after {} iterations",
                                  pcg.residual * start / reference, pcg.iterations);
    }
  }
  return true;
}

/// Supernodes that are bad and were left alone are drawn towards their rigid motion (warp-canceling, 4.4).
void WarpCancelingStepper::damp(const State& state) {
  if (!std::isfinite(options_.damp_above) || steps_ == 0) return;
  std::vector<std::vector<Index>> nodes(at(partition_.count()));
  const std::span<const double> badness = error_.badness();
  for (Index i = 0; i < model_->nodes(); ++i) {
    const auto s = at(partition_.of_node[at(i)]);
    if (!marked_[s] && badness[s] > options_.damp_above) nodes[s].push_back(i);
  }
  for (std::size_t s = 0; s < nodes.size(); ++s)
    if (nodes[s].size() > 1)
      damp_towards_rigid(*model_, nodes[s], fixed_, state.x, 1 - options_.damp_above / badness[s], next_v_);
}

/// The gradient of the incremental potential at the new positions, as every family reports it; leaves rotations and
/// elastic forces of the new positions behind, with which the next step begins.
void WarpCancelingStepper::measure(const State& before, const BoundaryState& boundary, double h, StepReport& report) {
  const VecX& mass = model_->mass().lumped();
  residual_.setZero(next_x_.size());
  std::vector<double> beta;
  double energy = 0;
  for (const Body& body : model_->bodies()) {
    beta.push_back(body.damping.stiffness);
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
      const Vec3 v = (node(next_x_, i) - node(before.x, i)) / h, jump = v - node(before.v, i);
      node(residual_, i) += mass[i] * (jump / h + body.damping.mass * v);
      energy += 0.5 * mass[i] * (jump.squaredNorm() + h * body.damping.mass * v.squaredNorm());
    }
  }
  if (std::any_of(beta.begin(), beta.end(), [](double b) { return b > 0; })) {
    scratch_.setZero(next_x_.size());
    elements_.add_impulse(next_v_, 0, beta, scratch_);
    residual_ -= scratch_;
    energy -= 0.5 * h * next_v_.dot(scratch_);
  }
  deform(next_x_);
  residual_ -= elastic_force_ + model_->external_force();
  energy += elastic_energy_ - (next_x_ - before.x).dot(model_->external_force());
  const VecX weight = model_->mass().consistent_diagonal();
  for (std::size_t k = 0; k < boundary.penalised.size(); ++k) {
    const Vec3 off = node(next_x_, boundary.penalised[k]) - boundary.targets[k];
    const double stiffness = boundary.sigma[k] * weight[boundary.penalised[k]];
    node(residual_, boundary.penalised[k]) += stiffness * off;
    energy += 0.5 * stiffness * off.squaredNorm();
  }
  for (const Grab& grab : grabs_) {
    energy += grab.energy(next_x_);
    grab.add_gradient(next_x_, residual_);
  }
  if (const ColliderPenalty* colliders = model_->colliders()) {
    const double end = before.time + h;
    const Index count = colliders->stencils().count();
    std::vector<double> values(at(count)), gradients(3 * at(count));
    for_chunks(count, kNodeGrain, [&](Index first, Index last) {
      colliders->evaluate({next_x_, {}, end}, {first, last}, values.data() + first, gradients.data() + 3 * first);
    });
    for (Index k = 0; k < count; ++k) {
      node(residual_, colliders->stencils().nodes[at(k)]) += Eigen::Map<const Vec3>(gradients.data() + 3 * at(k));
      energy += values[at(k)];
    }
    report.minimum_gap = smallest_distance(*colliders, end, next_x_);
  }
  for (Eigen::Index i = 0; i < residual_.size(); ++i)
    if (fixed_[at(i)]) residual_[i] = 0;
  report.residuals = residuals_.measure(residual_, boundary);
  report.residuals.step_length = change_.cwiseAbs().maxCoeff();
  report.energy = energy;
}

void WarpCancelingStepper::tell(const Stages& stages, StepReport& report) const {
  report.seconds.assembly = stages.element_rotations + stages.node_rotations + stages.error_estimate +
                            stages.matrix_update + stages.right_hand_side + stages.contact + stages.residuals;
  report.seconds.factorisation = stages.cholesky_update;
  report.seconds.solve = stages.solve;
  double elements = 0, supernodes = 0;
  for (double e : refreshed_) elements += e;
  for (std::uint8_t s : marked_) supernodes += s;
  report.figures = {{"refreshed_elements", elements / static_cast<double>(refreshed_.size())},
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
                    {"contacts", static_cast<double>(contact_.touching())}};
  if (schedule_.has_budget()) report.figures.push_back({"seconds_budget", schedule_.budget()});
}

std::vector<ElementValues> WarpCancelingStepper::element_values() const {
  if (options_.solve == LinearSolve::conjugate_gradients) return {};
  return {{"refreshed", refreshed_}};
}

/// The step size, the steps since everything was fresh, the last change of velocity and the rotations of the matrix.
std::vector<double> WarpCancelingStepper::memory() const {
  const ScheduleKind kind = options_.schedule.kind;
  if (h_ < 0 || kind == ScheduleKind::everything) return {};
  std::vector<double> memory = {h_, static_cast<double>(steps_)};
  memory.insert(memory.end(), change_.data(), change_.data() + change_.size());
  memory.insert(memory.end(), matrix_.memory().begin(), matrix_.memory().end());
  return memory;
}

void WarpCancelingStepper::recall(std::span<const double> memory) { recalled_.assign(memory.begin(), memory.end()); }

}  // namespace pliant
