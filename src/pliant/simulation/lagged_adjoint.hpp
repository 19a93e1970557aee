#pragma once

#include "pliant/sim/step_problem.hpp"

namespace pliant {

// What the equation F of a step takes from where it began, for derivatives through the step (StepAdjoint): each adds to
// g those of lambda . F by these positions. All are sums over few nodes at a time, and differences over these.

/// A vector over nodes as a linear map of an element of `nodes`: its gradient at a quadrature point, by the coordinates
/// at rest.
Mat3 gradient_at(const FeMesh& mesh, const Index* nodes, Index first, const VecX& x, const Mat3& inverse, int point);
/// H:G of a Hessian by deformation gradients.
Mat3 apply(const Mat9& H, const Mat3& G);
/// Of an element of a solid.
const Lame& lame_of(const Body& body, Index element);
/// The derivative of G:H(F):U by F, H the Hessian with its negative eigenvalues clamped (Projection::analytic).
///
/// Not by differences of H: near rest eigenvalues as large as the stress change sign all the time, and differences over
/// such kinks were wrong in the fifth digit. Those of the Hessian A without projection are smooth, and with A = V L V^T
/// the derivative of the clamped one is V (T o V^T dA V) V^T, T_ij = (l_i^+ - l_j^+)/(l_i - l_j) (Daleckii and Krein),
/// 1/2 where both eigenvalues are zero.
Mat3 projected_stiffness_by_gradient(const Material& material, const Mat3& F, const Mat3& G, const Mat3& U);

/// Of damping by stiffness, h W with K(x^n), by K: not by the displacement x - x^n.
void add_damping_by_start(const Model& model, const StepProblem& problem, const VecX& x, const VecX& lambda, VecX& g);
/// Of dampers of springs and ties.
void add_tie_damping_by_start(const Model& model, const StepProblem& problem, const VecX& x, const VecX& lambda,
                              VecX& g);
/// Of forces that follow open surfaces, by the positions where the step is expected to end.
void add_surface_forces_by_end(const Model& model, const StepProblem& problem, const VecX& lambda, VecX& g);

}  // namespace pliant
