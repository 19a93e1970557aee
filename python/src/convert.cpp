#include "convert.hpp"

#include <fmt/format.h>

#include <limits>

#include "pliant/base/error.hpp"

namespace pliant::python {

namespace {

constexpr int kDeepest = 32;  ///< lists in lists; one that holds itself has no end

Value convert(const py::handle& object, const std::string& origin, int depth);

Value::List to_list(const py::handle& sequence, const std::string& origin, int depth) {
  Value::List list;
  for (const py::handle item : sequence) list.push_back(convert(item, origin, depth + 1));
  return list;
}

Value::Table to_table(const py::dict& dict, const std::string& origin, int depth) {
  Value::Table table;
  for (const auto& [key, item] : dict)
    if (!item.is_none()) table.push_back({py::str(key).cast<std::string>(), origin, convert(item, origin, depth + 1)});
  return table;
}

std::int64_t to_integer(const py::handle& object, const std::string& origin) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0)
    throw InputError(fmt::format("{}: {} is too large a whole number", origin, py::str(object).cast<std::string>()));
  return value;
}

Value convert(const py::handle& object, const std::string& origin, int depth) {
  if (depth > kDeepest)
    throw InputError(fmt::format("{}: lists and dicts are nested more than {} deep", origin, kDeepest));
  if (PyBool_Check(object.ptr())) return {object.cast<bool>(), origin};
  if (PyLong_Check(object.ptr())) return {to_integer(object, origin), origin};
  if (PyFloat_Check(object.ptr())) return {object.cast<double>(), origin};
  if (PyUnicode_Check(object.ptr())) return {object.cast<std::string>(), origin};
  if (py::isinstance<py::dict>(object))
    return {to_table(py::reinterpret_borrow<py::dict>(object), origin, depth), origin};
  if (py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object))
    return {to_list(object, origin, depth), origin};
  // numpy scalars and arrays turn into the kinds above.
  if (py::hasattr(object, "tolist")) return convert(object.attr("tolist")(), origin, depth + 1);
  if (py::hasattr(object, "__fspath__")) return convert(object.attr("__fspath__")(), origin, depth + 1);
  throw InputError(fmt::format("{}: a scene takes numbers, text, lists and dicts, not {}", origin,
                               py::repr(object).cast<std::string>()));
}

}  // namespace

Value to_value(const py::handle& object, const std::string& origin) { return convert(object, origin, 0); }

py::object to_python(const Value& value) {
  struct Visitor {
    py::object operator()(bool b) const { return py::bool_(b); }
    py::object operator()(std::int64_t i) const { return py::int_(i); }
    py::object operator()(double d) const { return py::float_(d); }
    py::object operator()(const std::string& s) const { return py::str(s); }
    py::object operator()(const Value::List& list) const {
      py::list result;
      for (const Value& item : list) result.append(to_python(item));
      return result;
    }
    py::object operator()(const Value::Table& table) const {
      py::dict result;
      for (const Value::Entry& entry : table) result[py::str(entry.key)] = to_python(entry.value);
      return result;
    }
  };
  return std::visit(Visitor{}, value.data);
}

py::array to_numbers(const py::handle& object, const std::string& what) {
  const py::array array = py::array::ensure(object);  // which clears numpy's own words
  if (!array)
    throw InputError(fmt::format("{} must be an array of numbers, but is {}", what,
                                 InputError::shortened(py::repr(object).cast<std::string>(), 200)));
  const char kind = array.dtype().kind();
  if (array.size() > 0 && std::string_view("biuf").find(kind) == std::string_view::npos)
    throw InputError(fmt::format("{} must be an array of numbers, but has the type {}", what,
                                 py::str(array.dtype()).cast<std::string>()));
  return array;
}

std::string shape_of(const py::array& array) { return py::str(array.attr("shape")).cast<std::string>(); }

std::vector<Index> to_indices(const py::handle& object, const std::string& what) {
  const py::array array = to_numbers(object, what);
  if (array.size() > 0 && array.dtype().kind() != 'i' && array.dtype().kind() != 'u')
    throw InputError(
        fmt::format("{} must be whole numbers, but has the type {}", what, py::str(array.dtype()).cast<std::string>()));
  const auto wide = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>::ensure(array);
  std::vector<Index> indices;
  indices.reserve(static_cast<std::size_t>(wide.size()));
  for (py::ssize_t k = 0; k < wide.size(); ++k) {
    const std::int64_t i = wide.data()[k];
    if (i < std::numeric_limits<Index>::min() || i > std::numeric_limits<Index>::max())
      throw InputError(fmt::format("{} has the number {}, which is too large", what, i));
    indices.push_back(static_cast<Index>(i));
  }
  return indices;
}

std::vector<Index> to_vertices(const py::handle& object, Index count, const std::string& what) {
  const py::array array = to_numbers(object, what);
  std::vector<Index> vertices;
  if (array.dtype().kind() == 'b') {
    if (array.ndim() != 1 || array.size() != count)
      throw InputError(
          fmt::format("{}: the mask has the shape {}, but the mesh has {} vertices", what, shape_of(array), count));
    const auto mask = py::array_t<bool, py::array::c_style>::ensure(array);
    for (Index v = 0; v < count; ++v)
      if (mask.data()[v]) vertices.push_back(v);
    return vertices;
  }
  vertices = to_indices(array, what);
  for (Index v : vertices)
    if (v < 0 || v >= count)
      throw InputError(fmt::format("{} names vertex {}, but the vertices are numbered 0 to {}", what, v, count - 1));
  return vertices;
}

Vec3 to_vec3(const py::handle& object, const std::string& what) {
  const Doubles array = Doubles::from(object, what);
  if (array.ndim() != 1 || array.size() != 3)
    throw InputError(fmt::format("{} must be three numbers, but has the shape {}", what, shape_of(array)));
  return Eigen::Map<const Vec3>(array.data());
}

std::vector<Vec3> to_points(const Doubles& array, const std::string& what) {
  if (array.ndim() != 2 || array.shape(1) != 3)
    throw InputError(fmt::format("{} must have the shape (n, 3), but has {}", what, shape_of(array)));
  const auto* points = reinterpret_cast<const Vec3*>(array.data());
  return {points, points + array.shape(0)};
}

TriangleMesh to_surface(const py::handle& vertices, const py::handle& triangles, const std::string& what) {
  TriangleMesh mesh;
  mesh.source = what;
  mesh.vertices = to_points(Doubles::from(vertices, what + ": its vertices"), what + ": its vertices");
  const py::array corners = to_numbers(triangles, what + ": its triangles");
  if (corners.ndim() != 2 || corners.shape(1) != 3)
    throw InputError(fmt::format("{}: its triangles must have the shape (k, 3), not {}", what, shape_of(corners)));
  const std::vector<Index> flat = to_indices(triangles, what + ": its triangles");
  for (std::size_t t = 0; t + 2 < flat.size(); t += 3) mesh.triangles.push_back({flat[t], flat[t + 1], flat[t + 2]});
  check_triangle_mesh(mesh);
  return mesh;
}

}  // namespace pliant::python
