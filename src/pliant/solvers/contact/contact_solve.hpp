#pragma once

#include "pliant/sim/stepper.hpp"
#include "pliant/solvers/contact/quadratic_step.hpp"
#include "pliant/solvers/newton/newton_minimiser.hpp"

namespace pliant {

/// How accurately linearly implicit families solve for contact.
struct ContactSolveOptions {
  double tolerance = 1e-4;  ///< a correction slower than this is the last, m/s; above eps_v sliding bodies would stick
  int max_iterations = 1000;  ///< in a step
};

/// Contact for the linearly implicit families (docs/contact.md, "Linearly implicit families"): their own step is taken
/// as if there were none; where it meets or leaves something, the family's quadratic with contact in it is minimised by
/// Newton's method, from where the step began, every move bounded by collision detection.
class ContactSolve {
 public:
  ContactSolve(IncrementalPotential& potential, const std::shared_ptr<const Model>& model,
               const ContactSolveOptions& options);

  /// For the family's matrix, N/m. To be filled in before every run.
  BlockMatrix& matrix() { return quadratic_.matrix(); }
  /// Turns y, where the family's step would lead without contact, into where it leads with it; the unknowns `held` have
  /// to get to where they are in y. `b`, if any, is the gradient (N) that the family's quadratic has at y. The report
  /// counts the iterations, and has another outcome than before where not all went well. False: y is not a state.
  /// `ones` is what the family's matrix has besides matrix(), N/m.
  bool run(VecX& y, const std::vector<std::uint8_t>& held, StepReport& report, const VecX* b = nullptr,
           std::span<const RankOne> ones = {});

 private:
  bool meets_nothing(const VecX& y);
  void find_start();

  IncrementalPotential& potential_;
  QuadraticStep quadratic_;
  NewtonMinimiser minimiser_;
  VecX motion_, start_;  ///< scratch
};

}  // namespace pliant
