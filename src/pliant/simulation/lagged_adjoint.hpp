#pragma once

#include "pliant/sim/step_problem.hpp"

namespace pliant {

// What the equation F of a step takes from where it began, for derivatives through the step (StepAdjoint): each adds to
// g those of lambda . F by these positions. All are sums over few nodes at a time, and differences over these.

/// Of damping by stiffness, h W with K(x^n), by K: not by the displacement x - x^n.
void add_damping_by_start(const Model& model, const StepProblem& problem, const VecX& x, const VecX& lambda, VecX& g);
/// Of dampers of springs and ties.
void add_tie_damping_by_start(const Model& model, const StepProblem& problem, const VecX& x, const VecX& lambda,
                              VecX& g);
/// Of forces that follow open surfaces, by the positions where the step is expected to end.
void add_surface_forces_by_end(const Model& model, const StepProblem& problem, const VecX& lambda, VecX& g);

}  // namespace pliant
