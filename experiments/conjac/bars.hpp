#pragma once

#include <functional>

#include "experiments/conjac/trial.hpp"
#include "pliant/mesh/generators.hpp"

namespace pliant::experiments {

/// A bar of Table 1: 10 cm long, E = 1e4, nu = 0.4, six tets a cell, with what an experiment adds to it.
struct BarOptions {
  std::array<Index, 3> cells = {20, 6, 6};
  Vec3 size = {0.1, 0.03, 0.03};
  Vec3 gravity = {0, -9.81, 0};
  std::vector<std::string> pinned = {"x-min"};
  std::function<void(BodyOptions&)> change = [](BodyOptions&) {};
  std::function<void(ModelBuilder&)> add = [](ModelBuilder&) {};
};
std::shared_ptr<const Model> conjac_bar(const BarOptions& options);

/// The node nearest to a place at rest.
Index nearest_node(const Model& model, const Vec3& place);

/// Steps until nothing moves any more than 1e-12 of the size a step.
struct Settled {
  State state;
  int steps = 0;
  bool rests = false;
  double growth = 0;  ///< largest energy above that at rest over the one at the start
};
Settled settle(
    const std::shared_ptr<const Model>& model, const std::string& solver, const ParameterMap& parameters,
    const State& rest, double size, double h, const std::function<bool()>& stop,
    const std::function<void(const State&)>& each = [](const State&) {});

/// The largest distance of a node between two states.
double farthest_node(const VecX& a, const VecX& b);

}  // namespace pliant::experiments
