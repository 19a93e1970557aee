// The module for processes that mpirun has started, with PETSc, whose licence may be another:
// python/pliant/_processes.py takes it in place of _pliant.
#include <petscsys.h>

#include <optional>

#include "../processes.hpp"
#include "pliant/distributed/distributed_simulation.hpp"
#include "pliant/distributed/petsc_session.hpp"

namespace pliant::python {

namespace {

namespace py = pybind11;

/// From join() to leave().
struct All {
  PetscSession session;
  Team team{PETSC_COMM_WORLD};
};

std::optional<All>& all() {
  static std::optional<All> processes;
  return processes;
}

class DistributedPart final : public Part {
 public:
  explicit DistributedPart(const Scene& scene) : all_(all()->team, [&] { return scene; }) {}
  Simulation& simulation() override { return all_.simulation(); }
  std::vector<ProcessFigures> figures() override {
    std::vector<ProcessFigures> list;
    for (const ProcessWork& work : all_.work()) list.push_back(pliant::figures(work));
    return list;
  }

 private:
  DistributedSimulation all_;
};

}  // namespace

std::unique_ptr<Part> Part::of(const Scene& scene) {
  if (!all() || all()->team.size() == 1) return nullptr;
  return std::make_unique<DistributedPart>(scene);
}

}  // namespace pliant::python

PYBIND11_MODULE(_pliant_mpi, module) {
  namespace py = pybind11;
  using pliant::python::all;
  // What is pickled here can be read by a process that works alone.
  const py::object name = module.attr("__name__");
  module.attr("__name__") = "pliant._pliant";
  pliant::python::bind_all(module);
  module.attr("__name__") = name;
  // Caught where the first process has thrown what is wrong: here there is nothing more to say.
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const pliant::Elsewhere&) {
      const py::object error = py::module_::import("pliant").attr("InputError");
      PyErr_SetString(error.ptr(), "the first process says what is wrong");
    }
  });
  module.def("join", [] {
    if (!all()) all().emplace();
    return all()->team.threads();
  });
  module.def("leave", [] { all().reset(); });
  module.def("abort", [] { MPI_Abort(MPI_COMM_WORLD, 1); });
  module.def(
      "rank", [] { return all() ? all()->team.rank() : 0; },
      "The number of this process among those that mpirun has started, from 0.");
  module.def(
      "processes", [] { return all() ? all()->team.size() : 1; },
      "How many processes mpirun has started; 1 without it.");
}
