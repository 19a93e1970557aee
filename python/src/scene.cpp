// A scene under construction: the tree a scene file would be, plus what only code can give. Every part is checked by
// the table of keys when it is added, in a small scene of its own, so that a mistake is reported where it is made.
#include "scene.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>

#include "bindings.hpp"
#include "energy.hpp"
#include "pliant/base/error.hpp"
#include "pliant/base/nearest.hpp"
#include "pliant/scene/body_mesh.hpp"
#include "pliant/scene/generator_keys.hpp"
#include "pliant/scene/overrides.hpp"
#include "tet_mesh.hpp"

namespace pliant::python {

namespace {

Value::List& list_of(Value& root, const std::string& kind) {
  if (!root.find(kind)) root.table().push_back({kind, root.origin, Value{Value::List{}, root.origin}});
  Value& list = *root.find(kind);
  if (list.is_table()) list = Value{Value::List{list}, list.origin};  // [body] for a single [[body]]
  return list.list();
}

/// What a load is multiplied by, from code.
struct DrivenFactor {
  std::shared_ptr<double> value;
};

/// Gravity, from code.
struct DrivenGravity {
  std::shared_ptr<Vec3> value;
};

/// A scene needs an end; one made by code has none until it is run.
void give_an_end(Value& root) {
  Value* simulation = root.find("simulation");
  if (!simulation || !simulation->is_table() || simulation->find("duration") || simulation->find("frames")) return;
  simulation->table().push_back({"frames", simulation->origin, Value{std::int64_t{1}, simulation->origin}});
}

/// What a part is checked in the company of while there is no body yet: one that nothing is wrong with.
Value::List plain_body(const std::string& origin) {
  return {parse_toml_value("{box = {size = [1, 1, 1], cells = [1, 1, 1]}, mu = 1, lambda = 1}", origin)};
}

}  // namespace

SceneTree::SceneTree(std::string name, std::filesystem::path folder)
    : name_(std::move(name)), folder_(std::move(folder)) {
  root_.data = Value::Table{};
  root_.origin = name_;
}

SceneTree SceneTree::read(const std::string& path, const std::vector<std::string>& changes, const std::string& solver) {
  const std::filesystem::path file(path);
  SceneTree tree(file.stem().string(), file.parent_path());
  tree.root_ = read_toml(file);
  tree.path_ = file;
  tree.solver_ = solver;
  apply_overrides(tree.root_, changes);
  return tree;
}

void SceneTree::set_table(const std::string& key, const py::dict& table, const std::string& origin) {
  Value root = root_;
  root.erase(key);
  root.table().push_back({key, origin, to_value(table, origin)});
  if (key == "solver") solver_.clear();
  if (root.find("body"))
    scene_of(root);
  else
    check_alone(root, key, origin);
  root_ = std::move(root);
}

void SceneTree::set_text(const std::string& key, const std::string& text, const std::string& origin) {
  root_.erase(key);
  root_.table().push_back({key, origin, Value{text, origin}});
}

void SceneTree::check_alone(Value root, const std::string& key, const std::string& origin) const {
  if (key != "simulation" && !root.find("simulation")) return;
  root.table().push_back({"body", origin, Value{plain_body(origin), origin}});
  scene_of(std::move(root));
}

void SceneTree::append(const std::string& kind, const py::dict& table, const std::string& origin) {
  Value entry = to_value(table, origin);
  Value small{Value::Table{}, root_.origin};
  const auto is_left_out = [&](const std::string& key) {
    if ((key == "spring" || key == "attachment") && kind == "probe") return !entry.find(key);  // what it may look at
    return key == "body" || key == "pin" || key == "script" || key == "load" || key == "probe" || key == "spring" ||
           key == "attachment";
  };
  for (const Value::Entry& part : root_.table())
    if (!is_left_out(part.key)) small.table().push_back(part);
  if (kind != "body") {
    Value::List bodies;
    const Value* wanted = entry.find("body");
    for (const Value& body : list_of(root_, "body")) {
      const Value* name = body.find("name");
      if (!wanted || entry.find("to_body") ||
          (name && name->is_text() && wanted->is_text() && name->text() == wanted->text()))
        bodies.push_back(body);
    }
    if (bodies.empty()) bodies = list_of(root_, "body");
    list_of(small, "body") = bodies.empty() ? plain_body(origin) : bodies;
  }
  list_of(small, kind).push_back(entry);
  scene_of(std::move(small));
  list_of(root_, kind).push_back(std::move(entry));
}

std::size_t SceneTree::index_of(const std::string& kind, const std::string& name, const std::string& origin) const {
  const std::vector<std::string> all = names(kind);
  const auto found = std::find(all.begin(), all.end(), name);
  if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
  const std::string near = nearest(name, all);
  throw InputError(fmt::format("{}: there is no {} '{}'{}", origin, kind, name,
                               near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

void SceneTree::change(const std::string& kind, const std::string& name, const py::dict& table,
                       const std::string& origin) {
  const std::size_t index = index_of(kind, name, origin);
  Value root = root_;
  Value& entry = list_of(root, kind)[index];
  for (const auto& [key, value] : table) {
    const std::string word = py::str(key);
    entry.erase(word);
    if (!value.is_none())
      entry.table().push_back({word, origin, to_value(py::reinterpret_borrow<py::object>(value), origin)});
  }
  scene_of(root);
  root_ = std::move(root);
}

void SceneTree::remove(const std::string& kind, const std::string& name, const std::string& origin) {
  const std::size_t index = index_of(kind, name, origin);
  Value root = root_;
  Value::List& list = list_of(root, kind);
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
  if (list.empty()) root.erase(kind);
  try {
    scene_of(root);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {} '{}' cannot be removed: without it, {}", origin, kind, name, error.what()));
  }
  root_ = std::move(root);
  stop_driving(kind, name);  // a name may be given again
}

std::vector<std::string> SceneTree::names(const std::string& kind) const {
  std::vector<std::string> names;
  const Value* list = root_.find(kind);
  if (!list) return names;
  const Value::List items = list->is_list() ? list->list() : Value::List{*list};
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Value* name = items[i].find("name");
    names.push_back(name && name->is_text() ? name->text()
                    : items.size() == 1     ? kind
                                            : fmt::format("{}-{}", kind, i + 1));
  }
  return names;
}

void SceneTree::add_mesh(const std::string& name, const MeshHandle& mesh) { objects_.meshes[name] = mesh.mesh; }

void SceneTree::add_surface(const std::string& name, const py::object& vertices, const py::object& triangles) {
  objects_.surfaces[name] = std::make_shared<const TriangleMesh>(to_surface(vertices, triangles, name));
}

/// The vertices that a selection names by number, with their copies.
void SceneTree::follow_cut(Value& where, const std::vector<Index>& origin, std::size_t before) {
  if (where.is_list()) {
    for (Value& part : where.list()) follow_cut(part, origin, before);
    return;
  }
  const auto with_copies = [&](std::vector<Index> named) {
    const std::size_t count = named.size();
    for (std::size_t v = before; v < origin.size(); ++v)
      if (std::find(named.begin(), named.begin() + static_cast<std::ptrdiff_t>(count), origin[v]) !=
          named.begin() + static_cast<std::ptrdiff_t>(count))
        named.push_back(static_cast<Index>(v));
    return named;
  };
  if (where.is_text()) {
    const auto stored = objects_.vertices.find(where.text());
    if (stored == objects_.vertices.end()) return;
    // A copy: the same numbers may be what another body selects.
    const std::string name = fmt::format("{} of {}", where.text(), objects_.vertices.size());
    objects_.vertices[name] = with_copies(stored->second);
    where = Value{name, where.origin};
    return;
  }
  if (!where.is_table() || !where.find("vertices")) return;
  Value::List& list = where.find("vertices")->list();
  std::vector<Index> named;
  for (const Value& v : list) named.push_back(static_cast<Index>(v.number()));
  for (Index v : with_copies(named))
    if (std::find(named.begin(), named.end(), v) == named.end())
      list.push_back(Value{static_cast<std::int64_t>(v), where.origin});
}

void SceneTree::adopt_mesh(const std::string& body, const MeshHandle& mesh, const std::vector<Index>& origin,
                           const std::string& place) {
  const std::size_t index = index_of("body", body, place);
  const std::size_t before = static_cast<std::size_t>(std::count_if(
      origin.begin(), origin.end(), [k = Index{0}](Index v) mutable { return v == k++; }));  // copies come behind
  const std::string name = fmt::format("mesh of {} of {}", body, objects_.meshes.size());
  objects_.meshes[name] = mesh.mesh;
  Value& table = list_of(root_, "body")[index];
  std::vector<std::string> keys = {"mesh", "scale", "rotate", "translate"};
  for (const Setting& key : generator_keys()) keys.push_back(key.name);
  for (const std::string& key : keys) table.erase(key);
  table.table().push_back({"mesh", table.origin, Value{name, table.origin}});
  if (Value* regions = table.find("regions"))
    for (Value::Entry& region : regions->table())
      if (Value* where = region.value.find("where")) follow_cut(*where, origin, before);
  const bool is_only = list_of(root_, "body").size() == 1 && !root_.find("rod") && !root_.find("rigid");
  for (const char* kind : {"pin", "script", "load", "probe", "attachment"}) {
    if (!root_.find(kind)) continue;
    for (Value& part : list_of(root_, kind)) {
      const Value* owner = part.find("body");
      const bool is_its = owner ? owner->is_text() && owner->text() == body : is_only;
      if (Value* where = part.find("where"); where && is_its) follow_cut(*where, origin, before);
    }
  }
}

void SceneTree::add_vertices(const std::string& name, const py::object& vertices, Index count,
                             const std::string& what) {
  std::vector<Index> list = to_vertices(vertices, count, what);
  if (list.empty()) throw InputError(what + " selects no vertex");
  objects_.vertices[name] = std::move(list);
}

std::shared_ptr<DrivenPositions> SceneTree::drive(const std::string& script) {
  return objects_.driven[script] = std::make_shared<DrivenPositions>();
}

std::shared_ptr<double> SceneTree::drive_load(const std::string& load) {
  const auto factor = std::make_shared<double>(1.0);
  objects_.factors[load] = factor;
  return factor;
}

void SceneTree::stop_driving(const std::string& kind, const std::string& name) {
  if (kind == "script") objects_.driven.erase(name);
  if (kind == "load") objects_.factors.erase(name);
}

std::shared_ptr<Vec3> SceneTree::drive_gravity() {
  const auto gravity = std::make_shared<Vec3>(Vec3::Zero());
  objects_.gravity = gravity;
  return gravity;
}

Scene SceneTree::scene() const { return scene_of(root_); }

Scene SceneTree::scene_with(const std::vector<std::string>& changes) const {
  Value root = root_;
  apply_overrides(root, changes);
  return scene_of(std::move(root));
}

Scene SceneTree::scene_of(Value root) const {
  if (path_.empty()) give_an_end(root);
  Scene scene = scene_from_tree(std::move(root), name_, folder_, {{}, solver_}, objects_);
  scene.path = path_;
  return scene;
}

void bind_scene(py::module_& module) {
  py::class_<DrivenPositions, std::shared_ptr<DrivenPositions>>(module, "DrivenPositions")
      .def("get",
           [](const DrivenPositions& self) {
             std::vector<double> flat;
             for (const Vec3& p : self.positions) flat.insert(flat.end(), p.data(), p.data() + 3);
             return take(std::move(flat), {py::ssize_t(self.positions.size()), 3});
           })
      .def("set", [](DrivenPositions& self, const Doubles& positions) {
        if (positions.ndim() != 2 || positions.shape(0) != py::ssize_t(self.positions.size()) ||
            positions.shape(1) != 3)
          throw InputError(fmt::format("a motion must return three numbers or the shape ({}, 3), but returned {}",
                                       self.positions.size(), shape_of(positions)));
        self.positions = to_points(positions, "motion");
      });
  py::class_<DrivenFactor>(module, "DrivenFactor").def("set", [](const DrivenFactor& self, double value) {
    if (!std::isfinite(value)) throw InputError("what a load is multiplied by must be finite");
    *self.value = value;
  });
  py::class_<DrivenGravity>(module, "DrivenGravity").def("set", [](const DrivenGravity& self, const Doubles& value) {
    if (value.ndim() != 1 || value.shape(0) != 3)
      throw InputError(fmt::format("a gravity must return three numbers, but returned {}", shape_of(value)));
    const Vec3 gravity = Vec3::Map(value.data());
    if (!gravity.allFinite()) throw InputError("gravity must be finite");
    *self.value = gravity;
  });
  module.def("to_toml", [](const py::object& value) { return to_toml(to_value(value, "override")); });
  py::class_<SceneTree>(module, "SceneTree")
      .def(py::init<std::string, std::string>())
      .def_static("read", &SceneTree::read)
      .def("set_table", &SceneTree::set_table)
      .def("set_text", &SceneTree::set_text)
      .def("append", &SceneTree::append)
      .def("change", &SceneTree::change)
      .def("remove", &SceneTree::remove)
      .def("scene_with", &SceneTree::scene_with)
      .def("names", &SceneTree::names)
      .def("add_mesh", &SceneTree::add_mesh)
      .def("add_surface", &SceneTree::add_surface)
      .def("adopt_mesh", &SceneTree::adopt_mesh)
      .def("add_vertices", &SceneTree::add_vertices)
      .def("drive", &SceneTree::drive)
      .def("drive_load", [](SceneTree& self, const std::string& load) { return DrivenFactor{self.drive_load(load)}; })
      .def("stop_driving", &SceneTree::stop_driving)
      .def("drive_gravity", [](SceneTree& self) { return DrivenGravity{self.drive_gravity()}; })
      .def("drop_gravity", &SceneTree::drop_gravity)
      .def("add_energy", [](SceneTree& self, const EnergyHandle& energy) { self.add_energy(energy.energy); })
      .def("scene", &SceneTree::scene)
      .def("copy", [](const SceneTree& self) { return SceneTree(self); })
      .def("as_dict", [](const SceneTree& self) { return to_python(self.root()); });
  py::class_<Scene>(module, "Scene")
      .def_readonly("name", &Scene::name)
      .def("mesh_of",
           [](const Scene& self, const std::string& name) -> py::object {
             for (const SceneBody& body : self.bodies)
               if (body.name == name && !body.shell && !body.springs && !body.rod && !body.rigid)
                 return py::cast(MeshHandle{make_mesh(body.mesh)});
             return py::none();
           })
      .def_readonly("title", &Scene::title)
      .def_readonly("dt", &Scene::dt)
      .def_readonly("steps", &Scene::steps)
      .def_readonly("notices", &Scene::notices)
      .def_property_readonly("frame_every", [](const Scene& self) { return self.output.every; })
      .def_property_readonly("solver", [](const Scene& self) {
        py::dict dict;
        dict["name"] = self.solver.name;
        for (const auto& [key, value] : self.solver.parameters)
          dict[py::str(key)] = std::visit([](const auto& v) { return py::cast(v); }, value);
        return dict;
      });
}

}  // namespace pliant::python
