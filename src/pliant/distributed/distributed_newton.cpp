#include "pliant/distributed/distributed_newton.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pliant/base/error.hpp"
#include "pliant/base/stopwatch.hpp"

namespace pliant {

namespace {

LocalModel divide(const Model& whole, const Team& team) {
  check_divisible(whole);
  return local_model(whole, partition(whole, team.size()), team.rank());
}

void check_options(const Model& whole, const NewtonOptions& options) {
  if (options.line_search.kind == LineSearchKind::wolfe)
    throw InputError("solver.line_search = \"wolfe\" is not for several processes; leave it out");
  if (options.criterion.mass == AccelerationMass::factorised && whole.mass().kind() == MassKind::consistent)
    throw InputError("solver.acceleration_mass = \"factorised\" is not for several processes; set \"diagonal\"");
}

/// Lists of all processes, one after the other, on the first.
std::vector<Index> gather(const std::vector<Index>& own, Team& team, std::vector<int>& counts) {
  const int count = static_cast<int>(own.size());
  counts.assign(at(team.is_first() ? team.size() : 0), 0);
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, team.comm());
  std::vector<int> begins(counts.size(), 0);
  if (!counts.empty()) std::partial_sum(counts.begin(), counts.end() - 1, begins.begin() + 1);
  std::vector<Index> all(at(std::accumulate(counts.begin(), counts.end(), std::int64_t{0})));
  MPI_Gatherv(own.data(), count, MPI_INT32_T, all.data(), counts.data(), begins.data(), MPI_INT32_T, 0, team.comm());
  return all;
}

/// In units of so many numbers; for MPI's counts.
std::vector<int> begins_of(const std::vector<int>& counts) {
  std::vector<int> begins(counts.size(), 0);
  if (!counts.empty()) std::partial_sum(counts.begin(), counts.end() - 1, begins.begin() + 1);
  return begins;
}

/// A node's three numbers as one piece, so that counts are those of nodes.
class NodeType {
 public:
  NodeType() {
    MPI_Type_contiguous(3, MPI_DOUBLE, &type_);
    MPI_Type_commit(&type_);
  }
  ~NodeType() { MPI_Type_free(&type_); }
  NodeType(const NodeType&) = delete;
  NodeType& operator=(const NodeType&) = delete;
  operator MPI_Datatype() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace

DistributedNewton::DistributedNewton(Team& team, const Model& whole, const NewtonOptions& options)
    : team_(team),
      options_((check_options(whole, options), options)),
      local_(divide(whole, team)),
      nodes_(team, local_),
      potential_(local_.model, {options.integrator}),
      system_(nodes_, local_, options.linear) {
  const Mass& mass = local_.model->mass();
  mass_ = mass.kind() == MassKind::lumped ? mass.lumped() : mass.consistent_diagonal();
  nodes_.sum_copies(mass_);
  order_ = gather(local_.nodes, team_, counts_);
  std::vector<Index> owned;
  for (std::size_t i = 0; i < local_.nodes.size(); ++i)
    if (local_.owned[i]) owned.push_back(local_.nodes[i]);
  owned_order_ = gather(owned, team_, owned_counts_);
}

void DistributedNewton::begin_step(const Start* start, StepReport& report) {
  start_ = start;
  std::vector<double> header(3 + local_.model->muscles().size(), 0.0);
  if (start) {
    header[0] = start->state.time;
    header[1] = static_cast<double>(start->state.step);
    header[2] = start->time_step;
    std::copy(start->state.activation.begin(), start->state.activation.end(), header.begin() + 3);
  }
  team_.broadcast(header);
  const NodeType node_type;
  const std::vector<int> begins = begins_of(counts_);
  const auto count = static_cast<int>(local_.nodes.size());
  VecX packed(start ? 3 * static_cast<Eigen::Index>(order_.size()) : 0);
  const auto scatter = [&](const VecX* whole, VecX& part) {
    part.resize(3 * static_cast<Eigen::Index>(count));
    if (whole)
      for (std::size_t k = 0; k < order_.size(); ++k) node(packed, static_cast<Index>(k)) = node(*whole, order_[k]);
    MPI_Scatterv(packed.data(), counts_.data(), begins.data(), node_type, part.data(), count, node_type, 0,
                 team_.comm());
  };
  State state;
  scatter(start ? &start->state.x : nullptr, state.x);
  scatter(start ? &start->state.v : nullptr, state.v);
  scatter(start ? &start->force : nullptr, force_);
  state.time = header[0];
  state.step = static_cast<std::int64_t>(header[1]);
  state.activation.assign(header.begin() + 3, header.end());
  potential_.begin_step(state, header[2]);
  for (std::size_t i = 0; i < local_.owned.size(); ++i)
    if (!local_.owned[i]) node(force_, static_cast<Index>(i)).setZero();
  potential_.clear_prescribed(force_);
  system_.begin_step(report);
  stagnation_.begin();
  projects_ = options_.method == NewtonMethod::projected;
  countdown_ = 0;
  beta_ = 1;
}

void DistributedNewton::minimise(const Start* start, StepReport& report) {
  begin_step(start, report);
  if (find_start(report)) iterate(report);
  start_ = nullptr;
}

bool DistributedNewton::find_start(StepReport& report) {
  const StepProblem& problem = potential_.problem();
  if (options_.start == NewtonStart::prediction && problem.has_inertia()) {
    current_.x = problem.predicted_start();
    evaluate(current_);
    if (std::isfinite(current_.energy)) return true;
  }
  current_.x = potential_.start();
  evaluate(current_);
  if (std::isfinite(current_.energy)) {
    if (options_.start == NewtonStart::automatic && problem.has_inertia()) find_better_start();
    return true;
  }
  report.end(Outcome::inverted_start,
             "the energy is not finite where the step begins: an element is inverted there whose law has no energy for "
             "that; use smaller steps, a penalty for what is prescribed, or a law that survives inversion");
  return false;
}

/// The sum of all shares, with the gradient the same in all copies. What each process must know besides comes along:
/// whether the first is asked to end.
void DistributedNewton::evaluate(Iterate& there) {
  double values[2] = {0, start_ && start_->control && start_->control->stop_requested() ? 1.0 : 0.0};
  {
    const Stopwatch watch(evaluation_seconds_);
    values[0] = potential_.gradient(there.x, there.gradient) - force_.dot(there.x - potential_.problem().x_n);
    there.gradient -= force_;
  }
  nodes_.sum_copies(there.gradient);
  team_.sum(values);
  there.energy = values[0];
  if (values[1] > 0) throw Interrupted();
}

void DistributedNewton::measure(StepReport& report) {
  norm_ = std::sqrt(nodes_.dot(current_.gradient, current_.gradient));
  double largest = 0;
  for (Index i = 0; i < local_.model->nodes(); ++i)
    largest = std::max(largest, node(current_.gradient, i).cwiseAbs().maxCoeff() / mass_[i]);
  report.residuals.force = norm_;
  report.residuals.acceleration = team_.maximum(largest);
}

/// pitfalls, Algorithm 1.
/// As NewtonStepper::find_better_start.
void DistributedNewton::find_better_start() {
  const VecX explicit_end = explicit_step(current_, mass_, potential_.problem().h);
  for (const VecX& x : {potential_.problem().predicted_start(), explicit_end}) {
    trial_.x = x;
    evaluate(trial_);
    if (trial_.energy < current_.energy) std::swap(current_, trial_);
  }
}

void DistributedNewton::iterate(StepReport& report) {
  for (;;) {
    measure(report);
    if (!std::isfinite(norm_)) return end(report, Outcome::not_finite, "the forces are not finite");
    const auto judges = [&](auto&& asks) { return team_.agree(start_ && asks(*start_->criterion)); };
    if (judges([&](ConvergenceTest& test) { return test.satisfied(report.residuals, report.iterations); }))
      return end(report, Outcome::converged, "");
    if (report.iterations >= options_.max_iterations) return end(report, Outcome::iteration_limit, "not converged");

    if (!find_direction(report)) return;
    const double largest = nodes_.largest(dx_);
    const VecX size = VecX::Constant(1, nodes_.largest(current_.x));
    const bool is_short =
        judges([&](ConvergenceTest& test) { return test.satisfied_by_step(report.residuals.step_length); });
    if (!is_short && stagnation_.reached(size, largest, norm_))
      return end(report, Outcome::stagnated, "rounding hides any further progress");

    const LineSearchResult found = search(report);
    if (found.accepted) {
      std::swap(current_, trial_);
    } else if (!is_short) {
      const bool hidden = options_.line_search.kind == LineSearchKind::robust && StagnationTest::is_tiny(size, largest);
      return end(report, hidden ? Outcome::stagnated : Outcome::line_search_failed,
                 fmt::format("no step length above {:.0e} lowers the energy", options_.line_search.smallest_step));
    }
    if (is_short) {
      measure(report);
      return end(report, Outcome::converged, "");
    }
  }
}

bool DistributedNewton::find_direction(StepReport& report) {
  const FactorStatus status = compute_direction(report);
  const double largest = status == FactorStatus::ok ? nodes_.largest(dx_) : 0;
  if (status == FactorStatus::not_finite || !std::isfinite(largest)) {
    end(report, Outcome::not_finite, "the matrix or the direction is not finite");
    return false;
  }
  if (status != FactorStatus::ok) {
    end(report, Outcome::factorisation_failed,
        fmt::format("the matrix is not positive definite{}{}{}", system_.failure().empty() ? "" : "; ",
                    system_.failure(),
                    potential_.problem().has_inertia() ? "" : "; without inertia, pins must hold every body"));
    return false;
  }
  ++report.iterations;
  if (projected_) ++report.projected_iterations;
  const bool is_bounded = options_.method == NewtonMethod::kinetic && options_.bounds_kinetic_step;
  report.residuals.step_length = (is_bounded ? 1 / (beta_ * beta_) : 1) * largest / potential_.problem().h;
  return true;
}

/// What sets the four methods apart, as in solvers/newton.
FactorStatus DistributedNewton::compute_direction(StepReport&) {
  constexpr double kSmallestBeta = 1e-12;
  const auto solve = [&](Projection projection, double inertia_scale) {
    system_.assemble(potential_, current_.x, projection, inertia_scale);
    return system_.solve(Factorisation::llt, current_.gradient, norm_, dx_);
  };
  projected_ = false;
  switch (options_.method) {
    case NewtonMethod::newton: {
      FactorStatus status = solve(Projection::none, 1);
      if (status == FactorStatus::not_positive_definite)
        status = system_.solve(Factorisation::ldlt, current_.gradient, norm_, dx_);
      if (status == FactorStatus::ok && nodes_.dot(current_.gradient, dx_) > 0) dx_ = -dx_;
      return status;
    }
    case NewtonMethod::kinetic:
      for (;;) {
        const FactorStatus status = solve(Projection::none, 1 / (beta_ * beta_));
        if (status != FactorStatus::not_positive_definite || beta_ < kSmallestBeta) return status;
        beta_ /= 2;
      }
    case NewtonMethod::on_demand:
      if (!projects_) {
        const FactorStatus status = solve(Projection::none, 1);
        if (status != FactorStatus::not_positive_definite) return status;
        projects_ = true;
        countdown_ = options_.on_demand.projected_steps - 1;
      }
      break;
    case NewtonMethod::projected:
      break;
  }
  projected_ = true;
  return solve(options_.projection, 1);
}

LineSearchResult DistributedNewton::search(StepReport& report) {
  const Stopwatch watch(report.seconds.line_search);
  const LineSearchOptions& options = options_.line_search;
  const double slope = nodes_.dot(current_.gradient, dx_);
  LineSearchResult found;
  for (double alpha = 1; alpha >= options.smallest_step && !found.accepted; alpha /= 2) {
    trial_.x = current_.x + alpha * dx_;
    evaluate(trial_);
    ++found.evaluations;
    found.accepted = accepts(options, alpha, trial_.energy, current_.energy, slope,
                             [&] { return nodes_.dot(trial_.gradient, dx_); });
    if (found.accepted) found.alpha = alpha;
  }
  report.line_search_evaluations += found.evaluations;
  if (options_.history)
    report.history.push_back({current_.energy, report.residuals.force, report.residuals.acceleration,
                              report.residuals.step_length, found.alpha, projected_});
  if (!found.accepted) return found;
  report.smallest_alpha = std::min(report.smallest_alpha, found.alpha);
  if (options_.method == NewtonMethod::on_demand) {
    projects_ = (options_.on_demand.after_short_steps && found.alpha < 1) || countdown_ > 0;
    countdown_ = std::max(0, countdown_ - 1);
  } else if (options_.method == NewtonMethod::kinetic) {
    if (found.alpha < options_.kinetic.halve_below) beta_ /= 2;
    if (found.alpha > options_.kinetic.double_above) beta_ = std::min(1.0, 2 * beta_);
  }
  return found;
}

void DistributedNewton::end(StepReport& report, Outcome outcome, std::string detail) {
  report.end(outcome, std::move(detail));
  if (outcome == Outcome::converged) return;
  report.detail += fmt::format(" after {} iterations: residual {:.3g} N, {:.3g} m/s^2", report.iterations,
                               report.residuals.force, report.residuals.acceleration);
}

void DistributedNewton::collect(VecX* x, VecX* gradient) {
  const NodeType node_type;
  const std::vector<int> begins = begins_of(owned_counts_);
  VecX own(3 * static_cast<Eigen::Index>(local_.owned_count)),
      packed(3 * static_cast<Eigen::Index>(owned_order_.size()));
  const auto gather_nodes = [&](const VecX& part, VecX* whole) {
    Index k = 0;
    for (std::size_t i = 0; i < local_.owned.size(); ++i)
      if (local_.owned[i]) node(own, k++) = node(part, static_cast<Index>(i));
    MPI_Gatherv(own.data(), k, node_type, packed.data(), owned_counts_.data(), begins.data(), node_type, 0,
                team_.comm());
    if (!whole) return;
    whole->resize(packed.size());
    for (std::size_t j = 0; j < owned_order_.size(); ++j)
      node(*whole, owned_order_[j]) = node(packed, static_cast<Index>(j));
  };
  gather_nodes(current_.x, x);
  gather_nodes(current_.gradient, gradient);
}

std::vector<ProcessWork> DistributedNewton::work() {
  constexpr int kNumbers = sizeof(ProcessWork) / sizeof(double);
  ProcessWork own;
  own.nodes = local_.owned_count;
  own.shared_nodes = static_cast<double>(local_.nodes.size()) - own.nodes;
  for (const Body& body : local_.model->bodies()) own.elements += body.elements->element_count();
  own.neighbours = static_cast<double>(local_.neighbours.size());
  own.evaluation_seconds = evaluation_seconds_;
  own.messages = static_cast<double>(team_.traffic().messages);
  own.bytes = static_cast<double>(team_.traffic().bytes);
  own.reductions = static_cast<double>(team_.traffic().reductions);
  std::vector<ProcessWork> all(at(team_.is_first() ? team_.size() : 0));
  MPI_Gather(&own, kNumbers, MPI_DOUBLE, all.data(), kNumbers, MPI_DOUBLE, 0, team_.comm());
  return all;
}

}  // namespace pliant
