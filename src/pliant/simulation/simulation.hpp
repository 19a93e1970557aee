#pragma once

#include <memory>
#include <vector>

#include "pliant/simulation/fingerprint.hpp"

namespace pliant {

/// What a simulation can go on from as if nothing had happened: where it is, and what its stepper keeps from step to
/// step (Stepper::memory). The state alone is not enough for methods that keep a matrix.
struct Snapshot {
  Fingerprint fingerprint;  ///< of the scene
  State state;
  std::vector<double> memory;
};

/// A scene that runs: its model, its stepper and a state, held together for whoever embeds the library. The command
/// line and the Python module step this and nothing else. A scene with cuts changes its model as it goes on.
class Simulation {
 public:
  /// Builds the model and begins at its rest state. Throws InputError as build_model and make_stepper do.
  explicit Simulation(Scene scene);

  /// Goes on with another scene: nodes of bodies that have the same name and as many nodes as before keep positions and
  /// velocities, other bodies begin as their scene says, time goes on. On an exception nothing has changed. Throws
  /// InputError when bodies have been cut already.
  void rebuild(Scene scene);

  /// As it is after the cuts made so far.
  const Scene& scene() const { return scene_; }
  const std::shared_ptr<const Model>& model() const { return model_; }
  /// To be read and written between steps. The object and its arrays stay where they are in memory, whatever is stepped
  /// or loaded; only a rebuild that changes the number of nodes makes a new one.
  const std::shared_ptr<State>& state() const { return state_; }
  /// For what it has to tell of the last step, and its memory.
  const Stepper& stepper() const { return *stepper_; }
  Stepper& stepper() { return *stepper_; }
  /// Copies a state of the same model; of a scene with cuts, of the model as it is at the state's time. Throws
  /// InputError when it has another number of nodes.
  void set_state(const State& state);

  /// Makes the cuts of the scene that are due before the next step: another model, another state object, another
  /// stepper. Returns for each node of the new model the one it was or is a copy of; nothing when no cut was due.
  /// step() does it, too; who keeps something by node number asks before.
  std::vector<Index> make_due_cuts();

  /// Advances the state by the scene's time step. A step that has not converged leaves the state as it was, unless the
  /// scene says to proceed and there is a last iterate.
  StepReport step();
  /// Whether step() has taken the step of this report.
  bool took(const StepReport& report) const {
    return report.succeeded() || (report.advanced() && scene_.solver.on_failure == OnFailure::proceed);
  }

  /// What the last step left unbalanced, N, over all nodes: the gradient of its incremental potential, zero where positions
  /// are prescribed. Its norm is the force residual in the step's report. Throws InputError before the first step.
  const VecX& unbalanced_forces() const;

  /// Of the scene as it was given.
  const Fingerprint& fingerprint() const { return fingerprint_; }
  /// Everything the steps to come depend on, and back: they then have the same bits. Throws InputError for a snapshot
  /// of another scene.
  Snapshot snapshot() const;
  void restore(const Snapshot& snapshot);

 private:
  std::vector<Index> make_next_cut();
  void begin_uncut();

  Scene scene_;
  std::shared_ptr<const Model> model_;
  std::unique_ptr<Stepper> stepper_;
  std::shared_ptr<State> state_;
  Scene uncut_;                                      ///< the scene as given
  Fingerprint fingerprint_;                          ///< of it
  std::size_t cuts_made_ = 0;                        ///< of its cuts
  State next_;                                       ///< what the stepper works on
};

}  // namespace pliant
