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
                          nodes(std::move(back.velocities)));
  }

  /// Positions and velocities that the scene begins with.
  py::tuple start() const {
    const State state = model_->rest_state();
    return py::make_tuple(nodes(VecX(state.x)), nodes(VecX(state.v)));
  }

 private:
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
      .def("residual", &Adjoint::residual)
      .def("back", &Adjoint::back);
}

}  // namespace pliant::python
