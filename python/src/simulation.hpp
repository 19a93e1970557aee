#pragma once

#include <atomic>
#include <memory>

#include "convert.hpp"
#include "energy.hpp"
#include "pliant/energies/assembler.hpp"
#include "pliant/simulation/probe.hpp"
#include "pliant/simulation/simulation.hpp"
#include "pliant/simulation/visual_mesh.hpp"
#include "processes.hpp"

namespace pliant::python {

/// A simulation that Python threads may share: the interpreter's lock is released while it works, and a second call
/// meanwhile is an error, not a race. Where mpirun has started several processes, each has its part of it.
class SharedSimulation {
 public:
  explicit SharedSimulation(const Scene& scene);

  /// Runs body(simulation) without the interpreter's lock.
  template <class Body>
  auto work(Body&& body) {
    const Guard guard(*this);
    const py::gil_scoped_release release;
    return body(*simulation_);
  }

  void rebuild(const Scene& scene);
  /// Lets other calls in for its lifetime, in the middle of work: while a run calls the user's functions.
  class Pause {
   public:
    explicit Pause(SharedSimulation& owner) : owner_(owner) { owner_.busy_ = false; }
    ~Pause() { owner_.busy_ = true; }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    SharedSimulation& owner_;
  };

  const Simulation& simulation() const { return *simulation_; }
  const Model& model() const { return *simulation_->model(); }
  /// This process's part, where there are several; otherwise null.
  Part* part() { return part_.get(); }
  Sharing* sharing() const { return model().sharing(); }
  /// Throws InputError for what is not done, or cannot be had, on several processes.
  void refuse_parts(const char* what) const;
  /// What the scene's probes look at in the present model.
  const ProbeSet& probes();
  /// The assembler of all the present model's energies.
  Assembler& assembler();
  const std::vector<VisualMesh>& visual_meshes();

 private:
  struct Guard {
    explicit Guard(SharedSimulation& owner);
    ~Guard() { owner.busy_ = false; }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    SharedSimulation& owner;
  };

  std::unique_ptr<Part> part_;
  std::unique_ptr<Simulation> alone_;
  Simulation* simulation_;                  ///< one of these two
  std::shared_ptr<const Model> assembled_;  ///< whose energies the assembler has
  std::unique_ptr<Assembler> assembler_;
  std::unique_ptr<ProbeSet> probes_;
  std::shared_ptr<const Model> shown_;  ///< whose visual meshes these are
  std::vector<VisualMesh> visual_;
  std::atomic<bool> busy_ = false;
};

/// Further methods of it, in a file of their own.
void bind_between_steps(py::class_<SharedSimulation>& simulation);

/// `took`: whether the simulation's state has moved on.
py::dict to_dict(const StepReport& report, bool took);

}  // namespace pliant::python
