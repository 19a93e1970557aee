#pragma once

#include "pliant/solvers/pxpbd/elements.hpp"

namespace pliant::pbd {

// What is done to one batch of elements, as vector code. All updates have the same shape: from the deformation
// gradients F they compute a matrix Q per element, and the unknowns move by x_i += w_i Q g_i, so that F changes by Q A
// (ElementBatch::metric). They never see positions, so that the same code serves meshes and grids.

/// Positions and inverse masses of nodes: x, y, z, 1/m, four doubles each, so that one vector load fetches a node.
inline constexpr int kNodeStride = 4;

/// F of the batch's elements.
void gather_gradients(const double* nodes, const ElementBatch& batch, Batch9& F);
/// x_i += w_i Q g_i for the corners of the first `count` elements. `axes`: null, or three factors per node, zero along
/// axes that are held though the node is not.
void scatter_displacements(const ElementBatch& batch, const Batch9& Q, const double* axes, double* nodes);
/// The same without inverse masses, into three doubles per node: what stresses Q add up to.
void scatter_forces(const ElementBatch& batch, const Batch9& Q, double* forces);

/// Multipliers of an element's two constraints; scaled by h^2 as in XPBD.
using Multipliers = Batch<2>;

/// What B-PXPBD remembers of an element: by how much each constraint has moved its nodes so far, as matrices S with
/// displacements w_i S g_i (the sums of eq. (21), nine numbers in place of twelve), and its share of XPBD: zeta, or,
/// where the compliance is not zero, 1 - blend / (1 + compliance c) with the curvature c of the constraint.
struct BlendMemory {
  Batch9 S[2];
  Batch<1> zeta;
  Batch<1> compliance;  ///< h^2 V lambda_max(A), 1/Pa
};

/// One visit of XPBD to both constraints of each element, eqs. (16), (17): C1 = sqrt(|F - R|^2 + epsilon), C2 = J - 1
/// with stiffness 2 mu V and lambda V for the corotated law; C1 = sqrt(I + epsilon), C2 = J - 1 - mu/l with mu V, l V
/// and l = lambda + mu for Macklin and Mueller's.
void xpbd_update(LocalLaw law, double h2, const ElementBatch& batch, const Batch9& F, Multipliers& multipliers,
                 Batch9& Q);
/// The same with displacements blended with a fixed-point step, eqs. (19), (21), (22).
void blended_update(LocalLaw law, double h2, double blend, const ElementBatch& batch, const Batch9& F,
                    Multipliers& multipliers, BlendMemory& memory, Batch9& Q);
/// sum of multiplier times gradient of its constraint at F (the stress -h^2 V P they stand for), and per element the
/// square of the secondary residual C + a/h^2 lambda times stiffness per volume, Pa^2.
void constraint_residual(LocalLaw law, double h2, const ElementBatch& batch, const Batch9& F,
                         const Multipliers& multipliers, Batch9& Q, double* secondary2);

/// XPBD with the single constraint C = sqrt(Psi), stiffness 2 V (pxpbd, fig. 7), for energy density and stress given.
void sqrt_energy_update(double h2, const ElementBatch& batch, const Batch<1>& psi, const Batch9& stress,
                        Multipliers& multipliers, Batch9& Q);

/// `inner` quasi-Newton steps of FP-PXPBD on each element, neighbours' stresses held; not for LocalLaw::any.
void first_piola_update(LocalLaw law, double h2, int inner, const ElementBatch& batch, const Batch9& F, Batch9& P,
                        Batch9& Q);

/// The Newton step of FP-PXPBD with the Hessian H of the law, positive semidefinite: dF and dP with
/// dP = r + H dF, dF = -h^2 V dP A, A being the round metric.
void full_newton_step(double h2, const ElementBatch& batch, const Batch9& r, const Batch45& H, Batch9& dF, Batch9& dP);
/// F = F0 + Q A: where elements are after their nodes have moved.
void moved_gradients(const ElementBatch& batch, const Batch9& F0, const Batch9& Q, Batch9& F);
/// H dF, H packed.
void multiply_hessian(const Batch45& H, const Batch9& dF, Batch9& out);

}  // namespace pliant::pbd
