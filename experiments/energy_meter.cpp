#include "experiments/energy_meter.hpp"

namespace pliant::experiments {

EnergyMeter::EnergyMeter(std::shared_ptr<const Model> model)
    : model_(std::move(model)), assembler_(model_->nodes(), {model_->energies().begin(), model_->energies().end()}) {}

double EnergyMeter::kinetic(const State& state) const {
  VecX momentum;
  model_->mass().multiply(state.v, momentum);
  return 0.5 * state.v.dot(momentum);
}

double EnergyMeter::elastic(const State& state) { return assembler_.value({state.x, state.activation, state.time}); }

double EnergyMeter::potential(const State& state) {
  return elastic(state) - model_->external_force().dot(state.x - model_->rest());
}

void EnergyMeter::internal_forces(const State& state, VecX& f) {
  f.setZero(state.x.size());
  assembler_.add_gradient({state.x, state.activation, state.time}, f);
  f = -f;
}

}  // namespace pliant::experiments
