#pragma once

#include <memory>

#include "pliant/energies/assembler.hpp"
#include "pliant/sim/model.hpp"

namespace pliant::experiments {

/// Energies of a model's states, J.
class EnergyMeter {
 public:
  explicit EnergyMeter(std::shared_ptr<const Model> model);
  double kinetic(const State& state) const;
  double elastic(const State& state);
  /// Elastic and of the external forces, zero at rest without deformation.
  double potential(const State& state);
  double model_mass() const { return model_->mass().lumped().sum(); }  ///< kg
  double total(const State& state) { return kinetic(state) + potential(state); }
  /// What the energies push with, N, without external forces.
  void internal_forces(const State& state, VecX& f);

 private:
  std::shared_ptr<const Model> model_;
  Assembler assembler_;
};

}  // namespace pliant::experiments
