#pragma once

#include "pliant/sim/incremental_potential.hpp"

// What the linearly implicit steppers see of a step: forces and stiffness where it begins, H = -K = -df/dx throughout,
// and the velocities of the unknowns whose motion is prescribed. They impose scripts directly, penalties or not
// (ProblemOptions::imposes_scripts).
namespace pliant {

/// Everything but inertia, damping and contact, for which they have a solution of its own (ContactSolve).
inline constexpr Terms kForces{.inertia = false, .damping = false, .contact = false};

/// Overwrites f with these forces, N, zero where prescribed; returns the energy they derive from, up to a constant, J.
inline double forces(IncrementalPotential& potential, const VecX& x, VecX& f) {
  const double energy = potential.gradient(x, f, kForces);
  f = -f;
  return energy;
}

/// What prescribed unknowns move at over the step.
struct PrescribedVelocity {
  VecX v;              ///< m/s; zero elsewhere
  bool moves = false;  ///< whether any of it is not zero

  void set(const StepProblem& problem) {
    v.setZero(problem.x_n.size());
    for (Index i : problem.fixed) v[i] = (problem.boundary.positions[i] - problem.x_n[i]) / problem.h;
    moves = !v.isZero(0);
  }
};

}  // namespace pliant
