#pragma once

#include <functional>
#include <memory>
#include <string>

#include "pliant/io/run.hpp"

namespace pliant::app {

/// The processes that mpirun has started to run one scene together (docs/scale.md). Only `pliant-mpi` has any.
class Processes {
 public:
  /// Null outside of mpirun. Where `pliant` was started by it, `pliant-mpi` goes on in its place; throws InputError
  /// where there is none. `options` are PETSc's.
  static std::unique_ptr<Processes> join(const std::string& options);
  virtual ~Processes() = default;
  virtual bool is_first() const = 0;
  /// Of each process: the cores it may use, divided among those on the same machine.
  virtual int threads() const = 0;
  /// This process's part of the scene, for all to run together. Throws InputError on the first process for scenes that
  /// are not for several, and Elsewhere on the others.
  virtual Simulation& simulate(const std::function<Scene()>& load) = 0;
  /// What each process has and has done; all call it together.
  virtual std::vector<ProcessFigures> figures() = 0;
  /// For people, once there is a simulation: how it is divided and what that took.
  virtual std::string describe() const = 0;
  /// Ends all of them, in the middle of whatever they do: for what happened to one alone.
  [[noreturn]] virtual void abort(const char* why) = 0;
};

}  // namespace pliant::app
