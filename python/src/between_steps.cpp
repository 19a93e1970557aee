// What is done to a simulation between its steps, and read from it, beyond its scene: grabs, cuts, the equation itself.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include "pliant/base/error.hpp"
#include "pliant/io/checkpoint.hpp"
#include "pliant/sim/incremental_potential.hpp"
#include "pliant/simulation/visual_mesh.hpp"
#include "simulation.hpp"
#include "tet_mesh.hpp"

namespace pliant::python {

namespace {

/// Each is a node, where it is pulled to, and its stiffness.
void set_grabs(SharedSimulation& self, const std::vector<std::tuple<Index, std::array<double, 3>, double>>& grabs) {
  if (!grabs.empty()) self.refuse_parts("nodes are not grabbed");
  std::vector<Grab> made;
  for (const auto& [node, target, stiffness] : grabs)
    made.push_back({{node, node, node}, {1, 0, 0}, Vec3(target[0], target[1], target[2]), stiffness});
  self.work([&](Simulation& s) {
    check_grabs(*s.model(), made);
    s.state()->grabs = made;
  });
}

/// For each vertex of a mesh, the one it was before cuts that kept the tets in their order.
std::vector<Index> vertex_origins(const TetMesh& before, const TetMesh& after) {
  std::vector<Index> origin(after.vertices().size());
  for (std::size_t e = 0; e < after.tets().size(); ++e)
    for (std::size_t k = 0; k < 4; ++k) origin[at(after.tets()[e][k])] = before.tets()[e][k];
  return origin;
}

py::tuple cut_now(SharedSimulation& self, std::size_t body,
                  const std::optional<std::vector<std::array<double, 3>>>& plane, double radius,
                  const py::object& vertices, const py::object& triangles, bool now) {
  self.refuse_parts("bodies are not cut");
  SceneCut cut;
  cut.name = "cut";
  cut.body = body;
  if (plane) {
    const auto vec = [](const std::array<double, 3>& v) { return Vec3(v[0], v[1], v[2]); };
    cut.surface = CutPlane{vec(plane->at(0)), vec(plane->at(1)), radius};
  } else {
    cut.surface = to_surface(vertices, triangles, "the cutting surface");
  }
  const std::shared_ptr<const Model> before = self.simulation().model();
  self.work([&](Simulation& s) { s.cut(cut, now ? CutPlace::now : CutPlace::rest); });
  const auto& mesh = self.model().bodies()[body].mesh;
  return py::make_tuple(MeshHandle{mesh}, vertex_origins(*before->bodies()[body].mesh, *mesh));
}

/// Of the bodies that cuts of the scene have changed: name, mesh, vertex origins; and the names of these cuts.
py::tuple cut_bodies(const SharedSimulation& self) {
  const Simulation& s = self.simulation();
  py::list bodies, names;
  for (std::size_t b = 0; b < s.model()->bodies().size(); ++b) {
    const Body &from = s.given().model->bodies()[b], &to = s.model()->bodies()[b];
    if (to.mesh != from.mesh && to.is_solid() && to.mesh->vertices().size() != from.mesh->vertices().size())
      bodies.append(py::make_tuple(to.name, MeshHandle{to.mesh}, vertex_origins(*from.mesh, *to.mesh)));
  }
  for (std::size_t k = 0; k < s.cuts_made(); ++k) names.append(s.given().scene.cuts[k].name);
  return py::make_tuple(bodies, names);
}

/// What tells scenes apart, as something that Python can look up.
py::bytes key_of(const Fingerprint& fingerprint) {
  return {reinterpret_cast<const char*>(fingerprint.parts.data()), sizeof fingerprint.parts};
}

/// As Simulation::restore with another scene does.
void restore_other(SharedSimulation& self, const Snapshot& snapshot, const Scene& scene) {
  self.refuse_parts("there is no way back over a cut");
  self.work([&](Simulation& s) { s.restore(snapshot, scene); });
}

/// The equation of the next step, or what is stored, at the present state.
class Equation {
 public:
  explicit Equation(const Simulation& s)
      : state_(*s.state()), potential_(s.model(), {demands_of(s.scene()).integrator}) {
    potential_.begin_step(state_, s.scene().dt);
  }
  VecX gradient(bool of_step) {
    VecX g;
    if (of_step)
      potential_.gradient(state_.x, g);
    else
      potential_.stored_energy(state_.x, &g);
    return g;
  }
  BlockMatrix hessian(bool of_step, bool projected) {
    BlockMatrix H = potential_.make_matrix();
    const Projection projection = projected ? Projection::analytic : Projection::none;
    if (of_step)
      potential_.hessian(state_.x, projection, 1, H);
    else
      potential_.stored_hessian(state_.x, projection, H);
    return H;
  }

