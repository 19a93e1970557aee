#include "pliant/sim/incremental_potential.hpp"
#include "pliant/sim/contact/contact_step.hpp"
#include "pliant/sim/sharing.hpp"

#include <limits>

namespace pliant {

namespace {

std::vector<const Energy*> body_energies(const Model& model) {
  std::vector<const Energy*> energies;
  for (const Body& body : model.bodies()) energies.push_back(&body.energy());
  return energies;
}

std::vector<const Energy*> further_energies(const Model& model) {
  std::vector<const Energy*> energies;
  for (const auto& energy : model.more_energies()) energies.push_back(energy.get());
  return energies;
}

std::vector<const Energy*> collider_energies(const Model& model) {
  if (!model.colliders()) return {};
  return {model.colliders()};
}

}  // namespace

IncrementalPotential::IncrementalPotential(std::shared_ptr<const Model> model, const ProblemOptions& options)
    : model_(std::move(model)),
      options_(options),
      inertia_(*model_),
      elasticity_("elasticity", *model_, body_energies(*model_)),
      further_("further energies", *model_, further_energies(*model_)),
      colliders_("colliders", *model_, collider_energies(*model_)),
      penalties_(*model_) {
  if (!model_->surface_loads().empty()) loads_.emplace(*model_);
  if (model_->ties()) ties_.emplace(*model_);
  if (model_->contact()) {
    contact_ = std::make_unique<ContactStep>(model_->contact(), model_->sharing());
    contact_pattern_.emplace(model_->pattern());
    without_contact_ = BlockMatrix(model_->pattern(), 3);
  }
  if (model_->is_damped() && has_inertia(options.integrator)) damping_.emplace(*model_, elasticity_);
}

void IncrementalPotential::begin_step(const State& state, double time_step) {
  problem_.begin(*model_, state, time_step, options_);
  inertia_.begin_step(problem_);
  penalties_.begin_step(problem_);
  grabs_.begin_step(problem_);
  if (loads_) loads_->begin_step(problem_);
  if (ties_) ties_->begin_step(problem_);
  if (damping_) damping_->begin_step(problem_);
  start_ = problem_.x_n;
  if (contact_) {
    contact_->begin_step(problem_);
    contact_pattern_->begin_step();
  } else {
    problem_.impose_boundary(start_);
  }
  touching_.clear();
}

double IncrementalPotential::value(const VecX& x, Terms terms) {
  const Pose pose = problem_.pose(x);
  double value = inertia_.evaluate(x, nullptr, terms.inertia) + grabs_.value(pose) + penalties_.value(pose);
  if (loads_) value += loads_->value(pose);
  if (ties_) value += ties_->value(pose);
  if (terms.damping && damping_) value += damping_->value(pose);
  if (terms.elasticity) value += elasticity_.value(pose);
  if (terms.colliders) value += colliders_.value(pose);
  if (terms.contact && contact_) value += contact_->value(pose);
  if (terms.further) value += further_.value(pose);
  return model_->sharing() ? model_->sharing()->sum_value(value) : value;
}

double IncrementalPotential::gradient(const VecX& x, VecX& g, Terms terms) {
  const double value = sum_gradients(x, g, terms);
  clear_prescribed(g);
  Sharing* sharing = model_->sharing();
  if (!sharing) return value;
  sharing->sum_copies(g);
  return sharing->sum_value(value);
}

/// Over all unknowns, prescribed ones too.
double IncrementalPotential::sum_gradients(const VecX& x, VecX& g, Terms terms) {
  const Pose pose = problem_.pose(x);
  g.resize(x.size());
  double value = inertia_.evaluate(x, &g, terms.inertia);
  if (terms.damping && damping_) value += damping_->add_gradient(pose, g);
  value += grabs_.add_gradient(pose, g);
  if (loads_) value += loads_->add_gradient(pose, g);
  if (ties_) value += ties_->add_gradient(pose, g);
  if (terms.elasticity) value += elasticity_.add_gradient(pose, g);
  if (terms.further) value += further_.add_gradient(pose, g);
  if (terms.colliders) value += colliders_.add_gradient(pose, g);
  value += penalties_.add_gradient(pose, g);
  if (terms.contact && contact_) value += contact_->add_gradient(pose, g);
  return value;
}

void IncrementalPotential::support_forces(const VecX& x, VecX& f) {
  VecX g;
  sum_gradients(x, g, {});
  f.setZero(x.size());
  penalties_.add_gradient(problem_.pose(x), f);
  f = -f;
  for (Index i : problem_.fixed) f[i] = g[i];
  if (model_->sharing()) model_->sharing()->sum_copies(f);
}

double IncrementalPotential::stored_energy(const VecX& x, VecX* g) {
  const Pose pose = problem_.pose(x);
  if (g) g->setZero(x.size());
  const double value = g ? elasticity_.add_gradient(pose, *g) + further_.add_gradient(pose, *g)
                         : elasticity_.value(pose) + further_.value(pose);
  return ties_ ? value + ties_->stored(pose, g) : value;
}

void IncrementalPotential::stored_hessian(const VecX& x, Projection projection, BlockMatrix& H) {
  const Pose pose = problem_.pose(x);
  H.set_zero();
  elasticity_.add_hessian(pose, projection, H);
  further_.add_hessian(pose, projection, H);
  if (ties_) ties_->add_stored_hessian(pose, projection, H);
}

double IncrementalPotential::collider_energy(const VecX& x) {
  return total(model_->sharing(), colliders_.value(problem_.pose(x)));
}

IncrementalPotential::ContactChange IncrementalPotential::contact_change() {
  ContactChange change;
  if (!model_->colliders()) return change;
  const auto values = colliders_.values(0);
  const bool is_first = touching_.size() != values.size();
  touching_.resize(values.size(), 0);
  for (std::size_t s = 0; s < values.size(); ++s) {
    const bool touches = values[s] > 0;
    change.touching += touches || touching_[s];
    change.changed += !is_first && touches != (touching_[s] != 0);
    touching_[s] = touches;
  }
  return change;
}

/// Sums over all terms on the model's pattern but inertia, damping and ties.
void IncrementalPotential::sum_hessians(const Pose& pose, Projection projection, BlockMatrix& H) {
  H.set_zero();
  elasticity_.add_hessian(pose, projection, H);
  further_.add_hessian(pose, projection, H);
  colliders_.add_hessian(pose, projection, H);
  penalties_.add_hessian(pose, projection, H);
  grabs_.add_hessian(pose, projection, H);
  if (loads_) loads_->add_hessian(pose, projection, H);
}

/// And these, too.
void IncrementalPotential::sum_all_hessians(const Pose& pose, Projection projection, double inertia_scale,
                                            BlockMatrix& H) {
  sum_hessians(pose, projection, H);
  if (ties_) ties_->add_hessian(pose, projection, H);
  if (damping_) damping_->add_hessian(pose, projection, H);
  const double inertia = problem_.has_inertia() ? inertia_scale : inertia_scale - 1;
  if (inertia != 0) model_->mass().add_to(H, inertia / (problem_.h * problem_.h));
  find_rank_ones(pose.x);
}

std::span<const RankOne> IncrementalPotential::find_rank_ones(const VecX& x) {
  rank_ones_.clear();
  if (loads_) loads_->rank_ones(problem_.pose(x), rank_ones_);
  return rank_ones_;
}

void IncrementalPotential::hessian(const VecX& x, Projection projection, double inertia_scale, BlockMatrix& A,
                                   Drive* drive) {
  BlockMatrix& H = contact_ ? without_contact_ : A;
  sum_all_hessians(problem_.pose(x), projection, inertia_scale, H);
  complete_hessian(H, x, projection, problem_, A, drive);
  for (RankOne& one : rank_ones_) {
    const double moved = drive ? one.scale * one.vector.dot(drive->remaining) : 0;
    clear_prescribed(one.vector);
    if (drive) drive->coupling += moved * one.vector;
  }
}

void IncrementalPotential::full_hessian(const VecX& x, BlockMatrix& A) {
  const Pose pose = problem_.pose(x);
  BlockMatrix& H = contact_ ? without_contact_ : A;
  sum_all_hessians(pose, Projection::none, 1, H);
  if (contact_) add_contact(H, pose, Projection::none, A);
}

/// A = H + contact, on a pattern that has both.
void IncrementalPotential::add_contact(const BlockMatrix& H, const Pose& pose, Projection projection, BlockMatrix& A) {
  const auto& pattern = contact_pattern_->cover(contact_->energies_at(pose.x));
  if (A.shared_pattern() != pattern) A = BlockMatrix(pattern, 3);
  contact_pattern_->copy_base(H, A);
  contact_->add_hessian(pose, projection, A);
}

void IncrementalPotential::complete_hessian(const BlockMatrix& H, const VecX& x, Projection projection,
                                            const StepProblem& problem, BlockMatrix& A, Drive* drive) {
  const Pose pose = problem_.pose(x);
  if (contact_) add_contact(H, pose, projection, A);
  if (drive) {
    A.multiply(drive->remaining, drive->coupling);
    if (contact_) contact_->add_coupling(pose, projection, drive->coupling);
    if (model_->sharing()) model_->sharing()->sum_copies(drive->coupling);
    for (Index i : problem.fixed) drive->coupling[i] = 0;
  }
  A.eliminate(problem.boundary.fixed);
}

void IncrementalPotential::stiffness(const VecX& x, Projection projection, BlockMatrix& H) {
  const Pose pose = problem_.pose(x);
  sum_hessians(pose, projection, H);
  if (ties_) ties_->add_linearised(pose, projection, H);
}

void IncrementalPotential::linearise_contact(VecX& force, BlockMatrix& H) {
  const auto& pattern = contact_pattern_->cover(contact_->energies_at(problem_.x_n));
  if (H.shared_pattern() != pattern) H = BlockMatrix(pattern, 3);
  contact_->linearise(problem_.pose(problem_.x_n), problem_.h * problem_.v_n, force, H);
}

void IncrementalPotential::copy_with_contact(const BlockMatrix& H, const BlockMatrix& contact, BlockMatrix& A) const {
  if (A.shared_pattern() != contact.shared_pattern()) A = BlockMatrix(contact.shared_pattern(), 3);
  contact_pattern_->copy_base(H, A);
  for (std::size_t k = 0; k < A.values().size(); ++k) A.values()[k] += contact.values()[k];
}

void IncrementalPotential::rest_stiffness(BlockMatrix& A) {
  const Pose rest(model_->rest());
  A.set_zero();
  elasticity_.add_hessian(rest, Projection::analytic, A);
  further_.add_hessian(rest, Projection::analytic, A);
}

void IncrementalPotential::rest_hessian(BlockMatrix& A) {
  const Pose rest(model_->rest());
  rest_stiffness(A);
  penalties_.add_hessian(rest, Projection::analytic, A);
  grabs_.add_hessian(rest, Projection::analytic, A);
  if (ties_) ties_->add_stored_hessian(rest, Projection::analytic, A);
  if (damping_) damping_->add_at_rest(1 / problem_.h, A);
  inertia_.add_hessian(rest, Projection::analytic, A);
  A.eliminate(problem_.boundary.fixed);
}

double IncrementalPotential::minimum_gap(const VecX& x) {
  if (contact_) return contact_->minimum_gap(x);
  constexpr double kNone = std::numeric_limits<double>::infinity();
  return least(model_->sharing(),
               model_->colliders() ? smallest_distance(*model_->colliders(), problem_.end, x) : kNone);
}

void IncrementalPotential::velocities(const VecX& x, VecX& v) const {
  v = (x - problem_.x_n) / problem_.h;
  if (model_->colliders() && problem_.has_inertia())
    apply_collider_friction(*model_->colliders(), problem_.end, problem_.h, x, v);
}

void IncrementalPotential::end_step(const VecX& x, const VecX& v, State& state) {
  if (contact_) contact_->end_step(x);
  state.x = x;
  state.v = v;
  state.time = problem_.end;
  state.activation = problem_.activation;
  ++state.step;
  if (problem_.integrator != Integrator::implicit_midpoint) return;
  state.x += problem_.h * v;
  state.v = 2 * v - problem_.v_n;
  state.time += problem_.h;
  // Prescribed nodes are where they belong at the end, not where the mirror puts them.
  const BoundaryState last = boundary_state(model_->pins(), model_->scripts(), model_->rest(), state.time);
  for (Eigen::Index i = 0; i < state.x.size(); ++i) {
    if (!last.fixed[static_cast<std::size_t>(i)]) continue;
    state.x[i] = last.positions[i];
    state.v[i] = (state.x[i] - problem_.x_n[i]) / problem_.time_step;
  }
}

}  // namespace pliant
