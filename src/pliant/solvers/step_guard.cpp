#include "pliant/solvers/step_guard.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "pliant/sim/contact/contact_step.hpp"
#include "pliant/sim/incremental_potential.hpp"
#include "pliant/sim/judgement.hpp"

namespace pliant {

namespace {

constexpr double kMostGain = 1e-3;  ///< the share of the energy at its start that a step may gain
/// The share of the smallest body's size that balancing the forces at the end of a step may move anything by; and,
/// where bodies touch, that inertia alone would let them move it by: a few steps decide a bounce.
constexpr double kMostUnbalanced = 0.02, kMostUnbalancedTouching = 1e-3;
constexpr double kMostBent = 1e-3;  ///< strain of a rigid body's frame
/// The share of the energy of its motion that a part of a body may lose in a step to being stretched by turning. Soft
/// bodies that swing lose some 1e-4; a stiff end of one more than this, as soon as it swings.
constexpr double kMostHeldBack = 0.05;
constexpr double kMostTurned = 0.01;  ///< rad, by which joints may turn a rigid body in one linear step

/// Of unknowns that are not prescribed, J.
double free_kinetic_energy(const StepProblem& problem, const VecX& v, const VecX& momentum) {
  double twice = v.dot(momentum);
  for (Index i : problem.fixed) twice -= v[i] * momentum[i];
  return 0.5 * twice;
}

Mat3 frame_edges(const Body& body, const VecX& x) {
  Mat3 edges;
  for (Index k = 0; k < 3; ++k) edges.col(k) = node(x, body.nodes.begin + k + 1) - node(x, body.nodes.begin);
  return edges;
}

/// Whether a rigid body is strained: joints make it turn along tangents, which lag behind by the square of the turn.
bool has_bent(const Model& model, const VecX& x) {
  return std::any_of(model.bodies().begin(), model.bodies().end(),
                     [&](const Body& body) { return !(rigid_strain(body, x) <= kMostBent); });
}

/// Where prescribed nodes move by more than an element, putting them in place inverts their neighbours. One linearly
/// implicit step with projected stiffness takes these along: (M/h^2 + H) dx = -g over the free unknowns. Without a
/// factor it stays where it was.
VecX moved_along(IncrementalPotential& potential) {
  const StepProblem& problem = potential.problem();
  VecX to = problem.x_n, dx, coupling;
  problem.impose_boundary(to);
  to -= problem.x_n;
  BlockMatrix A = potential.make_matrix();
  potential.stiffness(problem.x_n, Projection::analytic, A);
  potential.model().mass().add_to(A, 1 / (problem.h * problem.h));
  A.multiply(to, coupling);
  potential.gradient(problem.x_n, dx);
  dx = -dx - coupling;
  for (Index i : problem.fixed) dx[i] = to[i];
  A.eliminate(problem.boundary.fixed);
  SparseCholesky cholesky;
  cholesky.analyze(A.shared_pattern(), 3);
  if (cholesky.factor(A, Factorisation::llt) != FactorStatus::ok) return problem.x_n;
  cholesky.solve(dx);
  dx += problem.x_n;
  problem.impose_boundary(dx);
  return dx;
}

}  // namespace

/// Whether a rigid body that something is tied to turns far. Where few nodes are dynamic all others relax, so that what
/// a linear step lacks of a turn is no strain in the end, but a turn that did not happen.
bool StepGuard::turns_far(const VecX& x) const {
  return std::any_of(model_->bodies().begin(), model_->bodies().end(), [&](const Body& body) {
    if (!body.rigid || !is_tied_[static_cast<std::size_t>(body.nodes.begin)]) return false;
    const Mat3 turn = frame_edges(body, x) * frame_edges(body, potential_.problem().x_n).inverse();
    return !(0.5 / std::numbers::sqrt2 * (turn - turn.transpose()).norm() <= kMostTurned);
  });
}

StepGuard::StepGuard(IncrementalPotential& potential, std::shared_ptr<const Model> model, Balance balance)
    : potential_(potential),
      model_(std::move(model)),
      balance_(balance),
      elastic_scale_(elastic_energy_scale(*model_)),
      size_(smallest_body_size(*model_)),
      is_tied_(static_cast<std::size_t>(model_->nodes()), 0),
      turn_stretch_(*model_) {
  if (!model_->ties()) return;
  for (const Tie& tie : model_->ties()->ties())
    for (Index i : tie.nodes) is_tied_[static_cast<std::size_t>(i)] = 1;
}

void StepGuard::begin() { begin(potential_.stored_energy(potential_.problem().x_n)); }

void StepGuard::begin(double stored) {
  const StepProblem& problem = potential_.problem();
  stored_ = stored;
  unforeseen_ = 0;
  model_->mass().multiply(problem.v_n, momentum_);
  kinetic_ = free_kinetic_energy(problem, problem.v_n, momentum_);
}

void StepGuard::end(Solution& solution, StepReport& report) {
  double stored = 0;
  if (report.succeeded()) stored = potential_.stored_energy(solution.x, &gradient_);
  end(solution, report, stored, gradient_);
}

void StepGuard::end(Solution& solution, StepReport& report, double stored, const VecX& stored_gradient) {
  if (report.outcome == Outcome::out_of_memory) return;  // Newton's method would need no less
  bool bad = !report.succeeded();
  if (!bad) {
    solution.energy =
        stored + potential_.gradient(solution.x, solution.gradient, {.elasticity = false, .further = false});
    bad = is_bad(solution, stored, stored_gradient);
    solution.gradient += stored_gradient;
    potential_.clear_prescribed(solution.gradient);
    solution.is_measured = true;
    bad = bad || is_held_back(solution.x) || is_rough(solution) ||
          !describe_divergence(potential_, elastic_scale_, solution).empty();
  }
  if (bad) repair(solution, report);
  report.figures.push_back({"repaired", bad ? 1.0 : 0.0});
}

/// `solution.gradient` is that of all but what is stored.
bool StepGuard::is_bad(const Solution& solution, double stored, const VecX& stored_gradient) {
  const StepProblem& problem = potential_.problem();
  const double h = problem.h;
  if (!solution.x.allFinite() || !solution.v.allFinite() || !std::isfinite(solution.energy)) return true;
  motion_ = solution.x - problem.x_n;
  // The other forces: all but inertia, M (x - x~)/h^2.
  model_->mass().multiply(motion_ - h * problem.v_n, momentum_);
  momentum_ = solution.gradient - momentum_ / (h * h);
  for (Index i : problem.fixed) momentum_[i] = 0;
  const double resisted = momentum_.dot(motion_);
  model_->mass().multiply(solution.v, momentum_);
  const double kinetic = free_kinetic_energy(problem, solution.v, momentum_);
  const double gain =
      kinetic - kinetic_ + stored - stored_ + resisted - work_of_prescribed(solution.x, stored_gradient);
  return !(gain <= kMostGain * internal_energy()) || has_inverted(*model_, solution.x) || has_bent(*model_, solution.x);
}

/// Whether straight lines stretched a part that turns by so much that the stress will hold it back.
bool StepGuard::is_held_back(const VecX& x) {
  if (straight_from_.size() == 0) return false;
  motion_ = x - straight_from_;
  return turn_stretch_.largest_share(straight_from_, motion_, potential_.problem().h) > kMostHeldBack;
}

/// Whether the step along the residual r that lowers the potential most is long: alpha p with p = h^2 M^{-1} r and
/// alpha = r.p / p.Hp, H p by a difference of gradients. Inertia alone would let r move nodes by p, an upper bound that
/// costs nothing.
bool StepGuard::is_rough(const Solution& solution) {
  constexpr double kDifference = 1e-9;  // of the size
  if (balance_ != Balance::all_nodes) return unforeseen_ > kMostUnbalancedTouching * size_ || turns_far(solution.x);
  const double h = potential_.problem().h, longest = h * h * largest_acceleration(*model_, solution.gradient);
  if (longest <= kMostUnbalancedTouching * size_) return false;
  if (ContactStep* contact = potential_.contact(); contact && std::isfinite(contact->minimum_gap(solution.x)))
    return true;
  if (longest <= kMostUnbalanced * size_) return false;
  motion_.resize(solution.gradient.size());
  for (Index i = 0; i < model_->nodes(); ++i)
    node(motion_, i) = node(solution.gradient, i) * (h * h / model_->mass().lumped()[i]);
  const double share = kDifference * size_ / longest;
  potential_.gradient(solution.x - share * motion_, momentum_);
  const double curvature = motion_.dot(solution.gradient - momentum_) / share;
  return !(curvature > 0) || motion_.dot(solution.gradient) / curvature * longest > kMostUnbalanced * size_;
}

/// What the prescribed motion puts into the bodies: by the forces at its end, as backward Euler has it, but at most
/// what it takes to move the prescribed unknowns and nothing else. A step that ran away has forces to justify anything.
double StepGuard::work_of_prescribed(const VecX& x, const VecX& stored_gradient) {
  const StepProblem& problem = potential_.problem();
  double work = 0;
  bool moves = false;
  for (Index i : problem.fixed) {
    const double by = x[i] - problem.x_n[i];
    work += stored_gradient[i] * by;
    moves = moves || by != 0;
  }
  if (!moves) return 0;
  motion_ = problem.x_n;
  problem.impose_boundary(motion_);
  const double most = potential_.stored_energy(motion_) - stored_;
  return std::isfinite(most) ? std::min(work, most) : work;
}

/// What the start of the step has of energy that is not of the flight of its bodies as a whole, J.
double StepGuard::internal_energy() const {
  double flight = 0;
  const VecX& v = potential_.problem().v_n;
  for (const Body& body : model_->bodies()) {
    double mass = 0;
    Vec3 momentum = Vec3::Zero();
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
      mass += model_->mass().lumped()[i];
      momentum += model_->mass().lumped()[i] * node(v, i);
    }
    flight += 0.5 * momentum.squaredNorm() / mass;
  }
  return std::max(0.0, kinetic_ - flight) + std::max(0.0, stored_);
}