 private:
  State state_;
  IncrementalPotential potential_;
};

py::array present_gradient(SharedSimulation& self, bool of_step) {
  self.refuse_parts("the gradient of all nodes is not to be had");
  VecX g = self.work([&](Simulation& s) { return Equation(s).gradient(of_step); });
  const py::ssize_t nodes = g.size() / 3;
  return take(std::move(g), {nodes, 3});
}

/// The blocks above and on the diagonal: where rows begin, columns, and (n, 3, 3) values.
py::tuple present_hessian(SharedSimulation& self, bool of_step, bool projected) {
  self.refuse_parts("the Hessian of all nodes is not to be had");
  const BlockMatrix H = self.work([&](Simulation& s) { return Equation(s).hessian(of_step, projected); });
  const BlockPattern& pattern = H.pattern();
  std::vector<double> values(H.values().size());
  for (std::int64_t k = 0; k < pattern.blocks(); ++k)
    for (std::ptrdiff_t i = 0; i < 3; ++i)
      for (std::ptrdiff_t j = 0; j < 3; ++j)
        values[static_cast<std::size_t>(9 * k + 3 * i + j)] = H.block(k)[3 * j + i];
  const py::ssize_t rows = pattern.rows() + 1, blocks = pattern.blocks();
  return py::make_tuple(take(std::vector<std::int64_t>(pattern.row_start().begin(), pattern.row_start().end()), {rows}),
                        take(std::vector<Index>(pattern.columns().begin(), pattern.columns().end()), {blocks}),
                        take(std::move(values), {blocks, 3, 3}));
}

/// Triangles and present vertices of a body's visual mesh; none where it has none.
py::object visual_of(SharedSimulation& self, std::size_t body) {
  self.refuse_parts("visual meshes do not follow their bodies");
  std::vector<Index> triangles;
  std::vector<double> points;
  bool found = false;
  self.work([&](Simulation& s) {
    for (const VisualMesh& mesh : self.visual_meshes()) {
      if (mesh.body() != body) continue;
      found = true;
      for (const Triangle& t : mesh.triangles()) triangles.insert(triangles.end(), t.begin(), t.end());
      points.resize(3 * at(mesh.vertices()));
      mesh.positions(s.state()->x, points);
    }
  });
  if (!found) return py::none();
  const auto n = static_cast<py::ssize_t>(points.size() / 3), k = static_cast<py::ssize_t>(triangles.size() / 3);
  return py::make_tuple(take(std::move(points), {n, 3}), take(std::move(triangles), {k, 3}));
}

}  // namespace

const std::vector<VisualMesh>& SharedSimulation::visual_meshes() {
  if (shown_ != simulation_->model()) {
    shown_ = simulation_->model();
    visual_ = pliant::visual_meshes(simulation_->scene(), *shown_);
  }
  return visual_;
}

void bind_between_steps(py::class_<SharedSimulation>& simulation) {
  simulation.def("set_grabs", &set_grabs)
      .def("cut", &cut_now)
      .def("cut_bodies", &cut_bodies)
      .def("scene_key", [](const SharedSimulation& self) { return key_of(self.simulation().fingerprint()); })
      .def_static("scene_key_of", [](const Snapshot& snapshot) { return key_of(snapshot.fingerprint); })
      .def_static("read_snapshot", [](const std::string& file) { return read_checkpoint(file).snapshot; })
      .def("restore_other", &restore_other)
      .def("gradient", &present_gradient)
      .def("hessian", &present_hessian)
      .def("visual", &visual_of);
}

}  // namespace pliant::python
