#pragma once

#include "pliant/distributed/distributed_newton.hpp"
#include "pliant/simulation/simulation.hpp"

namespace pliant {

/// The options of the scene's solver. Throws InputError for solvers that do not run on several processes.
NewtonOptions distributed_options(const Simulation& simulation);

/// Steps of the whole model, on the first process: each is minimised by all of them. What a step is besides, from the
/// check of where it begins to the judgement of where it ends, is the same as on one machine.
///
/// While it lives, the other processes serve() it.
class DistributedStepper final : public Stepper {
 public:
  DistributedStepper(std::shared_ptr<const Model> model, DistributedNewton& newton, const NewtonOptions& options);
  /// Sends the others home.
  ~DistributedStepper() override;

  std::string_view name() const override { return "distributed newton"; }
  /// Asked to end, as by Stepper::step; the control given there does not reach the other processes.
  void set_control(const StepControl* control) { control_ = control; }
  /// What each process has done so far.
  std::vector<ProcessWork> work();

 protected:
  void advance(Solution& solution, StepReport& report) override;

 private:
  DistributedNewton& newton_;
  ConvergenceTest criterion_;
  const StepControl* control_ = nullptr;
};

/// What all but the first process do: what it tells them to, until it is done.
void serve(DistributedNewton& newton);

/// A step of the simulation by the stepper, as Simulation::step takes it.
StepReport step(Simulation& simulation, DistributedStepper& stepper);

}  // namespace pliant
