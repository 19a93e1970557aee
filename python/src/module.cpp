// The native part of the Python package: thin, untyped where Python is better at it. What people call is in
// python/pliant, which documents it; this module gives it arrays, dicts and exceptions.
#include <pybind11/pybind11.h>

#include <system_error>

#include "bindings.hpp"
#include "pliant/base/error.hpp"
#include "pliant/io/build_info.hpp"
#include "processes.hpp"

namespace py = pybind11;

void pliant::python::bind_all(py::module_& module) {
  module.doc() = "Native part of pliant; use the package `pliant`.";
  module.attr("__version__") = pliant::version();
  module.attr("__commit__") = pliant::commit();
  const py::object input_error = py::register_exception<pliant::InputError>(module, "InputError", PyExc_ValueError);
  input_error.attr("__doc__") = "Bad input: the message names the place (file or code, with its line) and the remedy.";
  // Results that cannot be written: an OSError with its number, as open() would raise.
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const std::system_error& error) {
      const py::object arguments = py::make_tuple(error.code().value(), error.what());
      PyErr_SetObject(PyExc_OSError, arguments.ptr());
    }
  });
  pliant::python::bind_catalogues(module);
  pliant::python::bind_mesh(module);
  pliant::python::bind_material(module);
  pliant::python::bind_energy(module);
  pliant::python::bind_contact(module);
  pliant::python::bind_scene(module);
  pliant::python::bind_simulation(module);
  pliant::python::bind_batch(module);
  pliant::python::bind_gradient(module);
  pliant::python::bind_run(module);
  pliant::python::bind_study(module);
  pliant::python::bind_linalg(module);
  // Where people find them.
  for (const char* name : {"InputError", "TetMesh", "State"}) module.attr(name).attr("__module__") = "pliant";
}
