#include "simulation.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <numeric>

#include "bindings.hpp"
#include "interrupts.hpp"
#include "pliant/base/error.hpp"
#include "pliant/io/checkpoint.hpp"
#include "pliant/math/parallel.hpp"
#include "pliant/sim/contact/contact_step.hpp"
#include "pliant/sim/sharing.hpp"
#include "tet_mesh.hpp"

namespace pliant::python {

SharedSimulation::SharedSimulation(const Scene& scene)
    : part_(Part::of(scene)),
      alone_(part_ ? nullptr : std::make_unique<Simulation>(scene)),
      simulation_(part_ ? &part_->simulation() : alone_.get()) {}

void SharedSimulation::rebuild(const Scene& scene) {
  refuse_parts("a model that is there is not changed");
  work([&](Simulation& s) { s.rebuild(scene); });
}

void SharedSimulation::refuse_parts(const char* what) const {
  if (sharing())
    throw InputError(
        fmt::format("{} on several processes; do all of it before the first step, or run the script "
                    "without mpirun",
                    what));
}

SharedSimulation::Guard::Guard(SharedSimulation& o) : owner(o) {
  if (owner.busy_.exchange(true))
    throw std::runtime_error("this simulation is already running: in another thread, or in a function it calls");
}

const ProbeSet& SharedSimulation::probes() {
  if (!probes_ || probes_->model() != simulation_->model())
    probes_ = std::make_unique<ProbeSet>(simulation_->scene(), simulation_->model());
  return *probes_;
}

Assembler& SharedSimulation::assembler() {
  if (!assembler_ || assembled_ != simulation_->model()) {
    assembled_ = simulation_->model();  // a cut has made another
    const auto energies = model().energies();
    assembler_ =
        std::make_unique<Assembler>(model().nodes(), std::vector<const Energy*>(energies.begin(), energies.end()));
  }
  return *assembler_;
}

py::dict to_dict(const StepReport& report, bool took) {
  py::list history;
  for (const IterationRecord& r : report.history)
    history.append(py::make_tuple(r.energy, r.force, r.acceleration, r.step_length, r.alpha, r.projected));
  const StageSeconds& s = report.seconds;
  py::dict dict;
  dict["outcome"] = to_string(report.outcome);
  dict["detail"] = report.detail;
  dict["advanced"] = took;
  dict["iterations"] = report.iterations;
  dict["factorisations"] = report.factorisations;
  dict["failed_factorisations"] = report.failed_factorisations;
  dict["linear_iterations"] = report.linear_iterations;
  dict["projected_iterations"] = report.projected_iterations;
  dict["line_search_evaluations"] = report.line_search_evaluations;
  dict["smallest_alpha"] = report.smallest_alpha;
  dict["energy"] = report.energy;
  dict["residuals"] =
      py::make_tuple(report.residuals.force, report.residuals.acceleration, report.residuals.step_length);
  dict["minimum_gap"] = report.minimum_gap;
  dict["contacts"] = report.contacts;
  dict["seconds"] = py::make_tuple(s.assembly, s.factorisation, s.solve, s.line_search, s.contact, s.total);
  dict["history"] = history;
  py::dict figures;
  for (const Figure& figure : report.figures) figures[py::str(figure.name.data(), figure.name.size())] = figure.value;
  dict["figures"] = figures;
  return dict;
}

namespace {

py::array nodes_array(VecX&& x) {
  const py::ssize_t nodes = x.size() / 3;
  return take(std::move(x), {nodes, 3});
}

py::array state_view(const py::object& self, const VecX& x) {
  return view(x.data(), {py::ssize_t(x.size() / 3), 3}, self, true);
}

VecX to_flat(const Doubles& array, const char* what) {
  if (array.ndim() != 2 || array.shape(1) != 3)
    throw InputError(fmt::format("{} must have the shape (n, 3), but have {}", what, shape_of(array)));
  return Eigen::Map<const VecX>(array.data(), array.size());
}

State make_state(const Doubles& x, const Doubles& v, double time, std::int64_t step, std::vector<double> activation) {
  State state{to_flat(x, "positions"), to_flat(v, "velocities"), time, step, std::move(activation)};
  if (state.x.size() != state.v.size())
    throw InputError(fmt::format("a state has as many velocities as positions, not {} and {}", state.v.size() / 3,
                                 state.x.size() / 3));
  return state;
}

const Body& body_at(const SharedSimulation& self, std::ptrdiff_t index) {
  return self.model().bodies().at(static_cast<std::size_t>(index));
}

/// The body, which must be one of finite elements.
const Body& solid_at(const SharedSimulation& self, std::ptrdiff_t index) {
  const Body& body = body_at(self, index);
  if (!body.is_solid()) throw InputError(fmt::format("body '{}' is no solid, and has no elements", body.name));
  return body;
}

py::array index_rows(std::span<const Index> flat, py::ssize_t columns) {
  return take(std::vector<Index>(flat.begin(), flat.end()), {py::ssize_t(flat.size()) / columns, columns});
}

py::dict describe_body(const Body& body) {
  const Stencils& stencils = body.energy().stencils();
  py::dict dict;
  dict["begin"] = body.nodes.begin;
  dict["end"] = body.nodes.end;
  const std::span<const Triangle> surface =
      body.rigid ? std::span<const Triangle>(body.rigid->triangles) : body.surface();
  dict["vertices"] = body.vertices().size();
  dict["surface"] = index_rows({surface.data()->data(), 3 * surface.size()}, 3);
  dict["carried"] = py::none();
  if (body.rigid) {
    std::vector<double> rest, weights;
    for (const Vec3& p : body.rigid->vertices) {
      rest.insert(rest.end(), p.begin(), p.end());
      for (double w : body.rigid->weights(p)) weights.push_back(w);
    }
    const auto count = static_cast<py::ssize_t>(body.rigid->vertices.size());
    dict["carried"] = py::make_tuple(take(std::move(rest), {count, 3}), take(std::move(weights), {count, 4}));
  }
  // Stencils of shells and rods have neighbours behind the corners.
  const int corners = body.shell ? 3 : body.rod ? 2 : stencils.size;
  std::vector<Index> elements;
  for (Index s = 0; s < stencils.count(); ++s)
    for (int k = 0; k < corners; ++k) elements.push_back(stencils[s][k] - body.nodes.begin);
  dict["elements"] = index_rows(elements, corners);
  dict["mesh"] = body.is_solid() ? py::cast(MeshHandle{body.mesh}) : py::none();
  dict["order"] = body.is_solid() ? body.elements->reference().order() : 1;
  return dict;
}

/// Of which this process has no element.
py::dict describe_elsewhere(const SceneBody& body) {
  py::dict dict;
  for (const char* key : {"begin", "end", "vertices"}) dict[key] = 0;
  dict["surface"] = index_rows({}, 3);
  for (const char* key : {"carried", "mesh"}) dict[key] = py::none();
  dict["elements"] = index_rows({}, body.order == 1 ? 4 : body.order == 2 ? 10 : 20);
  dict["order"] = body.order;
  return dict;
}

/// Bodies in the order of the scene; "index" is that in the model, -1 of one that is elsewhere, and "whole" are its
/// nodes in the model of all processes, which all of them call this for together.
py::list bodies(SharedSimulation& self) {
  py::list list;
  const std::span<const Body> here = self.model().bodies();
  const auto add = [&](py::dict dict, const std::string& name, std::ptrdiff_t index, Index begin, Index end) {
    dict["name"] = name;
    dict["index"] = index;
    dict["whole"] = py::make_tuple(begin, end);
    list.append(dict);
  };
  Sharing* sharing = self.sharing();
  if (!sharing) {
    for (const Body& body : here)
      add(describe_body(body), body.name, &body - here.data(), body.nodes.begin, body.nodes.end);
    return list;
  }
  for (const SceneBody& of : self.simulation().scene().bodies) {
    const auto found = std::find_if(here.begin(), here.end(), [&](const Body& body) { return body.name == of.name; });
    const bool is_here = found != here.end();
    double first = sharing->all_nodes(), last = -1;
    if (is_here)
      for (Index i = found->nodes.begin; i < found->nodes.end; ++i) {
        first = std::min<double>(first, sharing->nodes()[at(i)]);
        last = std::max<double>(last, sharing->nodes()[at(i)]);
      }
    add(is_here ? describe_body(*found) : describe_elsewhere(of), of.name, is_here ? found - here.begin() : -1,
        static_cast<Index>(sharing->minimum(first)), static_cast<Index>(sharing->maximum(last)) + 1);
  }
  return list;
}

/// Of each node here: its number in the model of all processes, and whether it counts here in sums over them.
py::tuple numbering(const SharedSimulation& self) {
  const py::ssize_t count = self.model().nodes();
  std::vector<Index> numbers(static_cast<std::size_t>(count));
  std::vector<std::uint8_t> owned(numbers.size(), 1);
  std::iota(numbers.begin(), numbers.end(), 0);
  if (const Sharing* sharing = self.sharing()) {
    numbers.assign(sharing->nodes().begin(), sharing->nodes().end());
    owned.assign(sharing->owned().begin(), sharing->owned().end());
  }
  return py::make_tuple(take(std::move(numbers), {count}), take(std::move(owned), {count}));
}

/// (n, k) numbers of the nodes here, for all nodes of the model of all processes, on the first alone.
py::object gather_nodes(SharedSimulation& self, const Doubles& values) {
  const py::ssize_t nodes = self.model().nodes();
  if (values.ndim() != 2 || values.shape(0) != nodes)
    throw InputError(fmt::format("what is gathered must have the shape ({}, k), but has {}", nodes, shape_of(values)));
  Sharing* sharing = self.sharing();
  if (!sharing) return py::array_t<double>(Doubles(values.attr("copy")()));
  const py::ssize_t width = values.shape(1);
  const py::ssize_t all = sharing->all_nodes();
  std::vector<double> result(sharing->is_first() ? static_cast<std::size_t>(all * width) : 0);
  const double* from = values.data();
  self.work([&](Simulation&) {  // three numbers a node at a time
    VecX part(3 * nodes), whole;
    for (py::ssize_t begin = 0; begin < width; begin += 3) {
      const py::ssize_t count = std::min<py::ssize_t>(3, width - begin);
      part.setZero();
      for (py::ssize_t i = 0; i < nodes; ++i)
        for (py::ssize_t c = 0; c < count; ++c) part[3 * i + c] = from[i * width + begin + c];
      sharing->gather(part, whole);
      for (py::ssize_t i = 0; i < (sharing->is_first() ? all : 0); ++i)
        for (py::ssize_t c = 0; c < count; ++c)
          result[static_cast<std::size_t>(i * width + begin + c)] = whole[3 * i + c];
    }
  });
  if (!sharing->is_first()) return py::none();
  return take(std::move(result), {all, width});
}

/// The sum of a number over all processes.
double sum_over_processes(SharedSimulation& self, double value) {
  return self.work([&](Simulation& s) { return total(s.model()->sharing(), value); });
}

using RowMajor = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

/// Deformation gradients and first Piola stresses at the centroids, both (m, 3, 3). A negative index is that of a body
/// of which this process has no element.
py::tuple stresses(SharedSimulation& self, std::ptrdiff_t index) {
  if (index < 0) return py::make_tuple(py::array_t<double>({0, 3, 3}), py::array_t<double>({0, 3, 3}));
  const Body& body = solid_at(self, index);
  const Index count = body.elements->element_count();
  std::vector<double> gradients(9 * static_cast<std::size_t>(count)), piola(gradients.size());
  self.work([&](Simulation& s) {
    const Pose pose(s.state()->x, s.state()->activation);
    for_chunks(count, 512, [&](Index begin, Index end) {
      std::vector<Mat3> F(static_cast<std::size_t>(end - begin)), P(F.size());
      body.elastic->stresses(pose, {begin, end}, F.data(), P.data());
      for (Index e = begin; e < end; ++e) {
        Eigen::Map<RowMajor>(gradients.data() + 9 * std::ptrdiff_t(e)) = F[static_cast<std::size_t>(e - begin)];
        Eigen::Map<RowMajor>(piola.data() + 9 * std::ptrdiff_t(e)) = P[static_cast<std::size_t>(e - begin)];
      }
    });
  });
  return py::make_tuple(take(std::move(gradients), {count, 3, 3}), take(std::move(piola), {count, 3, 3}));
}

py::array element_energies(SharedSimulation& self, std::ptrdiff_t index) {
  if (index < 0) return py::array_t<double>(0);
  const Energy& energy = body_at(self, index).energy();
  const Index count = energy.stencils().count();
  std::vector<double> out(static_cast<std::size_t>(count));
  self.work([&](Simulation& s) {
    const Pose pose(s.state()->x, s.state()->activation);
    for_chunks(count, 512, [&](Index begin, Index end) {
      energy.evaluate(pose, {begin, end}, out.data() + begin, nullptr);
    });
  });
  return take(std::move(out), {count});
}

py::array internal_forces(SharedSimulation& self) {
  VecX g;
  Assembler& assembler = self.assembler();
  self.work([&](Simulation& s) {
    g.setZero(s.state()->x.size());
    assembler.add_gradient({s.state()->x, s.state()->activation}, g);
    g = -g;
    if (Sharing* sharing = s.model()->sharing()) sharing->sum_copies(g);
  });
  return nodes_array(std::move(g));
}

/// Kinetic energy, that of the external forces (minus their work from rest), and of everything that is not a body's
/// elasticity by name.
py::dict energies(SharedSimulation& self) {
  double kinetic = 0, external = 0;
  std::vector<std::pair<std::string, double>> more;
  self.work([&](Simulation& s) {
    const Model& model = *s.model();
    const State& state = *s.state();
    VecX momentum;
    model.mass().multiply(state.v, momentum);
    kinetic = 0.5 * state.v.dot(momentum);
    VecX force;
    model.external_force(state.time, force);
    external = -force.dot(state.x - model.rest());
    std::vector<std::shared_ptr<const Energy>> energies(model.more_energies().begin(), model.more_energies().end());
    if (model.ties()) energies.emplace_back(s.model(), model.ties());
    if (model.contact()) {  // of the barrier: friction stores nothing
      ContactStep contact(model.contact());
      contact.place_at(state.time);
      more.emplace_back("contact", contact.value({state.x, state.activation, state.time}));
    }
    for (const auto& energy : energies) {
      const Index count = energy->stencils().count();
      std::vector<double> values(static_cast<std::size_t>(count));
      energy->evaluate(state.x, {0, count}, values.data(), nullptr);
      double sum = 0;
      for (double v : values) sum += v;
      more.emplace_back(energy->name(), sum);
    }
    Sharing* sharing = model.sharing();
    kinetic = total(sharing, kinetic);
    external = total(sharing, external);
    for (auto& [name, value] : more) value = total(sharing, value);
  });
  py::dict dict, others;
  for (const auto& [name, value] : more) {
    const py::str key(name);
    others[key] = py::float_(value + (others.contains(key) ? others[key].cast<double>() : 0.0));
  }
  dict["kinetic"] = kinetic;
  dict["external"] = external;
  dict["more"] = others;
  return dict;
}

void bind_state(py::module_& module) {
  py::class_<State, std::shared_ptr<State>>(
      module, "State", R"(Positions and velocities of all nodes, time and activations at an instant.

`Simulation.state` is the living one: its arrays are views that each step overwrites. `copy()` and pickle keep an instant.
It is what there is to see and to change, not all that the next step depends on: to go on with the same bits, use
`Simulation.snapshot()`.)")
      .def(py::init(&make_state), py::arg("x"), py::arg("v"), py::arg("time") = 0.0, py::arg("step") = 0,
           py::arg("activation") = std::vector<double>())
      .def_property_readonly(
          "x", [](const py::object& self) { return state_view(self, self.cast<State&>().x); },
          "(n, 3) positions, m; a writable view")
      .def_property_readonly(
          "v", [](const py::object& self) { return state_view(self, self.cast<State&>().v); },
          "(n, 3) velocities, m/s; a writable view")
      .def_readwrite("time", &State::time, "s")
      .def_readwrite("step", &State::step, "steps taken")
      .def_readwrite("activation", &State::activation,
                     "activations of the muscles, 0 to 1; a copy: assign the whole list")
      .def(
          "copy", [](const State& self) { return State(self); }, "An independent copy.")
      .def("__copy__", [](const State& self) { return State(self); })
      .def("__deepcopy__", [](const State& self, const py::dict&) { return State(self); })
      .def("__eq__",
           [](const State& a, const State& b) {
             return a.x.size() == b.x.size() && a.x == b.x && a.v == b.v && a.time == b.time && a.step == b.step &&
                    a.activation == b.activation;
           })
      .def("__repr__",
           [](const State& self) {
             return fmt::format("<pliant.State: {} nodes, t = {:.6g} s, step {}>", self.x.size() / 3, self.time,
                                self.step);
           })
      .def(py::pickle(
          [](const State& self) {
            return py::make_tuple(nodes_array(VecX(self.x)), nodes_array(VecX(self.v)), self.time, self.step,
                                  self.activation);
          },
          [](const py::tuple& t) {
            return std::make_shared<State>(make_state(t[0].cast<Doubles>(), t[1].cast<Doubles>(), t[2].cast<double>(),
                                                      t[3].cast<std::int64_t>(), t[4].cast<std::vector<double>>()));
          }));
}

Snapshot to_snapshot(const py::bytes& bytes) {
  try {
    return snapshot_from_bytes(std::string_view(bytes));
  } catch (const InputError& error) {
    throw InputError(fmt::format("the snapshot {}", error.what()));
  }
}

void bind_snapshot(py::module_& module) {
  const auto bytes_of = [](const Snapshot& self) { return py::bytes(to_bytes(self)); };
  py::class_<Snapshot>(module, "Snapshot", R"(Everything that the steps to come depend on, from `Simulation.snapshot()`.

Restored into a simulation of the same scene, also in another process, they have the same bits. It can be pickled.)")
      .def_property_readonly(
          "time", [](const Snapshot& self) { return self.state.time; }, "s")
      .def_property_readonly(
          "step", [](const Snapshot& self) { return self.state.step; }, "steps taken")
      .def_property_readonly(
          "state", [](const Snapshot& self) { return State(self.state); }, "A copy of its positions and velocities.")
      .def("to_bytes", bytes_of, "The snapshot as bytes, with a checksum.")
      .def_static("from_bytes", &to_snapshot, py::arg("bytes"),
                  "Back from bytes; raises InputError where they are damaged.")
      .def("__eq__", [](const Snapshot& a, const Snapshot& b) { return to_bytes(a) == to_bytes(b); })
      .def("__repr__",
           [](const Snapshot& self) {
             return fmt::format("<pliant.Snapshot: {} nodes, t = {:.6g} s, step {}>", self.state.x.size() / 3,
                                self.state.time, self.state.step);
           })
      .def(py::pickle(bytes_of, &to_snapshot));
}

}  // namespace

void bind_simulation(py::module_& module) {
  bind_state(module);
  bind_snapshot(module);
  py::class_<SharedSimulation> simulation(module, "Simulation");
  bind_between_steps(simulation);
  simulation
      .def(py::init([](const Scene& scene) {
        const py::gil_scoped_release release;
        return std::make_unique<SharedSimulation>(scene);
      }))
      .def("rebuild", &SharedSimulation::rebuild)
      .def_property_readonly("state", [](const SharedSimulation& self) { return self.simulation().state(); })
      .def("set_state",
           [](SharedSimulation& self, const State& state) { self.work([&](Simulation& s) { s.set_state(state); }); })
      .def("snapshot", [](SharedSimulation& self) { return self.work([](Simulation& s) { return s.snapshot(); }); })
      .def("restore", [](SharedSimulation& self,
                         const Snapshot& snapshot) { self.work([&](Simulation& s) { s.restore(snapshot); }); })
      .def("cuts_made", [](const SharedSimulation& self) { return self.simulation().cuts_made(); })
      .def("step",
           [](SharedSimulation& self) {
             bool took = false;
             StepInterrupts interrupts;
             const StepReport report = self.work([&](Simulation& s) {
               StepReport r = s.step(interrupts.control());
               took = s.took(r);
               return r;
             });
             if (PyErr_CheckSignals() != 0) throw py::error_already_set();
             return to_dict(report, took);
           })
      .def("bodies", &bodies)
      .def("numbering", &numbering)
      .def("gather", &gather_nodes)
      .def("sum", &sum_over_processes)
      .def("muscles",
           [](const SharedSimulation& self) {
             py::list list;
             for (const Muscle& muscle : self.model().muscles())
               list.append(py::make_tuple(muscle.name, !muscle.activation.keys.empty()));
             return list;
           })
      .def("rest", [](const SharedSimulation& self) { return nodes_array(VecX(self.model().rest())); })
      .def("external_forces",
           [](const SharedSimulation& self) {
             VecX force;
             self.model().external_force(self.simulation().state()->time, force);
             if (Sharing* sharing = self.sharing()) sharing->sum_copies(force);
             return nodes_array(std::move(force));
           })
      .def("masses",
           [](const SharedSimulation& self) {
             const Sharing* sharing = self.sharing();
             const VecX& lumped = sharing ? sharing->lumped_mass() : self.model().mass().lumped();
             return take(VecX(lumped), {self.model().nodes()});
           })
      .def("internal_forces", &internal_forces)
      .def("node_values",
           [](SharedSimulation& self) {
             return self.work([](Simulation& s) {
               std::vector<std::pair<std::string, std::vector<double>>> fields;
               for (const NodeValues& field : s.stepper().node_values())
                 fields.emplace_back(std::string(field.name),
                                     std::vector<double>(field.values.begin(), field.values.end()));
               return fields;
             });
           })
      .def("unbalanced_forces",
           [](SharedSimulation& self) {
             return nodes_array(self.work([](Simulation& s) { return s.unbalanced_forces(); }));
           })
      .def("support_forces",
           [](SharedSimulation& self) {
             std::optional<VecX> forces = self.work([](Simulation& s) { return s.stepper().support_forces(); });
             if (!forces) throw InputError("there are no support forces before a step has been taken");
             return nodes_array(*std::move(forces));
           })
      .def("probe_columns", [](SharedSimulation& self) { return self.probes().columns(); })
      .def("sample_probes",
           [](SharedSimulation& self) {
             const ProbeSet& probes = self.probes();
             return self.work([&](Simulation& s) { return probes.sample(s); });
           })
      .def("stresses", &stresses)
      .def("element_energies", &element_energies)
      .def("energies", &energies)
      .def("save",
           [](SharedSimulation& self, const std::string& file) { self.work([&](Simulation& s) { save(s, file); }); })
      .def("load",
           [](SharedSimulation& self, const std::string& file) { self.work([&](Simulation& s) { load(s, file); }); })
      .def("describe", [](const SharedSimulation& self) { return describe(self.simulation().scene(), self.model()); });
}

}  // namespace pliant::python
