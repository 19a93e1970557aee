#include "experiments/warp_canceling/scenes.hpp"

#include <Eigen/Geometry>

#include "pliant/mesh/generators.hpp"

namespace pliant::experiments {

namespace {

BodyOptions body_of(MeshData data, double young) {
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = {find_law("linear-corotated"), lame_from_young(young, 0.4)};
  body.density = 1000;
  return body;
}

/// Turns the mesh about its centre, so that it lands on a corner, and lifts it to `height` above y = 0.
void put_askew(MeshData& data, const Vec3& axis, double angle, double height) {
  Vec3 low = data.vertices[0], high = low;
  for (const Vec3& p : data.vertices) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  const Mat3 R = Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix();
  const Vec3 centre = 0.5 * (low + high);
  double lowest = 1e300;
  for (Vec3& p : data.vertices) {
    p = R * (p - centre);
    lowest = std::min(lowest, p.y());
  }
  for (Vec3& p : data.vertices) p.y() += height - lowest;
}

void add_floor(ModelBuilder& builder, double friction = 0) {
  builder.set_gravity({0, -9.81, 0});
  builder.add_collider({"floor", PlaneShape{}, {}, 1e5, friction});
}

MeshData bar(Index across) { return box({.size = {1.5, 0.5, 0.5}, .cells = {3 * across, across, across}}); }

}  // namespace

std::shared_ptr<const Model> swinging_bar(Index across, double young) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const BodyOptions body = body_of(bar(across), young);
  builder.add_body(body);
  builder.add_pin({"clamp", body.mesh->sets().at("x-min")});
  return builder.build();
}

std::shared_ptr<const Model> dropped_bar(Index across, double young) {
  ModelBuilder builder;
  add_floor(builder);
  MeshData data = bar(across);
  put_askew(data, {0, 0, 1}, 0.3, 0.3);
  builder.add_body(body_of(std::move(data), young));
  return builder.build();
}

std::shared_ptr<const Model> sculpture(Index across, double young) {
  constexpr double kSide = 0.92, kStrut = 0.108;
  ModelBuilder builder;
  add_floor(builder);
  MeshData data = lattice({.size = Vec3::Constant(kSide), .cells = {2, 2, 2}, .strut = kStrut, .across = across});
  put_askew(data, {1, 0.3, 0.7}, 0.6, 0.3);
  builder.add_body(body_of(std::move(data), young));
  return builder.build();
}

}  // namespace pliant::experiments
