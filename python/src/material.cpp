#include <fmt/format.h>

#include <algorithm>

#include "bindings.hpp"
#include "convert.hpp"
#include "pliant/base/error.hpp"
#include "pliant/materials/law.hpp"
#include "pliant/math/parallel.hpp"
#include "pliant/math/psd_projection.hpp"
#include "pliant/scene/scene.hpp"

namespace pliant::python {

namespace {

constexpr Index kGrain = 64 * kBatch;

/// Parameters go through the scene's table of keys, so that names, aliases, limits and messages are those of a
/// [[body]].
Material make_material(const py::dict& keys, const std::string& origin) {
  Value body = to_value(keys, origin);
  body.table().push_back({"box", origin, parse_toml_value("{size = [1, 1, 1], cells = [1, 1, 1]}", origin)});
  Value root = parse_toml("simulation = {dt = 1, frames = 1}", origin);
  root.table().push_back({"body", origin, Value{Value::List{body}, origin}});
  const SceneBody made = scene_from_tree(std::move(root), "material").bodies.front();
  return {made.law, made.lame};
}

/// F of shape (..., 3, 3): how many, and the shape in front.
struct Points {
  Doubles F;
  Index count = 0;
  std::vector<py::ssize_t> leading;

  explicit Points(const py::handle& object) : F(Doubles::from(object, "F")) {
    if (F.ndim() < 2 || F.shape(F.ndim() - 1) != 3 || F.shape(F.ndim() - 2) != 3)
      throw InputError(fmt::format("F must have the shape (..., 3, 3), but has {}", shape_of(F)));
    leading.assign(F.shape(), F.shape() + F.ndim() - 2);
    count = static_cast<Index>(F.size() / 9);
  }
  std::vector<py::ssize_t> shape(std::initializer_list<py::ssize_t> trailing) const {
    std::vector<py::ssize_t> all = leading;
    all.insert(all.end(), trailing);
    return all;
  }
};

/// Component c of a batch is row c % 3, column c / 3; numpy's rows come first.
constexpr int transposed(int c) { return 3 * (c % 3) + c / 3; }

/// Calls body(first, n, batch) for batches of points; places beyond n repeat the first point of the batch.
template <class Body>
void for_batches(const Points& points, Body&& body) {
  const double* F = points.F.data();
  const py::gil_scoped_release release;
  for_chunks(points.count, kGrain, [&](Index begin, Index end) {
    for (Index first = begin; first < end; first += kBatch) {
      const Index n = std::min<Index>(kBatch, end - first);
      Batch9 batch;
      for (int p = 0; p < kBatch; ++p)
        for (int c = 0; c < 9; ++c) batch[c][p] = F[9 * (std::ptrdiff_t(first) + (p < n ? p : 0)) + transposed(c)];
      body(first, n, batch);
    }
  });
}

Batch<2> parameters(const Material& material) {
  Batch<2> lame;
  for (int p = 0; p < kBatch; ++p) {
    lame[0][p] = material.lame.mu;
    lame[1][p] = material.lame.lambda;
  }
  return lame;
}

py::object energy(const Material& material, const py::object& F) {
  const Points points(F);
  const Batch<2> lame = parameters(material);
  std::vector<double> out(static_cast<std::size_t>(points.count));
  for_batches(points, [&](Index first, Index n, const Batch9& batch) {
    Batch<1> psi;
    Batch9 P;
    material.law->stress(batch, lame, psi, P);
    std::copy_n(psi[0], n, out.data() + first);
  });
  if (points.leading.empty()) return py::float_(out[0]);
  return take(std::move(out), points.leading);
}

py::array stress(const Material& material, const py::object& F) {
  const Points points(F);
  const Batch<2> lame = parameters(material);
  std::vector<double> out(9 * static_cast<std::size_t>(points.count));
  for_batches(points, [&](Index first, Index n, const Batch9& batch) {
    Batch<1> psi;
    Batch9 P;
    material.law->stress(batch, lame, psi, P);
    for (Index p = 0; p < n; ++p)
      for (int c = 0; c < 9; ++c) out[9 * static_cast<std::size_t>(first + p) + transposed(c)] = P[c][p];
  });
  return take(std::move(out), points.shape({3, 3}));
}

py::array hessian(const Material& material, const py::object& F, const std::string& projection) {
  if (projection != "none" && projection != "analytic" && projection != "numerical")
    throw InputError(fmt::format("projection must be \"none\", \"analytic\" or \"numerical\", not \"{}\"", projection));
  const Points points(F);
  const Batch<2> lame = parameters(material);
  const Projection in_law = projection == "analytic" ? Projection::analytic : Projection::none;
  std::vector<double> out(81 * static_cast<std::size_t>(points.count));
  for_batches(points, [&](Index first, Index n, const Batch9& batch) {
    Batch45 packed_H;
    material.law->hessian(batch, lame, in_law, packed_H);
    for (Index p = 0; p < n; ++p) {
      Mat9 H;
      for (int c = 0; c < 9; ++c)
        for (int r = 0; r <= c; ++r) H(r, c) = H(c, r) = packed_H[packed(r, c)][p];
      if (projection == "numerical") project_psd(H);
      double* to = out.data() + 81 * static_cast<std::size_t>(first + p);
      for (int r = 0; r < 9; ++r)
        for (int c = 0; c < 9; ++c) to[9 * transposed(r) + transposed(c)] = H(r, c);
    }
  });
  return take(std::move(out), points.shape({3, 3, 3, 3}));
}

}  // namespace

void bind_material(py::module_& module) {
  py::class_<Material>(module, "MaterialLaw")
      .def(py::init(&make_material), py::arg("keys"), py::arg("origin"))
      .def_property_readonly("mu", [](const Material& self) { return self.lame.mu; })
      .def_property_readonly("lambda_", [](const Material& self) { return self.lame.lambda; })
      .def("energy", &energy)
      .def("stress", &stress)
      .def("hessian", &hessian);
}

}  // namespace pliant::python
