#pragma once

#include <optional>

#include "pliant/scene/scene.hpp"
#include "pliant/sim/model.hpp"

namespace pliant {

/// How far a step ended from where Newton's method ends it, which the outcome "budget-spent" does not say.
struct LastStep {
  double distance = 0;  ///< of the farthest node, m
  double motion = 0;    ///< the longest way of a node in the step that Newton's method takes, m
  /// Whether it is that far off that its motion means little: more than a third of what moves, and than a thousandth of
  /// the smallest body.
  bool is_far = false;
};

/// Of a step that ended by its budget. Nothing for solvers of another equation than Newton's, for bodies so large that
/// Newton's step would take long, and where it fails.
std::optional<LastStep> judge_last_step(const SceneSolver& solver, double dt, const std::shared_ptr<const Model>& model,
                                        const State& before, const State& after);

}  // namespace pliant
