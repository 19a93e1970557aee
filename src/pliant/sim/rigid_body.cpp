#include "pliant/sim/rigid_body.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <utility>

#include "pliant/base/error.hpp"
#include "pliant/contact/aabb.hpp"
#include "pliant/contact/tessellate.hpp"
#include "pliant/math/decompositions.hpp"
#include "pliant/mesh/surface_check.hpp"
#include "pliant/rigid/mass_points.hpp"

namespace pliant {

namespace {

/// Triangles around what is round: enough to roll, and few enough to search.
constexpr int kSegments = 24;

/// Signs of the frame's nodes; in this order a right-handed frame has a positive volume.
constexpr double kSigns[4][3] = {{1, 1, 1}, {-1, 1, -1}, {1, -1, -1}, {-1, -1, 1}};

/// Of a body of density 1: mass, and its first and second moments about the origin.
struct Moments {
  double mass = 0;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
};

Moments moments_of(const MassPoints& points) {
  Moments sum;
  for (std::size_t i = 0; i < points.masses.size(); ++i) {
    sum.mass += points.masses[i];
    sum.first += points.masses[i] * points.positions[i];
    sum.second += points.masses[i] * points.positions[i] * points.positions[i].transpose();
  }
  return sum;
}

/// Tetrahedra from a point to each triangle; those of a closed surface add up to what it encloses.
Moments moments_of(const TriangleMesh& surface) {
  Moments sum;
  const Vec3 origin = surface.vertices.front();
  for (const Triangle& t : surface.triangles) {
    Vec3 p[3];
    for (std::size_t k = 0; k < 3; ++k) p[k] = surface.vertices[at(t[k])] - origin;
    const double mass = p[0].dot(p[1].cross(p[2])) / 6;
    const Vec3 total = p[0] + p[1] + p[2];
    sum.mass += mass;
    sum.first += mass / 4 * total;
    Mat3 second = total * total.transpose();
    for (const Vec3& q : p) second += q * q.transpose();
    sum.second += mass / 20 * second;
  }
  sum.second +=
      sum.first * origin.transpose() + origin * sum.first.transpose() + sum.mass * origin * origin.transpose();
  sum.first += sum.mass * origin;
  return sum;
}

/// The principal axes of a second moment and its values along them, each axis next to one of the coordinates': shapes
/// that are nearly alike have frames that are. What rounding leaves of a shape that lies along the coordinates is not
/// to turn it.
std::pair<Mat3, Vec3> principal_axes(Mat3 moment) {
  constexpr double kRoundingOfAxes = 1e-12;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (i != j && std::abs(moment(i, j)) < kRoundingOfAxes * moment.trace()) moment(i, j) = 0;
  const SymmetricEigen<3> eigen(moment);
  static constexpr std::array<std::array<int, 3>, 6> kOrders = {
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  const auto along = [&](const std::array<int, 3>& order) {
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += std::abs(eigen.vectors(k, order[static_cast<std::size_t>(k)]));
    return sum;
  };
  const auto& order = *std::max_element(kOrders.begin(), kOrders.end(),
                                        [&](const auto& a, const auto& b) { return along(a) < along(b); });
  Mat3 axes;
  Vec3 values;
  for (int k = 0; k < 3; ++k) {
    const int from = order[static_cast<std::size_t>(k)];
    axes.col(k) = eigen.vectors(k, from) < 0 ? Vec3(-eigen.vectors.col(from)) : Vec3(eigen.vectors.col(from));
    values[k] = eigen.values[from];
  }
  if (axes.determinant() < 0) axes.col(0) *= -1;
  return {axes, values};
}

void check(const RigidOptions& options) {
  const auto fail = [&](const std::string& what) {
    throw InputError(fmt::format("rigid body '{}': {}", options.name, what));
  };
  const auto positive = [](double v) { return v > 0 && std::isfinite(v); };
  if (!positive(options.density)) fail("density must be positive (kg/m^3)");
  if (!positive(options.young)) fail("'young' must be positive (Pa)");
  if (!std::isfinite(options.friction)) fail("friction must be finite");
  if (options.shape.has_value() == (options.surface != nullptr)) fail("give either a shape or a surface");
}

}  // namespace

std::array<Vec3, 4> RigidShape::frame() const {
  std::array<Vec3, 4> nodes;
  for (std::size_t i = 0; i < 4; ++i)
    nodes[i] = centre + axes * spread.cwiseProduct(Vec3(kSigns[i][0], kSigns[i][1], kSigns[i][2]));
  return nodes;
}

std::array<Vec3, 4> RigidShape::slopes() const {
  std::array<Vec3, 4> slopes;
  for (std::size_t i = 0; i < 4; ++i)
    slopes[i] = 0.25 * (axes * Vec3(kSigns[i][0], kSigns[i][1], kSigns[i][2]).cwiseQuotient(spread));
  return slopes;
}

std::array<double, 4> RigidShape::weights(const Vec3& place) const {
  const std::array<Vec3, 4> change = slopes();
  std::array<double, 4> weights;
  for (std::size_t i = 0; i < 4; ++i) weights[i] = 0.25 + change[i].dot(place - centre);
  return weights;
}

double RigidShape::size() const {
  Aabb box;
  for (const Vec3& p : vertices) box.include(p);
  return (box.max - box.min).norm();
}

/// A place is sum_i (1/4 + slope_i . (X - centre)) x_i, so that its derivative by X is sum_i x_i slope_i^T.
Mat3 RigidShape::rotation(const std::array<Vec3, 4>& nodes) const {
  const std::array<Vec3, 4> change = slopes();
  Mat3 F = Mat3::Zero();
  for (std::size_t i = 0; i < 4; ++i) F += nodes[i] * change[i].transpose();
  return nearest_rotation(F);
}

RigidShape make_rigid_shape(const RigidOptions& options) {
  check(options);
  RigidShape shape;
  Moments moments;
  TriangleMesh surface;
  try {
    if (options.shape) {
      check_shape(*options.shape, options.name);
      moments = moments_of(mass_points(*options.shape, 1));
      surface = tessellate(*options.shape, kSegments);
    } else {
      surface = *options.surface;
      merge_equal_vertices(surface);
      const SurfaceReport report = examine_surface(surface);
      check_closed(surface, report);
      if (report.volume < 0)
        for (Triangle& t : surface.triangles) std::swap(t[1], t[2]);
      moments = moments_of(surface);
    }
  } catch (const InputError& error) {
    throw InputError(fmt::format("rigid body '{}': {}", options.name, error.what()));
  }
  shape.vertices = std::move(surface.vertices);
  shape.triangles = std::move(surface.triangles);
  shape.friction = options.friction;
  shape.mass = options.density * moments.mass;
  shape.volume = moments.mass;
  shape.centre = moments.first / moments.mass;
  const Mat3 about_centre = moments.second / moments.mass - shape.centre * shape.centre.transpose();
  const auto [axes, squares] = principal_axes(about_centre);
  if (!(squares.minCoeff() > 1e-10 * squares.maxCoeff()))
    throw InputError(
        fmt::format("rigid body '{}' is flat: it has no volume to have mass; give it a thickness", options.name));
  shape.axes = axes;
  shape.spread = squares.cwiseSqrt();
  for (Vec3& p : shape.vertices) p = options.placed.from_rest(p);
  shape.centre = options.placed.from_rest(shape.centre);
  shape.axes = options.placed.rotation * shape.axes;
  return shape;
}

std::shared_ptr<const TetMesh> frame_mesh(const RigidShape& shape) {
  MeshData data;
  const std::array<Vec3, 4> frame = shape.frame();
  data.vertices.assign(frame.begin(), frame.end());
  data.tets = {{0, 1, 2, 3}};
  data.source = "the frame of a rigid body";
  return std::make_shared<const TetMesh>(std::move(data));
}

}  // namespace pliant
