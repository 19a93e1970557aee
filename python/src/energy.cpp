// An energy whose stencils are evaluated by Python functions, all of them in one call: the cost of a call is that of a
// few numpy operations, and a function may keep arrays over all stencils, such as rest lengths. It is the one place
// where a step calls foreign code; the thread that steps takes the interpreter's lock for the duration of the call.
#include "energy.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bindings.hpp"
#include "convert.hpp"
#include "pliant/base/error.hpp"
#include "pliant/math/parallel.hpp"
#include "pliant/math/psd_projection.hpp"

namespace pliant::python {

namespace {

struct Evaluation {
  Doubles values, gradients;
};

class PythonEnergy final : public Energy {
 public:
  PythonEnergy(std::string name, Stencils stencils, const py::object& functions)
      : name_(std::move(name)),
        stencils_(std::move(stencils)),
        functions_(py::weakref(functions)),
        has_hessian_(!functions.attr("hessian").is_none()) {}
  ~PythonEnergy() override {
    const py::gil_scoped_acquire acquire;  // the last owner may be a model that is replaced while the lock is released
    functions_ = py::object();
  }
  PythonEnergy(const PythonEnergy&) = delete;
  PythonEnergy& operator=(const PythonEnergy&) = delete;

  std::string_view name() const override { return name_; }
  const Stencils& stencils() const override { return stencils_; }
  Index chunk() const override { return stencils_.count(); }

  void evaluate(const Pose& pose, Range range, double* values, double* gradients) const override {
    const py::gil_scoped_acquire acquire;
    const Evaluation result = call(gather(pose.x, range), range.size());
    std::copy_n(result.values.data(), range.size(), values);
    if (gradients) std::copy_n(result.gradients.data(), result.gradients.size(), gradients);
  }

  void hessians(const Pose& pose, Range range, Projection projection, double* blocks) const override {
    const py::gil_scoped_acquire acquire;
    const Doubles H = has_hessian_ ? exact(pose.x, range) : difference(pose.x, range);
    const py::ssize_t n = unknowns();
    const double* from = H.data();
    const py::gil_scoped_release release;
    for_chunks(range.size(), 64, [&](Index begin, Index end) {
      Eigen::MatrixXd local;
      for (Index s = begin; s < end; ++s) {
        local = Eigen::Map<const Eigen::MatrixXd>(from + s * n * n, n, n);
        local = (0.5 * (local + local.transpose())).eval();
        if (projection != Projection::none && local.allFinite()) project_psd(local);
        double* out = blocks + std::ptrdiff_t(s) * 9 * local_blocks(stencils_.size);
        for (int b = 0; b < stencils_.size; ++b)
          for (int a = 0; a <= b; ++a, out += 9) Eigen::Map<Mat3>{out} = local.block<3, 3>(3 * a, 3 * b);
      }
    });
  }

 private:
  py::ssize_t unknowns() const { return 3 * py::ssize_t(stencils_.size); }

  py::array_t<double> gather(const VecX& x, Range range) const {
    py::array_t<double> positions({py::ssize_t(range.size()), py::ssize_t(stencils_.size), py::ssize_t(3)});
    double* to = positions.mutable_data();
    for (Index s = range.begin; s < range.end; ++s)
      for (int a = 0; a < stencils_.size; ++a, to += 3) Eigen::Map<Vec3>{to} = node(x, stencils_[s][a]);
    return positions;
  }

  Doubles checked(const py::handle& object, std::vector<py::ssize_t> shape, const char* what) const {
    Doubles array = Doubles::from(object, fmt::format("energy '{}': the {}", name_, what));
    if (std::vector<py::ssize_t>(array.shape(), array.shape() + array.ndim()) != shape)
      throw InputError(fmt::format("energy '{}': the {} must have the shape {}, but have {}", name_, what,
                                   py::str(py::cast(shape)).cast<std::string>(), shape_of(array)));
    return array;
  }

