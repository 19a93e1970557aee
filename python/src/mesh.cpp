#include <fmt/format.h>
#include <pybind11/stl.h>

#include <optional>

#include "bindings.hpp"
#include "convert.hpp"
#include "pliant/base/error.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/quality.hpp"
#include "pliant/mesh/read_mesh.hpp"
#include "pliant/mesh/tetrahedralise.hpp"
#include "pliant/mesh/write_mesh.hpp"
#include "tet_mesh.hpp"

namespace pliant::python {

namespace {

/// Numbers of the elements: (m,) or (m, components), also (m, 3, 3).
ElementField to_field(const py::handle& object, std::size_t elements, const std::string& name) {
  const Doubles array = Doubles::from(object, fmt::format("the element field '{}'", name));
  if (array.ndim() < 1 || array.shape(0) != py::ssize_t(elements))
    throw InputError(fmt::format("the element field '{}' must have {} rows, one for each element, but has the shape {}",
                                 name, elements, shape_of(array)));
  return {static_cast<int>(array.size() / array.shape(0)), {array.data(), array.data() + array.size()}};
}

/// Everything a mesh has beside vertices and tets, by keyword.
struct MeshParts {
  py::object regions = py::none();
  py::dict sets, region_names, element_fields;
  std::string source = "mesh", orphans = "reject";
};

MeshHandle make_mesh(const Doubles& vertices, const py::object& elements, const MeshParts& parts) {
  MeshData data;
  data.source = parts.source;
  data.vertices = to_points(vertices, "vertices");
  const py::array tets = to_numbers(elements, "tets");
  if (tets.ndim() != 2 || tets.shape(1) != 4)
    throw InputError(fmt::format("tets must have the shape (m, 4), but has {}", shape_of(tets)));
  const std::vector<Index> corners = to_indices(tets, "tets");
  for (std::size_t t = 0; t + 3 < corners.size(); t += 4)
    data.tets.push_back({corners[t], corners[t + 1], corners[t + 2], corners[t + 3]});
  if (!parts.regions.is_none()) data.regions = to_indices(parts.regions, "regions");
  for (const auto& [name, members] : parts.sets) {
    const auto text = py::str(name).cast<std::string>();
    data.sets[text] = to_vertices(members, static_cast<Index>(data.vertices.size()), fmt::format("the set '{}'", text));
  }
  for (const auto& [label, name] : parts.region_names)
    data.region_names[label.cast<Index>()] = py::str(name).cast<std::string>();
  for (const auto& [name, values] : parts.element_fields) {
    const auto text = py::str(name).cast<std::string>();
    data.element_fields[text] = to_field(values, data.tets.size(), text);
  }
  if (parts.orphans != "drop" && parts.orphans != "reject")
    throw InputError(fmt::format("orphans must be \"drop\" or \"reject\", not \"{}\"", parts.orphans));
  const Orphans orphans = parts.orphans == "drop" ? Orphans::drop : Orphans::reject;
  const py::gil_scoped_release release;
  return {std::make_shared<const TetMesh>(std::move(data), orphans)};
}

py::array index_view(const py::object& self, std::span<const Index> data, std::vector<py::ssize_t> shape) {
  return view(data.data(), std::move(shape), self, false);
}

const TetMesh& mesh_of(const py::object& self) { return *self.cast<const MeshHandle&>().mesh; }

py::array vertices_of(const py::object& self) {
  const auto vertices = mesh_of(self).vertices();
  return view(reinterpret_cast<const double*>(vertices.data()), {py::ssize_t(vertices.size()), 3}, self, false);
}

py::array tets_of(const py::object& self) {
  const auto tets = mesh_of(self).tets();
  return index_view(self, {tets.data()->data(), 4 * tets.size()}, {py::ssize_t(tets.size()), 4});
}

py::array regions_of(const py::object& self) {
  const auto regions = mesh_of(self).regions();
  return index_view(self, regions, {py::ssize_t(regions.size())});
}

py::dict sets_of(const py::object& self) {
  py::dict dict;
  for (const auto& [name, members] : mesh_of(self).sets())
    dict[py::str(name)] = index_view(self, members, {static_cast<py::ssize_t>(members.size())});
  return dict;
}

py::dict region_names_of(const MeshHandle& self) {
  py::dict dict;
  for (const auto& [label, name] : self.mesh->region_names()) dict[py::int_(label)] = name;
  return dict;
}

py::dict element_fields_of(const py::object& self) {
  py::dict dict;
  for (const auto& [name, field] : mesh_of(self).element_fields()) {
    std::vector<py::ssize_t> shape = {py::ssize_t(mesh_of(self).tets().size())};
    if (field.components == 9)
      shape.insert(shape.end(), {3, 3});
    else if (field.components > 1)
      shape.push_back(field.components);
    dict[py::str(name)] = view(field.values.data(), shape, self, false);
  }
  return dict;
}

py::dict quality_of(const MeshHandle& self) {
  const MeshQuality q = measure_quality(*self.mesh);
  const auto extent = [](const Extent& e) { return py::make_tuple(e.least, e.mean, e.most); };
  py::dict dict;
  dict["vertices"] = q.vertices;
  dict["tets"] = q.tets;
  dict["surface_triangles"] = q.surface_triangles;
  dict["edges"] = q.edges;
  dict["pieces"] = q.pieces;
  dict["lower"] = py::make_tuple(q.lower.x(), q.lower.y(), q.lower.z());
  dict["upper"] = py::make_tuple(q.upper.x(), q.upper.y(), q.upper.z());
  dict["total_volume"] = q.total_volume;
  dict["surface_area"] = q.surface_area;
  dict["volume"] = extent(q.volume);
  dict["edge_length"] = extent(q.edge_length);
  dict["quality"] = extent(q.quality);
  dict["worst"] = q.worst;
  dict["poor"] = q.poor;
  return dict;
}

py::array volumes_of(const MeshHandle& self) {
  std::vector<double> volumes;
  const auto count = static_cast<Index>(self.mesh->tets().size());
  for (Index t = 0; t < count; ++t) volumes.push_back(self.mesh->volume(t));
  return take(std::move(volumes), {count});
}

std::string path_of(const py::object& path) {
  return py::module_::import("os").attr("fspath")(path).cast<std::string>();
}

/// Options of a generator from a dict: each member is asked for by its name.
class Options {
 public:
  explicit Options(py::dict dict) : dict_(std::move(dict)) {}
  void read(const char* name, double& value) const { get(name, value); }
  void read(const char* name, Index& value) const { get(name, value); }
  template <std::size_t N, class T>
  void read(const char* name, std::array<T, N>& value) const {
    get(name, value);
  }
  void read(const char* name, Vec3& value) const { value = to_vec3(dict_[name], name); }
  void read(const char* name, Axis& value) const {
    const auto text = dict_[name].cast<std::string>();
    if (text != "x" && text != "y" && text != "z")
      throw InputError(fmt::format("{} must be \"x\", \"y\" or \"z\", not \"{}\"", name, text));
    value = static_cast<Axis>(text[0] - 'x');
  }
  void read(const char* name, BoxSplit& value) const {
    const auto text = dict_[name].cast<std::string>();
    if (text != "five" && text != "six" && text != "twelve")
      throw InputError(fmt::format("{} must be \"five\", \"six\" or \"twelve\", not \"{}\"", name, text));
    value = text == "five" ? BoxSplit::five : text == "six" ? BoxSplit::six : BoxSplit::twelve;
  }