/// Newton's method from where the step began, or, where a boundary was put into the bodies there, from what the family
/// found, or from where a linear step takes them along.
void StepGuard::repair(Solution& solution, StepReport& report) {
  NewtonOptions newton;
  newton.linear.solver = LinearSolver::direct;  // which has nothing to remember
  if (!minimiser_) minimiser_.emplace(potential_, model_, newton);
  StepReport solved;
  if (ContactStep* contact = potential_.contact()) contact->begin_step(potential_.problem());  // obstacles go back
  minimiser_->begin_step(solved);
  const bool can_start = minimiser_->start_at(potential_.start()) ||
                         (!potential_.contact() && ((solution.x.allFinite() && minimiser_->start_at(solution.x)) ||
                                                    minimiser_->start_at(moved_along(potential_))));
  if (!can_start) {
    if (report.succeeded())
      report.end(
          Outcome::inverted_start,
          "with what is prescribed in its new place, elements are inverted: Newton's method has nowhere to begin; "
          "remedy: use the solver pod-newton, whose scripts pull by springs, or prescribe a slower motion");
    return;
  }
  minimiser_->run(solved);
  report.count(solved);
  report.outcome = solved.outcome;
  report.detail = solved.detail;
  Iterate& found = minimiser_->current();
  std::swap(solution.x, found.x);
  std::swap(solution.gradient, found.gradient);
  solution.energy = found.energy;
  solution.is_measured = true;
  solution.v.resize(0);
}

}  // namespace pliant
