#include <oneapi/tbb/global_control.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>

#include "bindings.hpp"
#include "pliant/base/error.hpp"
#include "pliant/materials/law.hpp"
#include "pliant/math/parallel.hpp"
#include "pliant/scene/scene.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::python {

namespace py = pybind11;

namespace {

py::dict entry_of(const Setting& parameter) {
  py::dict dict;
  dict["key"] = parameter.name;
  dict["default"] = std::visit([](const auto& value) { return py::cast(value); }, default_value(parameter));
  dict["unit"] = parameter.unit;
  dict["summary"] = parameter.summary;
  dict["choices"] = py::tuple(py::cast(parameter.choices));
  dict["least"] = parameter.limits.least;
  dict["greatest"] = parameter.limits.greatest;
  return dict;
}

py::dict entry_of(const SolverSupport& supports) {
  const auto names = [](const std::vector<Integrator>& integrators) {
    py::list list;
    for (Integrator integrator : integrators) list.append(py::cast(std::string(to_string(integrator))));
    return py::tuple(list);
  };
  std::vector<std::string> taken = supports.laws;
  if (taken.empty())
    for (const auto& law : laws()) taken.push_back(law->info().name);
  py::dict dict;
  dict["integrators"] = names(supports.integrators);
  dict["contact"] = names(supports.contact);
  dict["own_contact"] = supports.own_contact;
  dict["colliders"] = supports.colliders;
  dict["friction"] = supports.friction;
  dict["links"] = supports.links;
  dict["cloth"] = supports.cloth;
  dict["fibres"] = supports.fibres;
  dict["highest_order"] = supports.highest_order;
  dict["consistent_mass"] = supports.consistent_mass;
  dict["mass_damping"] = supports.mass_damping;
  dict["stiffness_damping"] = supports.stiffness_damping;
  dict["cuts"] = supports.cuts;
  dict["cuts_in_contact"] = supports.cuts_in_contact;
  dict["grabs"] = supports.grabs;
  dict["gas"] = supports.gas != GasSupport::none;
  dict["energies"] = supports.energies;
  dict["laws"] = py::tuple(py::cast(taken));
  return dict;
}

py::list solvers() {
  py::list list;
  for (const SolverEntry& solver : solver_catalogue()) {
    py::list parameters;
    for (const Setting& parameter : solver.parameters.keys) parameters.append(entry_of(parameter));
    py::dict dict;
    dict["name"] = solver.name;
    dict["paper"] = solver.paper;
    dict["summary"] = solver.summary;
    dict["supports"] = entry_of(solver.supports);
    dict["parameters"] = parameters;
    list.append(dict);
  }
  return list;
}

/// Names, and why a solver cannot run the scene, or None.
py::list solver_fits_of(const Scene& scene) {
  const std::shared_ptr<const Model> model = build_model(scene);
  py::list list;
  for (const SolverFit& fit : solver_fits(scene, *model))
    list.append(py::make_tuple(fit.solver->name, fit.fits() ? py::object(py::none()) : py::cast(fit.reason())));
  return list;
}

py::list law_list() {
  py::list list;
  for (const auto& law : laws()) {
    const LawInfo& info = law->info();
    py::dict dict;
    dict["name"] = info.name;
    dict["summary"] = info.summary;
    dict["formula"] = info.formula;
    dict["reference"] = info.reference;
    dict["survives_inversion"] = info.survives_inversion;
    list.append(dict);
  }
  return list;
}

/// The number of threads is the process's, as it is the machine's; nothing else in the module is global.
std::unique_ptr<tbb::global_control>& thread_limit() {
  static std::unique_ptr<tbb::global_control> limit;
  return limit;
}

void set_threads(py::ssize_t count) {
  if (count < 0) throw InputError("the number of threads must be at least 1, or 0 for all cores");
  thread_limit().reset();
  if (count > 0)
    thread_limit() = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                           static_cast<std::size_t>(count));
}

}  // namespace

void bind_catalogues(py::module_& module) {
  find_cores();
  module.def("solvers", &solvers);
  module.def("solver_fits", &solver_fits_of, py::arg("scene"));
  module.def("laws", &law_list);
  module.def(
      "set_threads", &set_threads, py::arg("count"),
      "Limits the threads that all simulations of the process use; 0 for all cores. Results do not depend on it.");
  module.def(
      "threads", [] { return tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism); },
      "How many threads are used.");
  module.def("scene_documentation", &scene_documentation);
  module.def("solver_documentation", &solver_documentation);
}

}  // namespace pliant::python
