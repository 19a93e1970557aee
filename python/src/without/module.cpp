// The module for a process that works alone.
#include "../processes.hpp"

namespace pliant::python {

std::unique_ptr<Part> Part::of(const Scene& /*scene*/) { return nullptr; }

}  // namespace pliant::python

PYBIND11_MODULE(_pliant, module) {
  pliant::python::bind_all(module);
  module.def(
      "rank", [] { return 0; }, "The number of this process among those that mpirun has started, from 0.");
  module.def(
      "processes", [] { return 1; }, "How many processes mpirun has started; 1 without it.");
}
