#pragma once

#include "pliant/energies/elastic_kernels.hpp"
#include "pliant/math/svd3.hpp"

namespace pliant {

// Arithmetic of corotated linear elasticity on linear tetrahedra, for a batch of kBatch elements at once.
//
// With b_a = grad N_a, V the volume and R the element's rotation, the stiffness of an element in its own frame is
//   K_ab = V (lambda b_a b_b^T + mu (b_a . b_b) 1 + mu b_b b_a^T),
// so that K w = V S b_a with W = sum_b w_b b_b^T and S = lambda tr(W) 1 + mu (W + W^T): a matrix never has to be formed
// to be applied. Turned by one rotation Q_a for each of its nodes, block (a, b) becomes Q_a K_ab Q_b^T.

/// A rotation for each of the four nodes of kBatch elements: entry (i, j) of node a is row 9 a + 3 j + i.
using NodeRotationBatch = Batch<36>;
/// A vector for each node: component i of node a is row 3 a + i. Unlike NodeBatch, not relative to the first node.
using NodeVectorBatch = Batch<12>;

/// Energy density and first Piola stress of the linear corotated law from the polar decomposition F = R S:
/// P = R (2 mu (S - 1) + lambda tr(S - 1) 1).
void corotated_stress(const Batch9& R, const Batch6& S, const Batch<2>& lame, Batch<1>& psi, Batch9& P);

/// The stress whose nodal forces are -(h P + scale R K R^T v): for add_forces of elastic_kernels.hpp.
void corotated_impulse(const Batch9& R, const Batch9& P, const NodeBatch& v, const ElementGeometry& geometry,
                       const Batch<2>& lame, double h, double scale, Batch9& impulse);

/// weight |R K R^T u - T K T^T u| with T_a = N_a Q_a: the stiffness with the present rotation of each element against
/// the one that was assembled with Q and is carried along by the present rotations N of the nodes
/// (warp-canceling, 4.2).
void warp_error(const Batch9& R, const NodeRotationBatch& N, const NodeRotationBatch& Q, const NodeVectorBatch& u,
                const ElementGeometry& geometry, const Batch<2>& lame, const Batch<1>& weight, Batch<1>& error);

/// For elements first, ..., last - 1 of the batch: Q_a = N_a^T R, and the blocks (a, b), a <= b, of scale Q K Q^T in
/// the layout of Energy::hessians, 90 doubles an element (warp-canceling, (5)).
void warp_blocks(const Batch9& R, const NodeRotationBatch& N, const ElementGeometry& geometry, const Batch<2>& lame,
                 double scale, int first, int last, NodeRotationBatch& Q, double* blocks);

}  // namespace pliant
