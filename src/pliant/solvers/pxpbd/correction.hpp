#pragma once

#include "pliant/sim/incremental_potential.hpp"
#include "pliant/solvers/newton/direction.hpp"
#include "pliant/solvers/newton/obstacle_drive.hpp"

namespace pliant::pbd {

/// Ends a step that sweeps did not solve (docs/pxpbd.md, "Where sweeps do not keep up"): a few steps of Newton's method
/// on the incremental potential, each by conjugate gradients and a line search, so that none raises it. With contact
/// no iterate intersects.
class Correction {
 public:
  /// `settled`: a correction below this share of the smallest body's size ends the step.
  Correction(IncrementalPotential& potential, double settled);

  /// Whether sweeps came that near when the largest unbalanced acceleration (m/s^2) is this: balancing it moves
  /// nothing by more than h^2 times as much.
  bool is_near(double acceleration) const;
  /// Where to begin: where the sweeps ended, if the potential is no higher there than where the step began, or where it
  /// began in any case.
  enum class Need { none, from_here, from_start };
  /// Lowers the potential; `current` is where the sweeps ended, `trial` is scratch. The report's outcome is changed
  /// where prescribed motion could not be completed.
  void run(Need need, Iterate& current, Iterate& trial, StepReport& report);
  /// Of the last call.
  int iterations() const { return iterations_; }
  /// The largest component of the last correction, m.
  double last() const { return last_; }
  bool is_settled() const { return last_ <= settled_; }

 private:
  void choose_start(Need need, Iterate& current, Iterate& trial);
  bool find_direction(const Iterate& current);
  bool advance(Iterate& current, Iterate& trial, StepReport& report);

  IncrementalPotential& potential_;
  double settled_;  ///< m
  NewtonSystem system_;
  std::unique_ptr<Direction> direction_;
  ObstacleDrive obstacles_;
  VecX dx_;
  int iterations_ = 0;
  double last_ = 0;
};

}  // namespace pliant::pbd
