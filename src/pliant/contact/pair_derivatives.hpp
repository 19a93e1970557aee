#pragma once

#include "pliant/contact/closest.hpp"

namespace pliant {

/// Gradient of the squared distance: 2 weight_i r for corner i (the parameters are stationary).
Vec12 distance_gradient(const Closest& c);

/// Its Hessian. With f(x, b) = |sum_i weight_i(b) x_i|^2 and the parameters b eliminated,
///   H = f_xx - f_xb f_bb^{-1} f_bx,   f_xx = 2 w w^T (x) I,   f_bb = 2 E^T E,   f_xb = 2 (w (x) E_k + w_k (x) r),
/// E_k = sum_i (dweight_i/db_k) x_i. Exact for every type; discontinuous where the type changes.
Mat12 distance_hessian(const Closest& c, const Corners& x);

/// The Hessian of a function phi(d2) with given first and second derivative, projected to positive semidefinite when
/// asked. It acts in the five-dimensional space of w (x) e_x, w (x) e_y, w (x) e_z and the columns of f_xb, so that a
/// 5x5 eigenproblem does for the projection of the 12x12 matrix.
Mat12 function_hessian(const Closest& c, const Corners& x, double first, double second, bool project);

/// Clamps the negative eigenvalues of the Hessian of any function of two edges that does not change when both move
/// together: a 9x9 eigenproblem does for it.
void project_edge_hessian(Mat12& H);

/// How far two edges are from parallel: c = |u x v|^2 (m^4), with derivatives.
struct CrossNorm {
  double value = 0;
  Vec12 gradient = Vec12::Zero();
  Mat12 hessian = Mat12::Zero();
};
double edge_cross_norm(const Corners& x);
/// With derivatives.
CrossNorm edge_cross_norm_derivatives(const Corners& x);

/// The factor that fades out nearly parallel edges, whose nearest points jump (IPC, section 5.2): 1 from c = threshold
/// on, (2 - c/threshold) c/threshold below. C1.
struct Mollifier {
  double value = 1, first = 0, second = 0;  ///< and derivatives with respect to c
};
Mollifier mollifier(double c, double threshold);
/// 1e-3 |U|^2 |V|^2 with the edges at rest, m^4.
double mollifier_threshold(double rest_length2_a, double rest_length2_b);

}  // namespace pliant