  Evaluation call(const py::array_t<double>& positions, Index count) const {
    const py::object result = functions().attr("function")(positions);
    if (!py::isinstance<py::tuple>(result) || py::len(result) != 2)
      throw InputError(fmt::format(
          "energy '{}': the function must return a tuple of values (n,) and gradients (n, k, 3), but returned {}",
          name_, py::str(py::type::of(result)).cast<std::string>()));
    const auto pair = py::reinterpret_borrow<py::tuple>(result);
    return {checked(pair[0], {count}, "values"), checked(pair[1], {count, stencils_.size, 3}, "gradients")};
  }

  Doubles exact(const VecX& x, Range range) const {
    return checked(functions().attr("hessian")(gather(x, range)), {range.size(), unknowns(), unknowns()}, "Hessians");
  }

  /// Central differences of the gradient. The step is the cube root of the rounding unit, which balances rounding and
  /// truncation, times the size of the stencil.
  Doubles difference(const VecX& x, Range range) const {
    const py::array_t<double> positions = gather(x, range);
    const py::ssize_t n = unknowns(), count = range.size();
    std::vector<double> steps(static_cast<std::size_t>(count));
    for (py::ssize_t s = 0; s < count; ++s) {
      const Eigen::Map<const Eigen::Matrix3Xd> local(positions.data() + s * n, 3, stencils_.size);
      const double extent = (local.rowwise().maxCoeff() - local.rowwise().minCoeff()).maxCoeff();
      steps[static_cast<std::size_t>(s)] = std::cbrt(2.2e-16) * (extent > 0 ? extent : 1);
    }
    py::array_t<double> H({count, n, n});
    for (py::ssize_t j = 0; j < n; ++j)
      for (const double sign : {1.0, -1.0}) {
        // A new array each time, since the function may keep the one it is given.
        py::array_t<double> moved({count, py::ssize_t(stencils_.size), py::ssize_t(3)});
        std::copy_n(positions.data(), positions.size(), moved.mutable_data());
        for (py::ssize_t s = 0; s < count; ++s) moved.mutable_data()[s * n + j] += sign * steps[std::size_t(s)];
        const Evaluation result = call(moved, range.size());
        for (py::ssize_t s = 0; s < count; ++s)
          for (py::ssize_t i = 0; i < n; ++i) {
            const double term = sign * result.gradients.data()[s * n + i] / (2 * steps[std::size_t(s)]);
            double& entry = H.mutable_data()[(s * n + i) * n + j];
            entry = sign > 0 ? term : entry + term;
          }
      }
    return H;
  }

  py::object functions() const {
    py::object found = functions_();
    if (found.is_none())
      throw InputError(fmt::format("energy '{}': the simulation that it was added to is gone", name_));
    return found;
  }

  std::string name_;
  Stencils stencils_;
  /// A weak reference to the object with `function` and `hessian`, which the Python simulation owns: a function may
  /// refer to its simulation, and a circle that leads through here could never be collected.
  py::object functions_;
  bool has_hessian_;
};

EnergyHandle make_energy(const std::string& name, const py::object& stencils, const py::object& functions) {
  const py::array array = to_numbers(stencils, fmt::format("energy '{}': stencils", name));
  if (array.ndim() != 2 || array.shape(0) == 0 || array.shape(1) == 0)
    throw InputError(
        fmt::format("energy '{}': stencils must have the shape (n, k), but have {}", name, shape_of(array)));
  Stencils made;
  made.size = static_cast<int>(array.shape(1));
  made.nodes = to_indices(array, fmt::format("energy '{}': stencils", name));
  for (Index s = 0; s < made.count(); ++s) {
    std::vector<Index> nodes(made[s], made[s] + made.size);
    std::sort(nodes.begin(), nodes.end());
    if (std::adjacent_find(nodes.begin(), nodes.end()) != nodes.end())
      throw InputError(fmt::format("energy '{}': stencil {} names a node twice", name, s));
  }
  return {std::make_shared<const PythonEnergy>(name, std::move(made), functions)};
}

}  // namespace

void bind_energy(py::module_& module) { py::class_<EnergyHandle>(module, "Energy").def(py::init(&make_energy)); }

}  // namespace pliant::python
