#pragma once

#include <filesystem>
#include <memory>

#include "pliant/io/fingerprint.hpp"
#include "pliant/solvers/incremental_potential.hpp"

namespace pliant {

/// A scene that runs: its model, its stepper and a state, held together for whoever embeds the library. The command
/// line and the Python module step this and nothing else.
class Simulation {
 public:
  /// Builds the model and begins at its rest state. Throws InputError as build_model and make_stepper do.
  explicit Simulation(Scene scene);

  /// Goes on with another scene: nodes of bodies that have the same name and as many nodes as before keep positions and
  /// velocities, other bodies begin as their scene says, time goes on. On an exception nothing has changed.
  void rebuild(Scene scene);

  const Scene& scene() const { return scene_; }
  const std::shared_ptr<const Model>& model() const { return model_; }
  /// To be read and written between steps. The object and its arrays stay where they are in memory, whatever is stepped
  /// or loaded; only a rebuild that changes the number of nodes makes a new one.
  const std::shared_ptr<State>& state() const { return state_; }
  /// For what it has to tell of the last step, and its memory.
  const Stepper& stepper() const { return *stepper_; }
  Stepper& stepper() { return *stepper_; }
  /// Copies a state of the same model. Throws InputError when it has another number of nodes.
  void set_state(const State& state);

  /// Advances the state by the scene's time step. A step that has not converged leaves the state as it was, unless the
  /// scene says to proceed and there is a last iterate.
  StepReport step();
  /// Whether step() has taken the step of this report.
  bool took(const StepReport& report) const {
    return report.succeeded() || (report.advanced() && scene_.solver.on_failure == OnFailure::proceed);
  }

  /// Gradient of the last step's incremental potential at the present positions, N, over all nodes: what is left
  /// unbalanced, zero where positions are prescribed. Its norm is the force residual in the step's report. Throws
  /// InputError before the first step.
  VecX unbalanced_forces();

  /// A checkpoint as the command line writes them; load refuses one of another scene.
  void save(const std::filesystem::path& file) const;
  void load(const std::filesystem::path& file);

 private:
  Scene scene_;
  std::shared_ptr<const Model> model_;
  std::unique_ptr<Stepper> stepper_;
  std::shared_ptr<State> state_;
  State next_;                                       ///< what the stepper works on
  State before_;                                     ///< where the last step began; empty before the first
  std::unique_ptr<IncrementalPotential> potential_;  ///< for unbalanced_forces, when first asked for
};

}  // namespace pliant
