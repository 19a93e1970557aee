#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "pliant/io/run.hpp"

namespace pliant::python {

/// This process's part of a simulation that several share (docs/scale.md). Only the module `_pliant_mpi` has any, which
/// is the same as `_pliant` but for PETSc.
class Part {
 public:
  /// Null where this process is not one of several. All of them call it together.
  static std::unique_ptr<Part> of(const Scene& scene);
  virtual ~Part() = default;
  virtual Simulation& simulation() = 0;
  /// What each process has and has done; all call it together.
  virtual std::vector<ProcessFigures> figures() = 0;
};

/// All of the module but what it says of processes.
void bind_all(pybind11::module_& module);

}  // namespace pliant::python
