#pragma once

#include "pliant/solvers/criteria.hpp"
#include "pliant/solvers/newton/direction.hpp"
#include "pliant/solvers/newton/obstacle_drive.hpp"

namespace pliant {

/// The end of a step with contact by Newton's method, where the quasi-Newton matrix does not serve: violent impacts,
/// and bodies in the way of prescribed motion (docs/quasi-newton.md, "Contact").
class NewtonFinish {
 public:
  NewtonFinish(IncrementalPotential& potential, const CriterionOptions& criterion);

  void begin_step(StepReport& report);
  /// Whether everything prescribed is where the step ends.
  bool arrived(const VecX& x) {
    obstacles_.update(x);
    return obstacles_.arrived();
  }
  /// From `current` to the end of the step, with the report's outcome; `trial` is scratch.
  void run(Iterate& current, Iterate& trial, StepReport& report);

 private:
  bool find_direction(const Iterate& current, StepReport& report);
  LineSearchResult search(const Iterate& current, Iterate& trial, StepReport& report);

  IncrementalPotential& potential_;
  ConvergenceTest convergence_;
  NewtonSystem system_;
  std::unique_ptr<Direction> direction_;
  ObstacleDrive obstacles_;
  VecX dx_;
};

}  // namespace pliant
