#include "pliant/solvers/pxpbd/pxpbd_stepper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pliant/base/stopwatch.hpp"
#include "pliant/math/parallel.hpp"
#include "pliant/sim/start_check.hpp"

namespace pliant {

namespace {

/// Batches per task: large enough to hide its cost, small enough to share a colour of a few hundred elements.
constexpr Index kBatchGrain = 4;
/// Measuring the residual costs about as much as a sweep: with a tolerance it is done after every so many.
constexpr int kCheckEvery = 5;

}  // namespace

PxpbdStepper::PxpbdStepper(std::shared_ptr<const Model> model, const PxpbdOptions& options)
    : model_(std::move(model)),
      options_(options),
      potential_(model_, options.integrator),
      convergence_(model_, options.criterion),
      elements_(*model_, options.name),
      nodes_(*model_),
      colliders_(model_->colliders()),
      local_(pbd::make_local_update(elements_, options.local, options.name)) {
  elements_.sort(elements_.mesh_colours(model_->nodes()));
}

StepReport PxpbdStepper::step(State& state, double h) {
  StepReport report;
  {
    const Stopwatch watch(report.seconds.total);
    if (refuse_bad_start(state, h, report)) return report;
    const int substeps = options_.integrator == Integrator::implicit_euler ? options_.substeps : 1;
    moved_ = state;
    for (int s = 0; s < substeps; ++s)
      if (!substep(moved_, h / substeps, report)) return report;
    moved_.step = state.step + 1;
    report.minimum_gap = potential_.minimum_gap(moved_.x);
    state = moved_;
  }
  return report;
}

bool PxpbdStepper::substep(State& state, double h, StepReport& report) {
  {
    const Stopwatch watch(report.seconds.assembly);
    potential_.begin_step(state, h);
    if (nodes_.begin_step(potential_, state)) elements_.set_metric(nodes_.inverse_masses());
    colliders_.begin_step(state.time + h, h);
    grabs_.begin_step(state.grabs, h);
    local_->begin_step({h, state.x, potential_.pose(state.x).activation, state.activation});
  }
  const int rounds = options_.integrator == Integrator::quasistatic ? options_.rounds : 1;
  bool done = false;
  for (int round = 0; round < rounds && !done; ++round) {
    if (round > 0) nodes_.begin_round(potential_);
    done = iterate(report);
  }
  nodes_.write_positions(x_);
  {
    const Stopwatch watch(report.seconds.assembly);
    measure(report.residuals, report.energy);
    if (options_.history) measure_system(report.residuals);
  }
  if (!x_.allFinite() || !std::isfinite(report.residuals.force) || ran_away(state)) {
    report.outcome = Outcome::not_finite;
    report.detail =
        fmt::format("the positions ran away after {} iterations (largest stiffness number {:.3g}){}", report.iterations,
                    largest_kappa(h),
                    options_.local.method == pbd::Method::blended ? "; raise zeta, or leave it to be chosen per element"
                                                                  : "; take smaller steps");
    return false;
  }
  report.outcome = done ? Outcome::converged : Outcome::budget_spent;
  potential_.end_step(x_, state);
  return true;
}

/// The sweeps of a substep or round; true when a criterion ended them.
bool PxpbdStepper::iterate(StepReport& report) {
  for (int k = 0; k < options_.iterations; ++k) {
    const bool check = options_.stops_early && k % kCheckEvery == 0;
    if (options_.history || check) {
      IterationRecord record;
      nodes_.write_positions(x_);
      Residuals residuals = report.residuals;
      measure(residuals, record.energy);
      if (options_.history) {
        measure_system(residuals);
        record.force = residuals.force;
        record.acceleration = residuals.acceleration;
        record.step_length = residuals.step_length;
        record.alpha = 1;
        record.primal = residuals.primal;
        record.secondary = residuals.secondary;
        report.history.push_back(record);
      }
      if (options_.stops_early && convergence_.satisfied(residuals)) return true;
      previous_x_ = x_;
    }
    {
      const Stopwatch watch(report.seconds.solve);
      sweep();
    }
    ++report.iterations;
    if (options_.history || check) {
      nodes_.write_positions(x_);
      report.residuals.step_length = (x_ - previous_x_).cwiseAbs().maxCoeff() / potential_.h();
      if (options_.stops_early && convergence_.satisfied_by_step(report.residuals.step_length)) return true;
    }
  }
  return false;
}

/// One iteration of Algorithms 1 and 2: every element once, then what is grabbed, and every node that may touch a
/// collider.
void PxpbdStepper::sweep() {
  for (Index colour = 0; colour < elements_.colours(); ++colour) {
    const Range range = elements_.colour(colour);
    for_chunks(range.size(), kBatchGrain, [&](Index begin, Index end) {
      for (Index b = range.begin + begin; b < range.begin + end; ++b) {
        const pbd::ElementBatch& batch = elements_.batches()[static_cast<std::size_t>(b)];
        Batch9 F, Q;
        pbd::gather_gradients(nodes_.data(), batch, F);
        local_->update(b, F, Q);
        pbd::scatter_displacements(batch, Q, nodes_.axes(), nodes_.data());
      }
    });
  }
  grabs_.update(nodes_.data(), nodes_.axes());
  colliders_.update(nodes_);
}

/// The residual of backward Euler (or of statics) at x_, as every solver reports it.
void PxpbdStepper::measure(Residuals& residuals, double& energy) {
  energy = potential_.gradient(x_, gradient_);
  const double step_length = residuals.step_length;
  residuals = convergence_.measure(gradient_, potential_.boundary());
  residuals.step_length = step_length;
}

/// The residuals g and h of the system that these methods solve, eqs. (11), (12) and (24), (25), in N and Pa.
void PxpbdStepper::measure_system(Residuals& residuals) {
  nodes_.inertia(primal_);
  colliders_.add_to(primal_, nodes_);
  grabs_.for_impulses([&](Index i, int axis, double impulse) {
    if (nodes_.inverse_mass(i, axis) > 0) primal_[3 * i + axis] += impulse;
  });
  VecX stresses = VecX::Zero(primal_.size());
  secondary_.assign(elements_.batches().size(), 0.0);
  for (Index colour = 0; colour < elements_.colours(); ++colour) {
    const Range range = elements_.colour(colour);
    for_chunks(range.size(), kBatchGrain, [&](Index begin, Index end) {
      for (Index b = range.begin + begin; b < range.begin + end; ++b) {
        const pbd::ElementBatch& batch = elements_.batches()[static_cast<std::size_t>(b)];
        Batch9 F, Q;
        double squares[kBatch];
        pbd::gather_gradients(nodes_.data(), batch, F);
        local_->residual(b, F, Q, squares);
        pbd::scatter_forces(batch, Q, stresses.data());
        for (int p = 0; p < batch.count; ++p) secondary_[static_cast<std::size_t>(b)] += squares[p];
      }
    });
  }
  for (Index i = 0; i < nodes_.count(); ++i)
    for (int axis = 0; axis < 3; ++axis)
      if (nodes_.inverse_mass(i, axis) > 0) primal_[3 * i + axis] -= stresses[3 * i + axis];
  double sum = 0;
  for (double s : secondary_) sum += s;
  residuals.primal = primal_.norm() / (potential_.h() * potential_.h());
  residuals.secondary = std::sqrt(sum);
}

/// Whether a node went a million times as far as the body is large and its velocity carries it.
bool PxpbdStepper::ran_away(const State& state) const {
  constexpr double kFar = 1e6;
  const VecX& rest = model_->rest();
  const double size = (rest.array() - rest.mean()).abs().maxCoeff() + potential_.h() * state.v.cwiseAbs().maxCoeff() +
                      state.x.cwiseAbs().maxCoeff();
  return (x_ - state.x).cwiseAbs().maxCoeff() > kFar * size;
}

double PxpbdStepper::largest_kappa(double h) const {
  double largest = 0, kappa[kBatch];
  for (const pbd::ElementBatch& batch : elements_.batches()) {
    pbd::stiffness_numbers(batch, h * h, kappa);
    for (int p = 0; p < batch.count; ++p) largest = std::max(largest, kappa[p]);
  }
  return largest;
}

}  // namespace pliant
