#pragma once

#include <memory>

#include "pliant/mesh/generators.hpp"
#include "pliant/sim/model.hpp"

namespace pliant::testing {

inline std::shared_ptr<const TetMesh> box_mesh(const Vec3& size, std::array<Index, 3> cells,
                                               BoxSplit split = BoxSplit::five) {
  return std::make_shared<TetMesh>(box({.size = size, .cells = cells, .split = split}));
}

inline Material material(const std::string& law, double young, double poisson) {
  return {find_law(law), lame_from_young(young, poisson)};
}

inline Vec3 momentum(const Model& model, const State& state) {
  VecX p;
  model.mass().multiply(state.v, p);
  Vec3 sum = Vec3::Zero();
  for (Index i = 0; i < model.nodes(); ++i) sum += node(p, i);
  return sum;
}

/// A box with its centre at `centre`.
inline BodyOptions box_body(const std::string& name, const Vec3& size, std::array<Index, 3> cells, const Vec3& centre,
                            double young = 1e5, const std::string& law = "neo-hookean") {
  BodyOptions body;
  body.name = name;
  body.mesh = std::make_shared<TetMesh>(box({.origin = centre - 0.5 * size, .size = size, .cells = cells}));
  body.material = material(law, young, 0.3);
  return body;
}

inline Collider floor_plane(double friction = 0) {
  Collider plane;
  plane.name = "floor";
  plane.shape = PlaneShape{Vec3::Zero(), Vec3::UnitY()};
  plane.friction = friction;
  return plane;
}

/// A rubber beam along x, clamped at x = 0, under gravity.
inline std::shared_ptr<const Model> clamped_beam(std::array<Index, 3> cells, int order = 1,
                                                 const std::string& law = "neo-hookean",
                                                 MassKind mass = MassKind::consistent, double young = 4e5) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.set_mass(mass);
  BodyOptions body;
  body.mesh = box_mesh({2, 1, 1}, cells);
  body.material = material(law, young, 0.4);
  body.order = order;
  builder.add_body(body);
  builder.add_pin({"clamp", builder.body(0).elements->nodes_of(body.mesh->sets().at("x-min"))});
  return builder.build();
}

/// A free body with initial velocities and no forces but gravity.
inline std::shared_ptr<const Model> free_block(const std::string& law, const Vec3& velocity,
                                               const Vec3& angular_velocity, const Vec3& gravity,
                                               MassKind mass = MassKind::consistent, int order = 1) {
  ModelBuilder builder;
  builder.set_gravity(gravity);
  builder.set_mass(mass);
  BodyOptions body;
  body.mesh = box_mesh({2, 1, 1}, {4, 2, 2});
  body.material = material(law, 1e5, 0.4);
  body.velocity = velocity;
  body.angular_velocity = angular_velocity;
  body.order = order;
  builder.add_body(body);
  return builder.build();
}

}  // namespace pliant::testing
