#include "pliant/simulation/simulation_batch.hpp"

#include <fmt/format.h>

#include "bindings.hpp"
#include "pliant/base/error.hpp"
#include "simulation.hpp"

namespace pliant::python {

namespace {

using Member = VecX State::*;

/// (states, nodes, 3), a copy.
py::array gather(SimulationBatch& batch, Member member) {
  const auto states = static_cast<py::ssize_t>(batch.size());
  py::array_t<double> all({states, py::ssize_t(batch.nodes()), py::ssize_t(3)});
  for (std::size_t k = 0; k < batch.size(); ++k) {
    const VecX& x = batch.state(k).*member;
    std::copy(x.data(), x.data() + x.size(), all.mutable_data() + static_cast<std::ptrdiff_t>(k) * x.size());
  }
  return all;
}

void scatter(SimulationBatch& batch, Member member, const Doubles& all, const char* what) {
  const bool fits = all.ndim() == 3 && all.shape(0) == py::ssize_t(batch.size()) &&
                    all.shape(1) == py::ssize_t(batch.nodes()) && all.shape(2) == 3;
  if (!fits)
    throw InputError(fmt::format("the {} of this batch have the shape ({}, {}, 3), not {}", what, batch.size(),
                                 batch.nodes(), shape_of(all)));
  for (std::size_t k = 0; k < batch.size(); ++k) {
    VecX& x = batch.state(k).*member;
    std::copy_n(all.data() + static_cast<std::ptrdiff_t>(k) * x.size(), x.size(), x.data());
  }
}

}  // namespace

void bind_batch(py::module_& module) {
  py::class_<SimulationBatch>(module, "Batch")
      .def(py::init([](SharedSimulation& simulation, py::ssize_t count) {
        if (count < 1) throw InputError(fmt::format("a batch has at least one state, not {}", count));
        simulation.refuse_parts("a batch is not stepped");
        return simulation.work(
            [&](Simulation& s) { return std::make_unique<SimulationBatch>(s, static_cast<std::size_t>(count)); });
      }))
      .def("__len__", [](const SimulationBatch& self) { return self.size(); })
      .def_property_readonly("time", [](SimulationBatch& self) { return self.state(0).time; })
      .def_property_readonly("dt", &SimulationBatch::time_step)
      .def("get_positions", [](SimulationBatch& self) { return gather(self, &State::x); })
      .def("get_velocities", [](SimulationBatch& self) { return gather(self, &State::v); })
      .def("set_positions", [](SimulationBatch& self, const Doubles& x) { scatter(self, &State::x, x, "positions"); })
      .def("set_velocities", [](SimulationBatch& self, const Doubles& v) { scatter(self, &State::v, v, "velocities"); })
      .def("step", [](SimulationBatch& self, int steps) {
        std::vector<StepReport> reports;
        {
          const py::gil_scoped_release release;
          reports = self.step(steps);
        }
        py::list list;
        for (std::size_t k = 0; k < reports.size(); ++k) list.append(to_dict(reports[k], self.took(k, reports[k])));
        return list;
      });
}

}  // namespace pliant::python
