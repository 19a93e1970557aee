#pragma once

#include <span>
#include <vector>

#include "pliant/sim/incremental_potential.hpp"
#include "pliant/solvers/newton/newton_minimiser.hpp"

namespace pliant::pbd {

/// When Newton's method ends an implicit step.
enum class CorrectionKind {
  none,       ///< never
  rescue,     ///< where sweeps failed or left elements inverted
  contact,    ///< and, in models with contact, rigid bodies or gas, where the residual says that they may be far off
  automatic,  ///< the same in any model
};

struct CorrectionOptions {
  CorrectionKind kind = CorrectionKind::automatic;
  double tolerance = 1e-4;  ///< share of the smallest body's size, in steps of 1/60 s; in shorter ones less by h^2
};

/// Sees sweeps run away before they are done: the largest move of a node has grown by half twice in a row, and is now
/// more than a hundredth of the smallest body's size. Sweeps that converge move nodes less and less.
class RunawayTest {
 public:
  explicit RunawayTest(double size) : size_(size) {}
  void begin(const double* nodes, Index count);
  /// After a sweep, with four doubles per node (kNodeStride).
  bool runs_away(const double* nodes);

 private:
  double size_;  ///< m
  std::vector<double> before_;
  double moved_ = 0;
  int grown_ = 0;
};

/// Ends a step that sweeps did not solve (docs/pxpbd.md, "Where sweeps do not keep up"): a few steps of Newton's method
/// on the incremental potential, none of which raises it. With contact no iterate intersects.
class Correction {
 public:
  Correction(IncrementalPotential& potential, const CorrectionOptions& options);

  /// `swept` is where the sweeps ended, with the potential's value and gradient; where they have not come near enough,
  /// it is what Newton's method makes of it, and the report says if that went wrong. Returns the number of its steps.
  int end(Iterate& swept, StepReport& report);
  /// As Stepper::memory().
  std::vector<double> memory() const { return newton_.memory(); }
  void recall(std::span<const double> memory) { newton_.recall(memory); }

 private:
  enum class Need { none, from_here, from_start };
  Need need_of(const Iterate& swept, const StepReport& report) const;
  bool choose_start(Need need, Iterate& swept);
  /// A correction below this ends the step, m.
  double settled() const;

  IncrementalPotential& potential_;
  bool by_residual_;
  double settled_;  ///< the same of a step of 1/60 s, m
  NewtonMinimiser newton_;
};

}  // namespace pliant::pbd
