// The geometry of contact on arrays: positions of shape (n, 3), everything else with n in front.
#include "pliant/contact/barrier.hpp"

#include <fmt/format.h>

#include <limits>

#include "bindings.hpp"
#include "convert.hpp"
#include "pliant/base/error.hpp"
#include "pliant/contact/ccd.hpp"
#include "pliant/contact/pair_derivatives.hpp"
#include "pliant/math/parallel.hpp"

namespace pliant::python {

namespace {

constexpr Index kPairGrain = 256;

/// Four arrays of points as pairs.
struct PairArrays {
  std::array<Doubles, 4> corners;
  Index count = 0;

  explicit PairArrays(std::array<Doubles, 4> arrays) : corners(std::move(arrays)) {
    count = static_cast<Index>(corners[0].size() / 3);
    for (const Doubles& array : corners)
      if (array.ndim() != 2 || array.shape(1) != 3 || array.shape(0) != count)
        throw InputError(fmt::format("points must have the shape ({}, 3), but one has {}", count, shape_of(array)));
  }
  Corners at(Index i) const {
    Corners x;
    for (std::size_t c = 0; c < 4; ++c) x[c] = Eigen::Map<const Vec3>(corners[c].data() + 3 * std::ptrdiff_t(i));
    return x;
  }
};

PairKind kind_of(const std::string& name) {
  return name == "point_triangle" ? PairKind::point_triangle : PairKind::edge_edge;
}

py::tuple distances(const std::string& kind, Doubles a, Doubles b, Doubles c, Doubles d, bool derivatives) {
  const PairArrays pairs({std::move(a), std::move(b), std::move(c), std::move(d)});
  const auto n = static_cast<std::size_t>(pairs.count);
  std::vector<double> d2(n), gradient(derivatives ? 12 * n : 0), hessian(derivatives ? 144 * n : 0);
  std::vector<std::int32_t> type(n);
  {
    const py::gil_scoped_release release;
    for_chunks(pairs.count, kPairGrain, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const Corners x = pairs.at(i);
        const Closest nearest = closest(kind_of(kind), x);
        d2[k] = nearest.d2;
        type[k] = nearest.type;
        if (!derivatives) continue;
        Eigen::Map<Vec12>(gradient.data() + 12 * k) = distance_gradient(nearest);
        Eigen::Map<Mat12>(hessian.data() + 144 * k) = distance_hessian(nearest, x);
      }
    });
  }
  const py::ssize_t rows = pairs.count;
  py::object g = py::none(), H = py::none();
  if (derivatives) {
    g = take(std::move(gradient), {rows, 4, 3});
    H = take(std::move(hessian), {rows, 12, 12});
  }
  return py::make_tuple(take(std::move(d2), {rows}), take(std::move(type), {rows}), g, H);
}

/// NaN for pairs that do not meet.
py::array times_of_impact(const std::string& kind, const std::array<Doubles, 4>& begin,
                          const std::array<Doubles, 4>& end, double until, double gap) {
  const PairArrays from(begin), to(end);
  if (from.count != to.count) throw InputError(fmt::format("{} pairs begin but {} end", from.count, to.count));
  std::vector<double> times(static_cast<std::size_t>(from.count));
  {
    const py::gil_scoped_release release;
    for_chunks(from.count, kPairGrain, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) {
        const Corners x = from.at(i);
        Corners dx = to.at(i);
        for (std::size_t c = 0; c < 4; ++c) dx[c] -= x[c];
        times[static_cast<std::size_t>(i)] = time_of_impact(kind_of(kind), x, dx, {.until = until, .gap = gap})
                                                 .value_or(std::numeric_limits<double>::quiet_NaN());
      }
    });
  }
  return take(std::move(times), {py::ssize_t(from.count)});
}

py::tuple barriers(const Doubles& d2, const Doubles& dhat2) {
  const auto n = static_cast<std::size_t>(d2.size());
  if (dhat2.size() != d2.size()) throw InputError("barrier: give as many thresholds as distances");
  std::vector<double> value(n), first(n), second(n);
  for (std::size_t k = 0; k < n; ++k) {
    const Barrier b = barrier(d2.data()[k], dhat2.data()[k]);
    value[k] = b.value;
    first[k] = b.first;
    second[k] = b.second;
  }
  const py::ssize_t rows = d2.size();
  return py::make_tuple(take(std::move(value), {rows}), take(std::move(first), {rows}),
                        take(std::move(second), {rows}));
}

}  // namespace

void bind_contact(py::module_& module) {
  module.def("pair_distances", &distances, py::arg("kind"), py::arg("a"), py::arg("b"), py::arg("c"), py::arg("d"),
             py::arg("derivatives"));
  module.def("pair_times_of_impact", [](const std::string& kind, Doubles a, Doubles b, Doubles c, Doubles d, Doubles a1,
                                        Doubles b1, Doubles c1, Doubles d1, double until, double gap) {
    return times_of_impact(kind, {a, b, c, d}, {a1, b1, c1, d1}, until, gap);
  });
  module.def("barriers", &barriers);
}

}  // namespace pliant::python
