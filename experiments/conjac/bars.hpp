#pragma once

#include <functional>

#include "pliant/mesh/generators.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

/// A bar of Table 1: 10 cm long, E = 1e4, nu = 0.4, with what an experiment adds to it.
struct BarOptions {
  std::array<Index, 3> cells = {20, 6, 6};
  Vec3 size = {0.1, 0.03, 0.03};
  Vec3 gravity = {0, -9.81, 0};
  std::vector<std::string> pinned = {"x-min"};
  std::function<void(BodyOptions&)> change = [](BodyOptions&) {};
  std::function<void(ModelBuilder&)> add = [](ModelBuilder&) {};
};
std::shared_ptr<const Model> conjac_bar(const BarOptions& options);

/// Where the model rests, by Newton's method.
State resting_state(const std::shared_ptr<const Model>& model);

/// Steps until nothing moves any more; the largest distance to `rest` then, over `size`, and the steps taken.
struct Settled {
  State state;
  double error = 0;
  int steps = 0;
  bool succeeded = true;
};
Settled settle(const std::shared_ptr<const Model>& model, const ParameterMap& parameters, const State& rest,
               double size, double h, const std::function<bool()>& stop);

}  // namespace pliant::experiments
