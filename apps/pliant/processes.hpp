#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "pliant/io/run.hpp"

namespace pliant::app {

/// The processes that mpirun has started to run one scene together (docs/scale.md). Only a build with PETSc has any.
class Processes {
 public:
  /// Null outside of mpirun. Throws InputError where this build cannot run under it. `options` are PETSc's.
  static std::unique_ptr<Processes> join(const std::string& options);
  virtual ~Processes() = default;
  virtual bool is_first() const = 0;
  /// On all but the first: waits until that has read and checked the scene, loads it, too, keeps its part of the model
  /// and works until the first is done.
  virtual void serve(const std::function<Scene()>& load) = 0;
  /// On the first: divides the model and lets all take the steps of the run. Throws InputError for scenes that are not
  /// for several processes.
  virtual void begin(Simulation& simulation, RunOptions& options) = 0;
  /// On the first: sends the others home. What each has done is left as processes.json in the folder of the results.
  virtual void finish(const std::filesystem::path& folder) = 0;
};

}  // namespace pliant::app
