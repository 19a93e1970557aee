#pragma once

#include "pliant/solvers/newton/obstacle_drive.hpp"

namespace pliant {

/// Steps beyond length 1 where the energy bends down along the direction (docs/newton.md, "Steps longer than 1").
///
/// Newton's direction comes from a convex model of the energy. A body that buckles, or boxes that begin to slide off
/// each other, leave a saddle along which the energy is concave: the model knows nothing of it, and every iteration
/// only doubles the distance from the saddle. That the slope has become steeper at the end of a step tells so for free.
class LongStepSearch {
 public:
  explicit LongStepSearch(StepFunction& function) : function_(function) {}

  /// Where `found`, the search along the line, took the whole step and the line is concave: doubles the step as long as
  /// it is and the energy falls, and leaves what it comes to in `trial` and `found`.
  void improve(const Iterate& current, const Ray& ray, ObstacleDrive& obstacles, LineSearchResult& found,
               Iterate& trial);

 private:
  StepFunction& function_;
  Iterate tried_;
  VecX way_;
};

}  // namespace pliant
