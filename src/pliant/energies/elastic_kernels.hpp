#pragma once

#include "pliant/materials/law.hpp"

namespace pliant {

// Element arithmetic that surrounds the law, for a batch of kBatch elements at once (their data side by side, see
// Batch).
//
// With x_a the nodes of an element and g_a = dN_a/dxi the reference gradients at a quadrature point, the gradient by
// reference coordinates is G = sum_a x_a g_a^T and the deformation gradient F = G B, B = Dm^{-1} the inverse rest
// edges. The chain rule then pulls the law's stress and Hessian back to G once per point, and nodes only ever see the
// constant g_a:
//   P' = w V P B^T,           f_a = P' g_a,
//   H' = w V (B (x) 1) H (B (x) 1)^T,   K_ab = sum_jl g_a,j g_b,l H'_jl   with H'_jl the 3x3 blocks of H'.

inline constexpr int kMaxNodes = 20;   ///< of an element (cubic)
inline constexpr int kMaxPoints = 14;  ///< quadrature points of an element (cubic)

/// Constant data of kBatch elements: rows 0 to 8 are B, column by column, row 9 the volume.
using ElementGeometry = Batch<10>;

/// Nodes of a batch, relative to the first node of each element (which keeps rounding independent of where the body
/// is): component i of node a is row 3 a + i.
using NodeBatch = Batch<3 * kMaxNodes>;

/// Reads the nodes of a batch from the flat vector x. `offsets`: kBatch numbers per local node, 3 times its node
/// number.
void gather_nodes(const double* x, const Index* offsets, int nodes, NodeBatch& out);

/// F at a point; `gradients`: the reference gradients of all nodes there, three doubles each.
void deformation_gradient(const NodeBatch& x, const double* gradients, int nodes, const ElementGeometry& geometry,
                          Batch9& F);

/// Adds weight * volume * psi to the values and weight * volume * (stress pulled back) to the forces, rows as in
/// NodeBatch. Linear elements have a single point: their forces are set, not added to.
void add_energy(const Batch<1>& psi, double weight, const ElementGeometry& geometry, Batch<1>& values);
void add_forces(const Batch9& P, double weight, const double* gradients, int nodes, const ElementGeometry& geometry,
                NodeBatch& forces);

/// Writes the forces of elements first, ..., last - 1 of a batch, 3 * nodes doubles each.
void write_forces(const NodeBatch& forces, int nodes, int first, int last, double* out);

/// The same from nodes to F, and from P to forces, in one go each, for linear elements: most of all simulations.
void linear_gradient(const double* x, const Index* offsets, const ElementGeometry& geometry, Batch9& F);
void write_linear_forces(const Batch9& P, const ElementGeometry& geometry, int first, int last, double* out);

/// Adds the gradient g of each corner, three doubles, to its place, four doubles of which the last has no meaning. One
/// double after the last gradient is read.
void add_corners(const double* g, const Index* place, std::ptrdiff_t corners, double* at);

/// H' = weight * volume * (B (x) 1) H (B (x) 1)^T, packed as H is.
void pull_back_hessian(const Batch45& H, double weight, const ElementGeometry& geometry, Batch45& pulled);

/// Writes the local stiffness blocks (layout of Energy::hessians) of elements first, ..., last - 1 of a batch, summed
/// over the quadrature points: `pulled` and `gradients` have one entry per point.
void write_stiffness(const Batch45* pulled, const double* const* gradients, int points, int nodes, int first, int last,
                     double* blocks);

}  // namespace pliant
