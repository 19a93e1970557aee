#pragma once

#include <functional>
#include <memory>

#include "pliant/distributed/process_sharing.hpp"
#include "pliant/simulation/simulation.hpp"

namespace pliant {

struct DivisionOptions {
  /// Scenes of generated boxes with at least so many elements are made in parts, which no process ever has all of.
  /// Their checkpoints go on under mpirun alone, with any number of processes.
  double elements_made_in_parts = 1e6;
};

/// How long a scene took to divide, s, as the first process saw it.
struct DivisionSeconds {
  double reading = 0;   ///< reading and checking the scene, with its whole model where there is one
  double dividing = 0;  ///< METIS, taking the model apart and sending the parts
  double building = 0;  ///< the model of the own part, and the matrix over all
};

/// A simulation of which every process has a part. Steps, snapshots and all else that speaks of the whole are taken by
/// all processes together.
class DistributedSimulation {
 public:
  /// The first process reads and checks the scene, divides it and sends the parts. Throws InputError on the first and
  /// Elsewhere on the others for what cannot be divided or is wrong.
  DistributedSimulation(Team& team, const std::function<Scene()>& load, const DivisionOptions& options = {});

  Simulation& simulation() { return *simulation_; }
  ProcessSharing& sharing() { return *sharing_; }
  Index all_nodes() const { return sharing_->all_nodes(); }
  const DivisionSeconds& seconds() const { return seconds_; }
  bool was_made_in_parts() const { return was_made_in_parts_; }
  /// Of all processes, on the first.
  std::vector<ProcessWork> work() { return sharing_->work(*simulation_->model()); }

 private:
  ModelPart divide(Team& team, const Scene& scene, const DivisionOptions& options, Fingerprint& fingerprint);

  std::shared_ptr<ProcessSharing> sharing_;
  std::unique_ptr<Simulation> simulation_;
  DivisionSeconds seconds_;
  bool was_made_in_parts_ = false;
};

}  // namespace pliant
