#include "pliant/solvers/pxpbd/pxpbd_stepper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pliant/base/stopwatch.hpp"
#include "pliant/math/parallel.hpp"
#include "pliant/sim/contact/contact_step.hpp"
#include "pliant/sim/judgement.hpp"

namespace pliant {

namespace {

/// Batches per task: large enough to hide its cost, small enough to share a colour of a few hundred elements.
constexpr Index kBatchGrain = 4;
/// Measuring the residual costs about as much as a sweep: with a tolerance it is done after every so many.
constexpr int kCheckEvery = 5;
using pbd::kFirstRounds, pbd::kLastSweeps;

}  // namespace

PxpbdStepper::PxpbdStepper(std::shared_ptr<const Model> model, const PxpbdOptions& options)
    : Stepper(std::move(model), {options.integrator}),
      options_(options),
      convergence_(this->model(), options.criterion),
      elements_(*this->model()),
      nodes_(*this->model()),
      colliders_(this->model()->colliders()),
      local_(pbd::make_local_update(elements_, options.local)) {
  elements_.sort(elements_.mesh_colours(this->model()->nodes()));
  if (this->model()->contact()) contact_.emplace(this->model()->contact());
  if (options.substeps > 1 && options.integrator == Integrator::implicit_euler)
    substep_ = std::make_unique<IncrementalPotential>(this->model(), ProblemOptions{options.integrator});
  if (options.correction.kind == pbd::CorrectionKind::none || options.integrator != Integrator::implicit_euler) return;
  correction_.emplace(substep_ ? *substep_ : potential(), options.correction);
  runaway_.emplace(smallest_body_size(*this->model()));
}

void PxpbdStepper::advance(Solution& solution, StepReport& report) {
  corrections_ = 0;
  if (substep_) return take_substeps(solution, report);
  relax(potential(), report);
  std::swap(solution.x, swept_.x);
  std::swap(solution.gradient, swept_.gradient);
  solution.energy = swept_.energy;
  solution.is_measured = true;
  if (contact_) report.figures.push_back({"held_back", held_back_});
  if (correction_) report.figures.push_back({"corrections", static_cast<double>(corrections_)});
}

void PxpbdStepper::take_substeps(Solution& solution, StepReport& report) {
  if (contact_) potential().contact()->place_obstacles(1);
  State moved = {problem().x_n, problem().v_n, problem().start, 0, problem().start_activation, problem().grabs};
  for (int s = 0; s < options_.substeps; ++s) {
    substep_->begin_step(moved, problem().time_step / options_.substeps);
    relax(*substep_, report);
    substep_->velocities(swept_.x, v_);
    substep_->end_step(swept_.x, v_, moved);
    if (!swept_.x.allFinite()) break;
    if (!report.succeeded()) {  // obstacles, for one, would begin the next substep where bodies are
      if (contact_) potential().contact()->place_obstacles((s + progress_) / options_.substeps);
      break;
    }
  }
  report.figures = {{"substep_force", report.residuals.force}, {"substep_acceleration", report.residuals.acceleration}};
  if (contact_) report.figures.push_back({"held_back", held_back_});
  if (correction_) report.figures.push_back({"corrections", static_cast<double>(corrections_)});
  std::swap(solution.x, moved.x);
  std::swap(solution.v, moved.v);
}

/// Algorithms 1 and 2 for one problem: predict, then sweep over all elements. Leaves its end in swept_.
void PxpbdStepper::relax(IncrementalPotential& potential, StepReport& report) {
  relaxed_ = &potential;
  const StepProblem& problem = potential.problem();
  {
    const Stopwatch watch(report.seconds.assembly);
    if (nodes_.begin_step(problem)) elements_.set_metric(nodes_.inverse_masses());
    colliders_.begin_step(problem.end, problem.h);
    springs_.begin_step(problem.grabs, model()->ties(), problem.x_n, problem.end, problem.h);
    gases_.begin_step(problem);
    convergence_.begin_step(problem);
    local_->begin_step({problem.h, problem.x_n, problem.activation, problem.start_activation});
  }
  if (contact_) {
    contact_->begin_step(*potential.contact(), problem, unknowns());
    for (int k = 0; k < kFirstRounds; ++k) contact_round();
  }
  const int rounds = problem.has_inertia() ? 1 : options_.rounds;
  SweepsEnd end = SweepsEnd::spent;
  for (int round = 0; round < rounds && end == SweepsEnd::spent; ++round) {
    if (round > 0) nodes_.begin_round(problem);
    end = iterate(report);
  }
  const bool done = end == SweepsEnd::met_criterion;
  report.outcome = done ? Outcome::converged : Outcome::budget_spent;
  if (end == SweepsEnd::ran_away)
    report.end(Outcome::diverged, "sweeps moved nodes further and further");
  else if (contact_)
    finish_contact(report);
  held_back_ = contact_ ? contact_->held_back() : 0;
  progress_ = contact_ ? contact_->progress() : 1;
  const Stopwatch watch(report.seconds.assembly);
  write_positions(swept_.x);
  measure(report.residuals);
  if (options_.history) measure_system(report.residuals);
  if (correction_ && !done) correct(report);
}

/// Newton's method where the sweeps have not come near enough.
void PxpbdStepper::correct(StepReport& report) {
  const int steps = correction_->end(swept_, report);
  if (steps == 0) return;
  corrections_ += steps;
  held_back_ = 0;
  if (contact_) progress_ = relaxed_->contact()->progress();
  convergence_.measure(swept_.gradient, relaxed_->problem().boundary, report.residuals);
}

/// The sweeps of a substep or round.
PxpbdStepper::SweepsEnd PxpbdStepper::iterate(StepReport& report) {
  if (runaway_) runaway_->begin(nodes_.data(), nodes_.count());
  for (int k = 0; k < options_.iterations; ++k) {
    StepControl::at_iteration(report.iterations);
    const bool check = options_.stops_early && k % kCheckEvery == 0;
    if (options_.history || check) {
      IterationRecord record;
      write_positions(swept_.x);
      Residuals residuals = report.residuals;
      measure(residuals);
      record.energy = swept_.energy;
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
      if (options_.stops_early && convergence_.satisfied(residuals, k) && arrived()) return SweepsEnd::met_criterion;
      previous_x_ = swept_.x;
    }
    {
      const Stopwatch watch(report.seconds.solve);
      if (renews_friction(k)) contact_->renew_friction(unknowns());
      sweep();
    }
    ++report.iterations;
    if (runaway_ && runaway_->runs_away(nodes_.data())) return SweepsEnd::ran_away;
    if (options_.history || check) {
      write_positions(swept_.x);
      double moved = (swept_.x - previous_x_).cwiseAbs().maxCoeff();
      if (contact_) moved = std::max(moved, contact_->held_back());
      report.residuals.step_length = moved / relaxed_->problem().h;
      if (options_.stops_early && convergence_.satisfied_by_step(report.residuals.step_length) && arrived())
        return SweepsEnd::met_criterion;
    }
  }
  return SweepsEnd::spent;
}

/// One iteration of Algorithms 1 and 2: gas, every element once, then springs and what is grabbed, and every node that
/// may touch a collider.
void PxpbdStepper::sweep() {
  if (!colours_ || coloured_for_ != elements_.sorts()) {
    std::vector<Index> batches;
    for (Index colour = 0; colour < elements_.colours(); ++colour) batches.push_back(elements_.colour(colour).size());
    colours_ = std::make_unique<Stages>(std::move(batches), kBatchGrain);
    coloured_for_ = elements_.sorts();
  }
  gases_.update(nodes_.data(), nodes_.axes());
  colours_->run([&](Index colour, Index begin, Index end) {
    const Index first = elements_.colour(colour).begin;
    for (Index b = first + begin; b < first + end; ++b) {
      const pbd::ElementBatch& batch = elements_.batches()[static_cast<std::size_t>(b)];
      Batch9 F, Q;
      pbd::gather_gradients(nodes_.data(), batch, F);
      local_->update(b, F, Q);
      pbd::scatter_displacements(batch, Q, nodes_.axes(), nodes_.data());
    }
  });
  springs_.update(nodes_.data(), nodes_.axes());
  colliders_.update(nodes_);
  if (contact_) contact_round();
}

/// The sweeps are shared out evenly between the renewals.
bool PxpbdStepper::renews_friction(int sweep) const {
  if (!contact_ || sweep == 0) return false;
  const int times = model()->contact()->options.friction_iterations;
  const int every = (options_.iterations + times - 1) / times;
  return sweep % every == 0;
}

/// Every pair once, then the positions that are safe follow.
void PxpbdStepper::contact_round() {
  contact_->visit(unknowns());
  contact_->follow(unknowns());
}

/// What is prescribed must arrive: where bodies are still in its way, sweeps go on.
void PxpbdStepper::finish_contact(StepReport& report) {
  for (int k = 0; k < kLastSweeps && !contact_->arrived(); ++k) {
    sweep();
    ++report.iterations;
  }
  if (!contact_->arrived()) report.end(Outcome::iteration_limit, contact_->describe_progress());
}

/// With contact those that are safe.
void PxpbdStepper::write_positions(VecX& x) const {
  if (contact_)
    x = contact_->positions();
  else
    nodes_.write_positions(x);
}

void PxpbdStepper::measure(Residuals& residuals) {
  swept_.energy = relaxed_->gradient(swept_.x, swept_.gradient);
  convergence_.measure(swept_.gradient, relaxed_->problem().boundary, residuals);
}

/// The residuals g and h of the system that these methods solve, eqs. (11), (12) and (24), (25), in N and Pa.
void PxpbdStepper::measure_system(Residuals& residuals) {
  nodes_.inertia(primal_);
  colliders_.add_to(primal_, nodes_);
  springs_.for_impulses([&](Index i, int axis, double impulse) {
    if (nodes_.inverse_mass(i, axis) > 0) primal_[3 * i + axis] += impulse;
  });
  gases_.for_impulses([&](Index i, int axis, double impulse) {
    if (nodes_.inverse_mass(i, axis) > 0) primal_[3 * i + axis] += impulse;
  });
  if (contact_)
    contact_->for_impulses([&](Index i, int axis, double impulse) {
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
  residuals.primal = primal_.norm() / (relaxed_->problem().h * relaxed_->problem().h);
  residuals.secondary = std::sqrt(sum);
}

std::string PxpbdStepper::remedy() const {
  if (correction_) return "take smaller steps, or use the solver pod-newton";
  if (options_.local.method == pbd::Method::blended && options_.local.zeta > 0)
    return "leave zeta to be chosen per element, or take smaller steps";
  const double h = problem().time_step / (substep_ ? options_.substeps : 1);
  const char* correct = problem().has_inertia() ? "set correction = \"automatic\", or " : "";
  return fmt::format("{}take smaller steps or more substeps (the largest stiffness number is {:.3g}, docs/pxpbd.md)",
                     correct, largest_kappa(h));
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
