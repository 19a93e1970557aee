#include "pliant/distributed/distributed_stepper.hpp"

#include <fmt/format.h>

#include "pliant/base/error.hpp"
#include "pliant/solvers/newton/newton_stepper.hpp"

namespace pliant {

namespace {

enum class Command { step, report_work, end };

Command command(Team& team, Command from_first) {
  auto value = static_cast<double>(from_first);
  team.broadcast({&value, 1});
  return static_cast<Command>(static_cast<int>(value));
}

}  // namespace

NewtonOptions distributed_options(const Simulation& simulation) {
  const auto* newton = dynamic_cast<const NewtonStepper*>(&simulation.stepper());
  if (!newton)
    throw InputError(
        fmt::format("solver '{}' does not run on several processes; use --solver pod-newton (or newton, "
                    "projected-newton, kinetic-newton), or run it on one machine, without mpirun",
                    simulation.scene().solver.name));
  if (!simulation.scene().cuts.empty())
    throw InputError("cuts are not made on several processes; run the scene on one machine, without mpirun");
  for (const SceneProbe& probe : simulation.scene().probes)
    for (const ProbeQuantity quantity : probe.quantities)
      if (quantity == ProbeQuantity::reaction || quantity == ProbeQuantity::contact_force)
        throw InputError(
            fmt::format("probe '{}' records forces of supports, which several processes do not collect; "
                        "leave them out, or run the scene on one machine, without mpirun",
                        probe.name));
  return newton->options();
}

DistributedStepper::DistributedStepper(std::shared_ptr<const Model> model, DistributedNewton& newton,
                                       const NewtonOptions& options)
    : Stepper(std::move(model), {options.integrator}), newton_(newton), criterion_(this->model(), options.criterion) {}

DistributedStepper::~DistributedStepper() { command(newton_.team(), Command::end); }

void DistributedStepper::advance(Solution& solution, StepReport& report) {
  const StepControl::Scope nobody(nullptr);  // a loop that ended here alone would leave the others waiting
  criterion_.begin_step(problem());
  const StepProblem& p = problem();
  const State state{p.x_n, p.v_n, p.start, p.steps_before, p.start_activation};
  const DistributedNewton::Start start{state, p.external_force, p.time_step, &criterion_, control_};
  command(newton_.team(), Command::step);
  newton_.minimise(&start, report);
  newton_.collect(&solution.x, &solution.gradient);
  solution.energy = newton_.energy();
  solution.is_measured = true;
}

std::vector<ProcessWork> DistributedStepper::work() {
  command(newton_.team(), Command::report_work);
  return newton_.work();
}

void serve(DistributedNewton& newton) {
  for (;;) {
    switch (command(newton.team(), Command::end)) {
      case Command::step: {
        StepReport report;
        try {
          newton.minimise(nullptr, report);
          newton.collect(nullptr, nullptr);
        } catch (const Interrupted&) {  // and so has the first
        }
        break;
      }
      case Command::report_work:
        newton.work();
        break;
      case Command::end:
        return;
    }
  }
}

StepReport step(Simulation& simulation, DistributedStepper& stepper) {
  State next = *simulation.state();
  const StepReport report = stepper.step(next, simulation.scene().dt);
  if (simulation.took(report)) *simulation.state() = next;
  return report;
}

}  // namespace pliant
