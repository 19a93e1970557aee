#include "pliant/sim/incremental_potential.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "pliant/math/parallel.hpp"
#include "pliant/sim/rayleigh.hpp"

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
  if (model_->contact()) {
    contact_ = std::make_unique<ContactStep>(model_->contact(), *model_->pattern());
    contact_pattern_.emplace(model_->pattern());
    without_contact_ = BlockMatrix(model_->pattern(), 3);
  }
  if (model_->is_damped() && has_inertia()) damping_.emplace(model_->pattern(), 3);
  if (model_->mass().kind() == MassKind::lumped) {
    lumped_.resize(model_->rest().size());
    for (Index i = 0; i < model_->nodes(); ++i) node(lumped_, i).setConstant(model_->mass().lumped()[i]);
  }
  const auto energies = model_->energies();
  collider_part_ = static_cast<std::size_t>(
      std::find(energies.begin(), energies.end(), static_cast<const Energy*>(model_->colliders())) - energies.begin());
}

/// A pin's rows are as good as any: they are eliminated from the sum.
void IncrementalPotential::assemble_damping(const State& state) {
  assemble_rayleigh(*model_, assembler_, model_->energies().size() + 1, state, *damping_);
}

void IncrementalPotential::begin_step(const State& state, double h) {
  assert(state.x.size() == model_->rest().size() && h > 0);
  h_ = integrator_ == Integrator::implicit_midpoint ? h / 2 : h;
  end_ = state.time + h_;
  x_n_ = state.x;
  v_n_ = state.v;
  predicted_ = state.x + h_ * state.v;
  predicted_work_ = h_ * state.v.dot(model_->external_force());
  boundary_ = boundary_state(model_->pins(), model_->scripts(), model_->rest(), end_);
  fixed_.clear();
  for (std::size_t i = 0; i < boundary_.fixed.size(); ++i)
    if (boundary_.fixed[i]) fixed_.push_back(static_cast<Index>(i));
  start_ = x_n_;
  if (contact_) {
    contact_->begin_step(x_n_, state.time, h);
    contact_pattern_->begin_step();
  } else {
    impose_boundary(start_);
  }
  check_grabs(*model_, state.grabs);
  grabs_ = state.grabs;
  touching_.clear();
  activation_ = model_->activation(state, end_);
  if (damping_) assemble_damping(state);
  penalty_.release_all();
  for (std::size_t k = 0; k < boundary_.penalised.size(); ++k) {
    const Index i = boundary_.penalised[k];
    penalty_.hold(penalty_stencil_[i], boundary_.targets[k], boundary_.sigma[k] * penalty_mass_[i]);
  }
}

void IncrementalPotential::impose_boundary(VecX& x) const {
  for (Index i : fixed_) x[i] = boundary_.positions[i];
}

VecX IncrementalPotential::predicted_start() const {
  VecX x = predicted_;
  impose_boundary(x);
  return x;
}

/// The two terms that are not sums over stencils, 1/(2 h^2) |o|_M^2 - o^T f - (x~ - x^n)^T f with o = x - x~, and
/// unless g is null their gradient: one pass, since all of it is bound by memory.
double IncrementalPotential::inertia_and_work(const VecX& x, VecX* g) {
  if (!has_inertia() || lumped_.size() == 0) return inertia_by_matrix(x, g);
  constexpr Index kChunk = 3072;  // a few vectors of this many numbers fit the first cache
  const auto size = static_cast<Index>(x.size());
  const double scale = 1 / (h_ * h_);
  const VecX& f = model_->external_force();
  partial_.resize(static_cast<std::size_t>((size + kChunk - 1) / kChunk));
  offset_.resize(size);
  for_chunks(size, kChunk, [&](Index begin, Index end) {
    const auto part = [&](const VecX& v) { return v.segment(begin, end - begin).array(); };
    auto offset = offset_.segment(begin, end - begin).array();
    offset = part(x) - part(predicted_);
    partial_[static_cast<std::size_t>(begin / kChunk)] =
        (offset * (0.5 * scale * part(lumped_) * offset - part(f))).sum();
    if (g) g->segment(begin, end - begin).array() = scale * part(lumped_) * offset - part(f);
  });
  double sum = -predicted_work_;
  for (double p : partial_) sum += p;
  return sum;
}

