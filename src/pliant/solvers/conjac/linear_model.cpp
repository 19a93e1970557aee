#include "pliant/solvers/conjac/linear_model.hpp"

#include <cassert>
#include <cmath>

#include "pliant/sim/rayleigh.hpp"

namespace pliant {

namespace {

std::vector<const Energy*> list(std::span<const Energy* const> energies) { return {energies.begin(), energies.end()}; }

}  // namespace

LinearModel::LinearModel(std::shared_ptr<const Model> model)
    : model_(std::move(model)),
      assembler_(model_->nodes(), list(model_->energies()), *model_->pattern()),
      convergence_(model_, {}) {
  if (model_->is_damped()) damping_.emplace(model_->pattern(), 3);
}

void LinearModel::begin_step(const State& state, double h) {
  assert(state.x.size() == model_->rest().size() && h > 0);
  h_ = h;
  end_ = state.time + h;
  x_n_ = state.x;
  v_n_ = state.v;
  boundary_ = boundary_state(model_->pins(), model_->scripts(), model_->rest(), end_);
  for (std::size_t k = 0; k < boundary_.penalised.size(); ++k) {
    const Index i = boundary_.penalised[k];
    node(boundary_.positions, i) = boundary_.targets[k];
    for (int axis = 0; axis < 3; ++axis) boundary_.fixed[3 * static_cast<std::size_t>(i) + axis] = 1;
  }
  prescribed_velocity_.setZero(state.x.size());
  boundary_moves_ = false;
  for (Eigen::Index i = 0; i < state.x.size(); ++i)
    if (boundary_.fixed[static_cast<std::size_t>(i)]) {
      prescribed_velocity_[i] = (boundary_.positions[i] - state.x[i]) / h;
      boundary_moves_ = boundary_moves_ || prescribed_velocity_[i] != 0;
    }
  activation_ = model_->activation(state, end_);
  check_grabs(*model_, state.grabs);
  grabs_ = state.grabs;
  if (damping_) assemble_rayleigh(*model_, assembler_, model_->energies().size(), state, *damping_);
}

double LinearModel::forces(const VecX& x, VecX& f) {
  residual_.setZero(x.size());
  double value = assembler_.add_gradient({x, activation_, end_}, residual_);
  for (const Grab& grab : grabs_) {
    value += grab.energy(x);
    grab.add_gradient(x, residual_);
  }
  f = model_->external_force() - residual_;
  return value - (x - x_n_).dot(model_->external_force());
}

double LinearModel::energy(const VecX& x) {
  double value = assembler_.value({x, activation_, end_}) - (x - x_n_).dot(model_->external_force());
  for (const Grab& grab : grabs_) value += grab.energy(x);
  return value;
}

void LinearModel::stiffness(const VecX& x, Projection projection, BlockMatrix& H) {
  H.set_zero();
  assembler_.add_hessian({x, activation_, end_}, projection, H);
  add_grab_hessian(grabs_, 1, H);
}

void LinearModel::measure(const VecX& x, std::span<const std::uint8_t> held, StepReport& report) {
  report.energy = forces(x, f_);
  offset_ = (x - x_n_ - h_ * v_n_) / (h_ * h_);
  model_->mass().multiply(offset_, residual_);
  report.energy += 0.5 * h_ * h_ * offset_.dot(residual_);
  residual_ -= f_;
  if (damping_) {
    offset_ = (x - x_n_) / h_;
    damping_->multiply(offset_, product_);
    report.energy += 0.5 * h_ * offset_.dot(product_);
    residual_ += product_;
  }
  for (Eigen::Index i = 0; i < residual_.size(); ++i)
    if (held[static_cast<std::size_t>(i)]) residual_[i] = 0;
  report.residuals = convergence_.measure(residual_, boundary_);
}

void LinearModel::impose(VecX& x) const {
  for (Eigen::Index i = 0; i < x.size(); ++i)
    if (boundary_.fixed[static_cast<std::size_t>(i)]) x[i] = boundary_.positions[i];
}

void LinearModel::end_step(State& state) const {
  state.time += h_;
  state.activation = activation_;
  ++state.step;
}

}  // namespace pliant
