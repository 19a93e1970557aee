#pragma once

#include "pliant/solvers/free_parts.hpp"

namespace pliant {

/// Where a step is linearised. A body that spins moves along straight lines in a linearised step: it is stretched by
/// (h w)^2/2, and the stiffness, which knows no turns, slows it. So parts that nothing holds are first turned and moved
/// on as if they were rigid, to y with the velocities u; forces and stiffness are taken there, which for elasticity is
/// the same as at x^n and turned; and the system is solved for v - u. That is the same step in the frame that turns
/// with the part: M (v^n - u) has the centrifugal force. What is left of an error in angular momentum is corrected
/// afterwards.
class TurningFrame {
 public:
  TurningFrame(const Model& model, Turning turning);

  /// `held`: per unknown, beyond what is prescribed; may be empty.
  void begin(const StepProblem& problem, std::span<const std::uint8_t> held = {});
  const VecX& x() const { return y_; }            ///< y, m
  const VecX& v() const { return u_; }            ///< u, m/s; zero for parts that are held
  const VecX& centripetal() const { return a_; }  ///< acceleration of nodes towards the axis, m/s^2; likewise
  bool moves() const { return !parts_.none(); }
  /// Gives free parts, at x, the momentum and angular momentum they began with and what constant forces have added.
  void keep_momentum(const VecX& x, VecX& v) const;

 private:
  void hold_touching(const StepProblem& problem);

  const Model& model_;
  Turning turning_;
  FreeParts parts_;
  const StepProblem* problem_ = nullptr;
  VecX momentum_, y_, u_, a_;
};

}  // namespace pliant