double IncrementalPotential::inertia_by_matrix(const VecX& x, VecX* g) {
  const VecX& f = model_->external_force();
  if (g) *g = -f;
  const double work = (x - x_n_).dot(f);
  if (!has_inertia()) return -work;
  offset_ = x - predicted_;
  model_->mass().multiply(offset_, inertia_);
  if (g) *g += inertia_ / (h_ * h_);
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
  double value = inertia_and_work(x, nullptr) + damping(x);
  for (const Grab& grab : grabs_) value += grab.energy(x);
  if (contact_) value += contact_->value(pose(x));
  return value + assembler_.value(pose(x));
}

double IncrementalPotential::gradient(const VecX& x, VecX& g) {
  g.resize(x.size());
  double value = inertia_and_work(x, &g) + damping(x);
  if (damping_) g += resistance_ / h_;
  for (const Grab& grab : grabs_) {
    value += grab.energy(x);
    grab.add_gradient(x, g);
  }
  value += assembler_.add_gradient(pose(x), g);
  if (contact_) value += contact_->add_gradient(pose(x), g);
  for (Index i : fixed_) g[i] = 0;
  return value;
}

IncrementalPotential::ContactChange IncrementalPotential::contact_change() {
  ContactChange change;
  if (!model_->colliders()) return change;
  const auto values = assembler_.values(collider_part_);
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

void IncrementalPotential::hessian(const VecX& x, Projection projection, double inertia_scale, BlockMatrix& A,
                                   Drive* drive) {
  BlockMatrix& H = contact_ ? without_contact_ : A;
  H.set_zero();
  assembler_.add_hessian(pose(x), projection, H);
  if (damping_)
    for (std::size_t i = 0; i < H.values().size(); ++i) H.values()[i] += damping_->values()[i] / h_;
  if (has_inertia()) model_->mass().add_to(H, inertia_scale / (h_ * h_));
  add_grab_hessian(grabs_, 1, H);
  if (contact_) {
    const auto& pattern = contact_pattern_->cover(contact_->energies_at(x));
    if (A.shared_pattern() != pattern) A = BlockMatrix(pattern, 3);
    contact_pattern_->copy_base(H, A);
    contact_->add_hessian(pose(x), projection, A);
  }
  if (drive) {
    A.multiply(drive->way, drive->coupling);
    if (contact_) contact_->add_coupling(pose(x), projection, drive->coupling);
    for (Index i : fixed_) drive->coupling[i] = 0;
  }
  A.eliminate(boundary_.fixed);
}

double IncrementalPotential::minimum_gap(const VecX& x) const {
  if (contact_) return contact_->minimum_gap(x);
  return model_->colliders() ? smallest_distance(*model_->colliders(), end_, x)
                             : std::numeric_limits<double>::infinity();
}

void IncrementalPotential::end_step(const VecX& x, State& state) const {
  state.v = (x - x_n_) / h_;
  if (model_->colliders() && has_inertia()) apply_collider_friction(*model_->colliders(), end_, h_, x, state.v);
  if (contact_) contact_->end_step(x);
  state.x = x;
  state.time = end_;
  state.activation = activation_;
  ++state.step;
  if (integrator_ != Integrator::implicit_midpoint) return;
  state.x += h_ * state.v;
  state.v = 2 * state.v - v_n_;
  state.time += h_;
  // Prescribed nodes are where they belong at the end, not where the mirror puts them.
  const BoundaryState last = boundary_state(model_->pins(), model_->scripts(), model_->rest(), state.time);
  for (Eigen::Index i = 0; i < state.x.size(); ++i) {
    if (!last.fixed[static_cast<std::size_t>(i)]) continue;
    state.x[i] = last.positions[i];
    state.v[i] = (state.x[i] - x_n_[i]) / (2 * h_);
  }
}

}  // namespace pliant
