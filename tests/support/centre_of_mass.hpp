#pragma once

#include "pliant/simulation/simulation.hpp"

namespace pliant::testing {

/// The mean over the mass of a body of what its nodes have: positions, velocities.
inline Vec3 mean_over_mass(const Simulation& simulation, std::size_t body, const VecX& of_nodes) {
  const Model& model = *simulation.model();
  const Range nodes = model.bodies()[body].nodes;
  Vec3 sum = Vec3::Zero();
  double mass = 0;
  for (Index i = nodes.begin; i < nodes.end; ++i) {
    sum += model.mass().lumped()[i] * node(of_nodes, i);
    mass += model.mass().lumped()[i];
  }
  return sum / mass;
}

/// Where its centre of mass is.
inline Vec3 centre_of(const Simulation& simulation, std::size_t body) {
  return mean_over_mass(simulation, body, simulation.state()->x);
}

}  // namespace pliant::testing