 private:
  template <class T>
  void get(const char* name, T& value) const {
    try {
      value = dict_[name].cast<T>();
    } catch (const py::cast_error&) {
      throw InputError(fmt::format("{} cannot be {}", name, py::repr(dict_[name]).cast<std::string>()));
    }
  }
  py::dict dict_;
};

MeshGenerator to_generator(const std::string& kind, const Options& from) {
  if (kind == "box") {
    BoxOptions o;
    from.read("size", o.size), from.read("cells", o.cells), from.read("origin", o.origin), from.read("split", o.split);
    return o;
  }
  if (kind == "cylinder") {
    CylinderOptions o;
    from.read("radius", o.radius), from.read("length", o.length), from.read("axis", o.axis);
    from.read("origin", o.origin), from.read("cells", o.cells), from.read("along", o.along);
    return o;
  }
  if (kind == "tube") {
    TubeOptions o;
    from.read("inner_radius", o.inner_radius), from.read("outer_radius", o.outer_radius);
    from.read("length", o.length), from.read("axis", o.axis), from.read("origin", o.origin);
    from.read("layers", o.layers), from.read("around", o.around), from.read("along", o.along);
    return o;
  }
  if (kind == "sphere") {
    SphereOptions o;
    from.read("radius", o.radius), from.read("centre", o.centre), from.read("cells", o.cells);
    from.read("inner_radius", o.inner_radius), from.read("layers", o.layers);
    return o;
  }
  if (kind == "torus") {
    TorusOptions o;
    from.read("radius", o.radius), from.read("ring_radius", o.ring_radius), from.read("axis", o.axis);
    from.read("centre", o.centre), from.read("cells", o.cells), from.read("around", o.around);
    return o;
  }
  if (kind == "sheet") {
    SheetOptions o;
    from.read("size", o.size), from.read("thickness", o.thickness), from.read("normal", o.normal);
    from.read("origin", o.origin), from.read("cells", o.cells), from.read("layers", o.layers);
    return o;
  }
  LatticeOptions o;
  from.read("size", o.size), from.read("cells", o.cells), from.read("strut", o.strut);
  from.read("origin", o.origin), from.read("across", o.across);
  return o;
}

MeshHandle generate_mesh(const std::string& kind, const py::dict& options) {
  const MeshGenerator generator = to_generator(kind, Options(options));
  const py::gil_scoped_release release;
  return {std::make_shared<const TetMesh>(generate(generator))};
}

}  // namespace

void bind_mesh(py::module_& module) {
  py::class_<MeshHandle>(module, "TetMesh", R"(A checked, immutable mesh of tetrahedra.

vertices: (n, 3) rest positions in m.
tets:     (m, 4) vertex numbers, positively oriented: (v1 - v0) x (v2 - v0) . (v3 - v0) > 0.
regions:  (m,) whole numbers that label the elements, or None.
sets:     named sets of vertices, as masks of length n or lists of numbers.
region_names: names of the labels, {3: "bone"}.
element_fields: numbers given with the elements, name to (m,) or (m, components), such as Young's moduli or fibres.
orphans:  what to do with vertices without an element: "reject" (an error) or "drop" (the others are renumbered).

Raises InputError naming the first bad vertex or element. The arrays of a mesh are read-only views of its memory.)")
      .def(py::init([](const Doubles& vertices, const py::object& tets, const py::object& regions,
                       const std::optional<py::dict>& sets, const std::optional<py::dict>& region_names,
                       const std::optional<py::dict>& element_fields, const std::string& source,
                       const std::string& orphans) {
             return make_mesh(vertices, tets,
                              {regions, sets.value_or(py::dict()), region_names.value_or(py::dict()),
                               element_fields.value_or(py::dict()), source, orphans});
           }),
           py::arg("vertices"), py::arg("tets"), py::arg("regions") = py::none(), py::arg("sets") = py::none(),
           py::kw_only(), py::arg("region_names") = py::none(), py::arg("element_fields") = py::none(),
           py::arg("source") = "mesh", py::arg("orphans") = "reject")
      .def_property_readonly("vertices", &vertices_of, "(n, 3) rest positions, m")
      .def_property_readonly("tets", &tets_of, "(m, 4) vertex numbers of the elements")
      .def_property_readonly(
          "surface",
          [](const py::object& self) {
            const auto surface = mesh_of(self).surface();
            return index_view(self, {surface.data()->data(), 3 * surface.size()}, {py::ssize_t(surface.size()), 3});
          },
          "(k, 3) boundary triangles, oriented outwards")
      .def_property_readonly(
          "surface_tets",
          [](const py::object& self) {
            const auto tets = mesh_of(self).surface_tets();
            return index_view(self, tets, {py::ssize_t(tets.size())});
          },
          "(k,) the element of each boundary triangle")
      .def_property_readonly("regions", &regions_of, "(m,) labels of the elements; empty when there are none")
      .def_property_readonly("region_names", &region_names_of, "names of the labels that have one")
      .def_property_readonly("element_fields", &element_fields_of,
                             "numbers given with the elements, name to (m,) or (m, components)")
      .def_property_readonly("sets", &sets_of, "named vertex sets: name to increasing vertex numbers")
      .def_property_readonly(
          "source", [](const MeshHandle& self) { return self.mesh->source(); }, "file or generator it came from")
      .def_property_readonly(
          "notes", [](const MeshHandle& self) { return self.mesh->notes(); },
          "what was done on the way here: elements turned over, vertices dropped")
      .def_property_readonly(
          "total_volume", [](const MeshHandle& self) { return self.mesh->total_volume(); }, "m^3")
      .def("volumes", &volumes_of, "(m,) volumes of the elements, m^3")
      .def("quality", &quality_of,
           "Counts, bounding box, and (least, mean, most) of volume (m^3), edge length (m) and mean ratio (1 is "
           "regular)")
      .def("__repr__",
           [](const MeshHandle& self) {
             return fmt::format("<pliant.TetMesh {}: {} vertices, {} tets>", self.mesh->source(),
                                self.mesh->vertices().size(), self.mesh->tets().size());
           })
      .def(py::pickle(
          [](const py::object& self) {
            return py::make_tuple(vertices_of(self), tets_of(self), regions_of(self), sets_of(self),
                                  region_names_of(self.cast<const MeshHandle&>()), element_fields_of(self),
                                  mesh_of(self).source());
          },
          [](const py::tuple& t) {
            return make_mesh(t[0].cast<Doubles>(), t[1],
                             {t[2], t[3].cast<py::dict>(), t[4].cast<py::dict>(), t[5].cast<py::dict>(),
                              t[6].cast<std::string>(), "reject"});
          }));
  module.def("generate", &generate_mesh);
  module.def(
      "read_mesh",
      [](const py::object& path) {
        const std::string file = path_of(path);
        const py::gil_scoped_release release;
        return MeshHandle{std::make_shared<const TetMesh>(read_mesh(file))};
      },
      py::arg("path"),
      R"(Reads a mesh file, recognised by its content.

Vertices without an element are dropped and elements turned the other way are turned over; `notes` of the mesh says so.
Raises InputError with file and line when the file is broken.)");
  module.def(
      "write_mesh",
      [](const py::object& path, const MeshHandle& mesh, const std::string& format) {
        const std::string file = path_of(path);
        const py::gil_scoped_release release;
        if (format.empty())
          write_mesh(file, *mesh.mesh);
        else
          write_mesh(file, *mesh.mesh, format);
      },
      py::arg("path"), py::arg("mesh"), py::arg("format") = "",
      R"(Writes a mesh in the format of the file's name: .mesh, .meshb, .msh, .node, .ele, .vtk, .vtu; or in a given one.

Text has all the digits it takes to read every coordinate back bit for bit. docs/meshes.md lists the formats.)");
  module.def("read_surface", [](const py::object& path) {
    const std::string file = path_of(path);
    TriangleMesh mesh;
    {
      const py::gil_scoped_release release;
      mesh = read_surface(file);
    }
    const py::ssize_t n = py::ssize_t(mesh.vertices.size()), k = py::ssize_t(mesh.triangles.size());
    std::vector<double> x(mesh.vertices.data()->data(), mesh.vertices.data()->data() + 3 * n);
    std::vector<Index> t(mesh.triangles.data()->data(), mesh.triangles.data()->data() + 3 * k);
    return py::make_tuple(take(std::move(x), {n, 3}), take(std::move(t), {k, 3}));
  });
  const auto surface = [](const Doubles& vertices, const py::object& triangles) {
    TriangleMesh mesh;
    mesh.vertices = to_points(vertices, "vertices");
    const std::vector<Index> corners = to_indices(triangles, "triangles");
    for (std::size_t t = 0; t + 2 < corners.size(); t += 3)
      mesh.triangles.push_back({corners[t], corners[t + 1], corners[t + 2]});
    return mesh;
  };
  module.def("write_surface", [=](const py::object& path, const Doubles& vertices, const py::object& triangles) {
    write_surface(path_of(path), surface(vertices, triangles));
  });
  module.def("tetrahedralise", [=](const Doubles& vertices, const py::object& triangles, double edge, Index coarse) {
    TriangleMesh mesh = surface(vertices, triangles);
    mesh.source = "the surface";
    const py::gil_scoped_release release;
    return MeshHandle{std::make_shared<const TetMesh>(
        tetrahedralise(std::move(mesh), {.mesher = Mesher::any, .edge = edge, .coarse = coarse}))};
  });
}

}  // namespace pliant::python
