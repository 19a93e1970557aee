#include "pliant/solvers/incremental_potential.hpp"

#include <cassert>
#include <limits>

#include "pliant/solvers/rayleigh.hpp"

namespace pliant {

namespace {

/// All nodes that some script holds by a penalty at some time.
std::vector<Index> penalised_nodes(const Model& model) {
  std::vector<std::uint8_t> marked(model.nodes(), 0);
  for (const Script& script : model.scripts())
    if (script.imposition == Imposition::penalty)
      for (Index i : script.nodes) marked[i] = 1;
  std::vector<Index> nodes;
  for (Index i = 0; i < model.nodes(); ++i)
    if (marked[i]) nodes.push_back(i);
  return nodes;
}

std::vector<const Energy*> with(std::span<const Energy* const> energies, const Energy& more) {
  std::vector<const Energy*> all(energies.begin(), energies.end());
  all.push_back(&more);
  return all;
}

}  // namespace

IncrementalPotential::IncrementalPotential(std::shared_ptr<const Model> model, Integrator integrator)
    : model_(std::move(model)),
      integrator_(integrator),
      penalty_(penalised_nodes(*model_)),
      penalty_stencil_(model_->nodes(), -1),
      penalty_mass_(model_->mass().consistent_diagonal()),
      assembler_(model_->nodes(), with(model_->energies(), penalty_), *model_->pattern()) {
  const Stencils& stencils = penalty_.stencils();
  for (Index s = 0; s < stencils.count(); ++s) penalty_stencil_[stencils.nodes[s]] = s;
  if (model_->is_damped() && integrator_ == Integrator::implicit_euler) damping_.emplace(model_->pattern(), 3);
}

/// A pin's rows are as good as any: they are eliminated from the sum.
void IncrementalPotential::assemble_damping(const State& state) {
  assemble_rayleigh(*model_, assembler_, model_->energies().size() + 1, state, *damping_);
}

void IncrementalPotential::begin_step(const State& state, double h) {
  assert(state.x.size() == model_->rest().size() && h > 0);
  h_ = h;
  end_ = state.time + h;
  x_n_ = state.x;
  predicted_ = state.x + h * state.v;
  boundary_ = boundary_state(model_->pins(), model_->scripts(), model_->rest(), state.time + h);
  start_ = x_n_;
  for (Eigen::Index i = 0; i < start_.size(); ++i)
    if (boundary_.fixed[i]) start_[i] = boundary_.positions[i];
  activation_ = model_->activation(state, state.time + h);
  if (damping_) assemble_damping(state);
  penalty_.release_all();
  for (std::size_t k = 0; k < boundary_.penalised.size(); ++k) {
    const Index i = boundary_.penalised[k];
    penalty_.hold(penalty_stencil_[i], boundary_.targets[k], boundary_.sigma[k] * penalty_mass_[i]);
  }
}

VecX IncrementalPotential::predicted_start() const {
  VecX x = predicted_;
  for (Eigen::Index i = 0; i < x.size(); ++i)
    if (boundary_.fixed[i]) x[i] = boundary_.positions[i];
  return x;
}

/// The two terms that are not sums over stencils; leaves M (x - x~) in inertia_.
double IncrementalPotential::inertia_and_work(const VecX& x) {
  const double work = (x - x_n_).dot(model_->external_force());
  if (integrator_ == Integrator::quasistatic) return -work;
  offset_ = x - predicted_;
  model_->mass().multiply(offset_, inertia_);
  return 0.5 / (h_ * h_) * offset_.dot(inertia_) - work;
}

/// h W((x - x^n)/h) = 1/(2 h) (x - x^n)^T D (x - x^n); leaves D (x - x^n) in resistance_.
double IncrementalPotential::damping(const VecX& x) {
  if (!damping_) return 0;
  displacement_ = x - x_n_;
  damping_->multiply(displacement_, resistance_);
  return 0.5 / h_ * displacement_.dot(resistance_);
}

double IncrementalPotential::value(const VecX& x) {
  const double outer = inertia_and_work(x) + damping(x);
  return outer + assembler_.value(pose(x));
}

double IncrementalPotential::gradient(const VecX& x, VecX& g) {
  double value = inertia_and_work(x) + damping(x);
  g = -model_->external_force();
  if (integrator_ == Integrator::implicit_euler) g += inertia_ / (h_ * h_);
  if (damping_) g += resistance_ / h_;
  value += assembler_.add_gradient(pose(x), g);
  for (Eigen::Index i = 0; i < g.size(); ++i)
    if (boundary_.fixed[i]) g[i] = 0;
  return value;
}

void IncrementalPotential::hessian(const VecX& x, Projection projection, double inertia_scale, BlockMatrix& A) {
  A.set_zero();
  assembler_.add_hessian(pose(x), projection, A);
  if (damping_)
    for (std::size_t i = 0; i < A.values().size(); ++i) A.values()[i] += damping_->values()[i] / h_;
  if (integrator_ == Integrator::implicit_euler) model_->mass().add_to(A, inertia_scale / (h_ * h_));
  A.eliminate(boundary_.fixed);
}

double IncrementalPotential::minimum_gap(const VecX& x) const {
  return model_->colliders() ? smallest_distance(*model_->colliders(), end_, x)
                             : std::numeric_limits<double>::infinity();
}

void IncrementalPotential::end_step(const VecX& x, State& state) const {
  state.v = (x - x_n_) / h_;
  if (model_->colliders() && integrator_ == Integrator::implicit_euler)
    apply_collider_friction(*model_->colliders(), end_, h_, x, state.v);
  state.x = x;
  state.time += h_;
  state.activation = activation_;
  ++state.step;
}

}  // namespace pliant
