#pragma once

#include <memory>

#include "pliant/contact/broad_phase.hpp"
#include "pliant/sim/model.hpp"

namespace pliant::experiments {

/// Judges states of a model with contact by exact predicates on edges and triangles alone.
class IntersectionCheck {
 public:
  explicit IntersectionCheck(std::shared_ptr<const Model> model);
  /// Edges that cut triangles, and points behind planes; 0 without contact.
  int intersections(const State& state);

 private:
  std::shared_ptr<const Model> model_;
  std::unique_ptr<BroadPhase> broad_;
};

}  // namespace pliant::experiments
