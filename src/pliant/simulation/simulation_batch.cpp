#include "pliant/simulation/simulation_batch.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include "pliant/base/error.hpp"

namespace pliant {

SimulationBatch::SimulationBatch(const Simulation& from, std::size_t count) {
  if (count == 0) throw InputError("a batch has at least one state");
  const BuiltScene built = from.built();
  if (!built.scene.cuts.empty())
    throw InputError(fmt::format("cut '{}' is still to come: the states of a batch are all of one model",
                                 built.scene.cuts.front().name));
  simulations_.reserve(count);
  const std::vector<double> memory = from.stepper().is_spoilt() ? std::vector<double>() : from.stepper().memory();
  for (std::size_t k = 0; k < count; ++k) {
    Simulation& copy = simulations_.emplace_back(built);
    *copy.state() = *from.state();
    copy.stepper().recall(memory);
  }
}

std::vector<StepReport> SimulationBatch::step(int steps) {
  std::vector<StepReport> reports(size());
  tbb::parallel_for(std::size_t{0}, size(), [&](std::size_t k) {
    // What a step shares out, it shares with itself alone: nobody waits within a step.
    tbb::task_arena alone(1);
    alone.execute([&] {
      for (int step = 0; step < steps; ++step) {
        reports[k] = simulations_[k].step();
        if (!simulations_[k].took(reports[k])) return;
      }
    });
  });
  return reports;
}

}  // namespace pliant
