#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>  // in every file: one that converts a list in another way would break the others

namespace pliant::python {

/// One per file of this folder; called once, in this order, when the module is imported.
void bind_catalogues(pybind11::module_& module);
void bind_mesh(pybind11::module_& module);
void bind_material(pybind11::module_& module);
void bind_energy(pybind11::module_& module);
void bind_contact(pybind11::module_& module);
void bind_scene(pybind11::module_& module);
void bind_simulation(pybind11::module_& module);
void bind_batch(pybind11::module_& module);
void bind_gradient(pybind11::module_& module);
void bind_run(pybind11::module_& module);
void bind_study(pybind11::module_& module);
void bind_linalg(pybind11::module_& module);

}  // namespace pliant::python
