#pragma once

#include <memory>
#include <vector>

#include "pliant/simulation/built_scene.hpp"
#include "pliant/simulation/snapshot.hpp"

namespace pliant {

/// Where the surface of a cut is given: with the body at rest, or as it is now.
enum class CutPlace { rest, now };

/// A scene that runs: its model, its stepper and a state, held together for whoever embeds the library. The command
/// line, the viewer and the Python module step this and nothing else. A scene with cuts changes its model as it goes
/// on.
class Simulation {
 public:
  /// Builds the model and begins at its rest state. Throws InputError as build_model and make_stepper do, and for cuts
  /// that could not be made.
  explicit Simulation(Scene scene);
  /// The same for a scene that is built already, whose model may be shared.
  explicit Simulation(BuiltScene built);

  /// Goes on with another scene: nodes of bodies that have the same name and as many nodes as before keep positions and
  /// velocities, other bodies begin as their scene says, time goes on. On an exception nothing has changed. After cuts
  /// of the scene, begin with built().scene, in which bodies have their cut meshes: throws InputError for a scene that
  /// would make them again.
  void rebuild(Scene scene);
  /// Cuts a body now, beyond what the scene says. Returns for each node of the new model the one it was or is a copy
  /// of. scene() then has the cut mesh, and is what snapshots belong to. Throws InputError as make_cut does.
  std::vector<Index> cut(const SceneCut& cut, CutPlace place = CutPlace::rest);
  void set_time_step(double seconds);

  /// Simulations that go on from the present state of this one, which stays as it is: with another scene, as rebuild()
  /// does; under another solver; after a cut that the scene does not name. Their steppers remember nothing of earlier
  /// steps, and the scene they were given, for snapshots, is their own.
  Simulation with_scene(BuiltScene built) const;
  Simulation with_solver(SceneSolver solver) const;
  Simulation after_cut(const CutScene& cut) const;

  /// As it is after the cuts made so far.
  const Scene& scene() const { return scene_; }
  const std::shared_ptr<const Model>& model() const { return model_; }
  const std::vector<Hold>& holds() const { return holds_; }
  /// All three, with the cuts that are still to come.
  BuiltScene built() const;
  /// As it was before the cuts of the scene.
  const BuiltScene& given() const { return given_; }
  /// To be read and written between steps. The object and its arrays stay where they are in memory, whatever is stepped
  /// or loaded; only a cut, the way back over one, or a rebuild that changes the number of nodes makes a new one.
  const std::shared_ptr<State>& state() const { return state_; }
  /// For what it reports about the last step, and its memory.
  const Stepper& stepper() const { return *stepper_; }
  Stepper& stepper() { return *stepper_; }
  /// Copies positions, velocities, time and activations; what the stepper keeps from step to step stays as it is, so
  /// that only snapshots go on with the same bits. With cuts in the scene, the model becomes that of the state's time:
  /// a cut due just then has been made if the state has as many nodes. Throws InputError when it has another number of
  /// nodes or muscles; nothing has changed then.
  void set_state(const State& state);

  /// Makes the cuts of the scene that are due before the next step: another model, another state object, another
  /// stepper. Returns for each node of the new model the one it was or is a copy of; nothing when no cut was due.
  /// step() does it, too; who keeps something by node number asks before.
  std::vector<Index> make_due_cuts();
  /// How many of the scene's cuts have been made.
  std::size_t cuts_made() const { return cuts_made_; }

  /// Advances the state by the scene's time step. A step that has not converged leaves the state as it was, unless the
  /// scene says to proceed and there is a last iterate. A control lets others end a step that takes too long: as if it
  /// had not begun. After such a step, and after one that ran out of memory, the next is taken by a new stepper, which
  /// remembers nothing of earlier steps: as accurate, though its bits may differ.
  StepReport step(StepControl* control = nullptr);
  /// Whether step() has taken the step of this report.
  bool took(const StepReport& report) const {
    return report.succeeded() || (report.advanced() && scene_.solver.on_failure == OnFailure::proceed);
  }

  /// What the last step left unbalanced, N, over all nodes: the gradient of its incremental potential, zero where
  /// positions are prescribed. Its norm is the force residual in the step's report. Throws InputError before the first
  /// step, and after a cut or a restore before the next one.
  const VecX& unbalanced_forces() const;

  /// Makes this a part of a larger simulation, with the fingerprint of that: the model is one (Model::sharing). All
  /// processes then call the same functions in the same order, and snapshots are of the whole, on the first.
  void become_part(const Fingerprint& whole) { fingerprint_ = whole; }
  /// The fingerprint of the scene as it was given.
  const Fingerprint& fingerprint() const { return fingerprint_; }
  /// Everything the steps to come depend on, and back, also to before or after a cut: they then have the same bits.
  /// Throws InputError for a snapshot of another scene; nothing has changed then.
  Snapshot snapshot() const;
  void restore(const Snapshot& snapshot);
  /// Becomes the simulation of another scene, as that snapshot of it was: the way back over a cut() that the scene does
  /// not name, and forward again, for whoever kept the scene. Driven positions are at rest then, as after rebuild().
  void restore(const Snapshot& snapshot, Scene scene);

 private:
  std::vector<Index> make_next_cut();
  Simulation uncut() const;
  void replace_spoilt_stepper();
  void restore_here(const Snapshot& snapshot);

  Scene scene_;
  std::vector<Hold> holds_;
  std::shared_ptr<const Model> model_;
  std::unique_ptr<Stepper> stepper_;
  std::shared_ptr<State> state_;
  BuiltScene given_;           ///< the scene as it was given, before any cut
  Fingerprint fingerprint_;    ///< of it
  std::size_t cuts_made_ = 0;  ///< of its cuts
  State next_;                 ///< what the stepper works on
  bool has_stepped_ = false;   ///< since the stepper was made or restored
};

}  // namespace pliant
