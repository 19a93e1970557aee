#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pliant/math/types.hpp"
#include "pliant/mesh/triangle_mesh.hpp"
#include "pliant/settings/value.hpp"

namespace pliant::python {

namespace py = pybind11;

/// `object` as an array of booleans, whole numbers or floats. Throws InputError for text, complex numbers and objects,
/// which numpy would turn into numbers or refuse in words of its own. `what` begins the message.
py::array to_numbers(const py::handle& object, const std::string& what);

/// Input arrays of real numbers of any type and memory layout; copied only when they have to be.
class Doubles : public py::array_t<double, py::array::c_style | py::array::forcecast> {
 public:
  using Base = py::array_t<double, py::array::c_style | py::array::forcecast>;
  Doubles() = default;
  Doubles(const py::array_t<double>& numbers) : Base(numbers) {}  // NOLINT: it is one
  /// Throws InputError as to_numbers() does.
  static Doubles from(const py::handle& object, const std::string& what) {
    Doubles made;
    static_cast<Base&>(made) = Base(to_numbers(object, what));
    return made;
  }
};
using Indices = py::array_t<Index, py::array::c_style | py::array::forcecast>;

/// A Python object as a value of a scene: bool, int, float, str, os.PathLike, numpy scalars and arrays, lists, tuples
/// and dicts of those. Entries that are None are left out. Throws InputError naming `origin`.
Value to_value(const py::handle& object, const std::string& origin);
py::object to_python(const Value& value);

/// "(3, 4)", for messages.
std::string shape_of(const py::array& array);

/// An array over the memory of `owner`, which it keeps alive.
template <class T>
py::array view(const T* data, std::vector<py::ssize_t> shape, const py::handle& owner, bool writable) {
  py::array array(py::dtype::of<T>(), std::move(shape), data, owner);
  if (!writable) py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

/// An array that takes over a vector.
template <class Vector>
py::array take(Vector&& vector, std::vector<py::ssize_t> shape) {
  using Owned = std::remove_cvref_t<Vector>;
  auto owned = std::make_unique<Owned>(std::forward<Vector>(vector));
  auto* data = owned->data();
  const py::capsule owner(owned.release(), [](void* p) { delete static_cast<Owned*>(p); });
  return py::array(py::dtype::of<std::remove_cvref_t<decltype(*data)>>(), std::move(shape), data, owner);
}

/// Whole numbers of any integer type, flattened. An array of floats is an error: it is mostly a mistake.
std::vector<Index> to_indices(const py::handle& object, const std::string& what);
/// The same for vertices: a mask of `count` truth values, or numbers from 0 to count - 1.
std::vector<Index> to_vertices(const py::handle& object, Index count, const std::string& what);
/// Three numbers.
Vec3 to_vec3(const py::handle& object, const std::string& what);
/// Rows of three numbers. Throws InputError naming `what`.
std::vector<Vec3> to_points(const Doubles& array, const std::string& what);
/// (n, 3) vertices and (k, 3) triangles. Throws InputError naming `what`.
TriangleMesh to_surface(const py::handle& vertices, const py::handle& triangles, const std::string& what);

}  // namespace pliant::python

/// Arguments of bound functions.
template <>
struct pybind11::detail::type_caster<pliant::python::Doubles> {
  PYBIND11_TYPE_CASTER(pliant::python::Doubles, const_name("numpy.ndarray[numpy.float64]"));
  bool load(handle source, bool /*convert*/) {
    value = pliant::python::Doubles::from(source, "an argument");
    return true;
  }
  static handle cast(const pliant::python::Doubles& array, return_value_policy /*policy*/, handle /*parent*/) {
    return array.inc_ref();
  }
};
