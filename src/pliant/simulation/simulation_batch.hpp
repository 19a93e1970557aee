#pragma once

#include <vector>

#include "pliant/simulation/simulation.hpp"

namespace pliant {

/// Many states of one model, stepped side by side: a thread takes one state at a time and steps it alone. Small bodies
/// leave little to share within a step; this way every thread has a whole one. Each state has a stepper of its own, and
/// goes on with the bits that a simulation alone would have.
class SimulationBatch {
 public:
  /// As many copies of a simulation where it is now. Throws InputError for none, and for scenes with cuts to come,
  /// after which they would no longer be of one model.
  SimulationBatch(const Simulation& from, std::size_t count);

  std::size_t size() const { return simulations_.size(); }
  Index nodes() const { return simulations_.front().model()->nodes(); }
  double time_step() const { return simulations_.front().scene().dt; }
  const Simulation& simulation(std::size_t k) const { return simulations_[k]; }
  /// To be read and written between steps.
  State& state(std::size_t k) { return *simulations_[k].state(); }

  /// `steps` steps of every state, or until one of its fails; returns its last report.
  std::vector<StepReport> step(int steps = 1);
  /// Whether the k-th state took the step of its report.
  bool took(std::size_t k, const StepReport& report) const { return simulations_[k].took(report); }

 private:
  std::vector<Simulation> simulations_;
};

}  // namespace pliant
