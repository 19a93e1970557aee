#pragma once

#include "pliant/distributed/petsc_system.hpp"
#include "pliant/solvers/newton/newton_minimiser.hpp"

namespace pliant {

/// What a process has and has done, for the summary of a run.
struct ProcessWork {
  double nodes = 0, shared_nodes = 0, elements = 0, neighbours = 0;
  double evaluation_seconds = 0;  ///< in its own share of energies, gradients and Hessians
  double messages = 0, bytes = 0, reductions = 0;
};

/// Newton's loop over a model that is spread over processes: all of them call the same functions in the same order, and
/// every decision is made from sums and maxima over all of them, or by the first.
///
/// The loop is one of its own, since that of one machine (NewtonMinimiser) also moves obstacles in contact and turns
/// bodies along curves, which are not divided among processes.
class DistributedNewton {
 public:
  /// Throws InputError for models and options that are not for several processes.
  DistributedNewton(Team& team, const Model& whole, const NewtonOptions& options);

  /// What a step begins with, over the whole model, on the first process; null on the others.
  struct Start {
    const State& state;
    const VecX& force;  ///< what does not depend on the positions, N
    double time_step = 0;
    ConvergenceTest* criterion = nullptr;
    const StepControl* control = nullptr;
  };
  /// Minimises the potential of one step. All get the same report. Throws Interrupted, everywhere, where the first is
  /// asked to end.
  void minimise(const Start* start, StepReport& report);
  /// Where that has led, over the whole model, on the first process; null on the others.
  void collect(VecX* x, VecX* gradient);
  double energy() const { return current_.energy; }
  /// Of all processes, on the first.
  std::vector<ProcessWork> work();

  Team& team() { return team_; }
  const LocalModel& local() const { return local_; }

 private:
  void begin_step(const Start* start, StepReport& report);
  bool find_start(StepReport& report);
  void find_better_start();
  void iterate(StepReport& report);
  bool find_direction(StepReport& report);
  FactorStatus compute_direction(StepReport& report);
  LineSearchResult search(StepReport& report);
  void evaluate(Iterate& there);
  void measure(StepReport& report);
  void end(StepReport& report, Outcome outcome, std::string detail);

  Team& team_;
  NewtonOptions options_;
  LocalModel local_;
  SharedNodes nodes_;
  IncrementalPotential potential_;
  PetscSystem system_;
  VecX mass_;                               ///< of each node with all its elements, as the criterion takes it, kg
  VecX force_;                              ///< what does not depend on the positions, on owned nodes, N
  std::vector<int> counts_, owned_counts_;  ///< of nodes, by process; on the first
  std::vector<Index> order_, owned_order_;  ///< their nodes in the whole model, process by process
  const Start* start_ = nullptr;
  StagnationTest stagnation_;
  Iterate current_, trial_;
  VecX dx_;
  double norm_ = 0;  ///< of the gradient, N
  double evaluation_seconds_ = 0;
  // How the next direction is made (pitfalls, Algorithms 1 and 2).
  bool projects_ = false, projected_ = false;
  int countdown_ = 0;
  double beta_ = 1;
};

}  // namespace pliant
