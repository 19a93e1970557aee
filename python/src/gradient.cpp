#include <fmt/format.h>

#include "bindings.hpp"
#include "pliant/base/error.hpp"
#include "pliant/simulation/step_adjoint.hpp"
#include "simulation.hpp"

namespace pliant::python {

namespace {

/// The steps of a scene's model, for derivatives.
class Adjoint {
 public:
  explicit Adjoint(const Scene& scene)
      : dt_(scene.dt), model_(build_model(scene)), adjoint_(model_, demands_of(scene).integrator) {}

  py::array residual(const State& before, const Doubles& x) {
    VecX F;
    adjoint_.residual(before, dt_, flat(x), F);
    return nodes(std::move(F));
  }
  py::tuple back(const State& before, const Doubles& x, const Doubles& of_x, const Doubles& of_v) {
    StepAdjoint::Back back = adjoint_.back(before, dt_, flat(x), flat(of_x), flat(of_v));
    return py::make_tuple(nodes(std::move(back.lambda)), nodes(std::move(back.positions)),
                          nodes(std::move(back.velocities)), nodes(std::move(back.prescribed)));
  }
  py::array prescribed(const State& before) { return nodes(adjoint_.prescribed(before, dt_)); }
  py::array by_vertices(const std::string& body, const Doubles& x, const Doubles& lambda) {
    return nodes(adjoint_.by_vertices(find(body), flat(x), flat(lambda)));
  }
  py::array to_vertices(const std::string& body, const Doubles& x) const {
    return nodes(pliant::to_vertices(find(body), flat(x)));
  }
  py::array by_stiffness(const std::string& body, const Doubles& x, const Doubles& lambda) const {
    VecX found = adjoint_.by_stiffness(find(body), flat(x), flat(lambda));
    const py::ssize_t count = found.size();
    return take(std::move(found), {count});
  }

  py::array rest() const { return nodes(VecX(model_->rest())); }
  /// Positions and velocities that the scene begins with.
  py::tuple start() const {
    const State state = model_->rest_state();
    return py::make_tuple(nodes(VecX(state.x)), nodes(VecX(state.v)));
  }

 private:
  const Body& find(const std::string& name) const {
    for (const Body& body : model_->bodies())
      if (body.name == name && body.elastic && !body.rigid) return body;
    throw InputError(fmt::format("there is no soft solid '{}' in the scene", name));
  }
  VecX flat(const Doubles& array) const {
    if (array.ndim() != 2 || array.shape(0) != py::ssize_t(model_->nodes()) || array.shape(1) != 3)
      throw InputError(fmt::format("expected the shape ({}, 3), not {}", model_->nodes(), shape_of(array)));
    return Eigen::Map<const VecX>(array.data(), array.size());
  }
  static py::array nodes(VecX&& x) {
    const py::ssize_t count = x.size() / 3;
    return take(std::move(x), {count, 3});
  }

  double dt_;
  std::shared_ptr<const Model> model_;
  StepAdjoint adjoint_;
};

}  // namespace

void bind_gradient(py::module_& module) {
  py::class_<Adjoint>(module, "Adjoint")
      .def(py::init<const Scene&>())
      .def("start", &Adjoint::start)
      .def("rest", &Adjoint::rest)
      .def("residual", &Adjoint::residual)
      .def("back", &Adjoint::back)
      .def("prescribed", &Adjoint::prescribed)
      .def("by_vertices", &Adjoint::by_vertices)
      .def("to_vertices", &Adjoint::to_vertices)
      .def("by_stiffness", &Adjoint::by_stiffness);
}

}  // namespace pliant::python
