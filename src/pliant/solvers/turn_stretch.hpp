#pragma once

#include <vector>

#include "pliant/sim/model.hpp"

namespace pliant {

/// What moving along straight lines for a step does to bodies that turn.
///
/// A linearised step moves nodes along straight lines. Where a solid turns by t on the way, it ends stretched by t^2/2,
/// and the stress of that, in the stiffness of the next step, holds the solid back from turning. Of the energy of its
/// motion it takes the share kappa t^2/4, with kappa = E h^2/(rho L^2) of a solid of size L: nothing of a soft solid,
/// all of one that is much stiffer than inertia asks for.
///
/// The Green strain of a step dx is E(x^n + dx) = E(x^n) + sym(F^T dF) + dF^T dF/2. The linear system knows the first
/// two terms. The turn in dF is W F with W the antisymmetric part of dF F^{-1}. So with q = (W F)^T W F/2, the lost
/// energy is that of q by the stiffness at rest,
///
///   W = sum_e V_e (mu q:q + lambda/2 tr(q)^2),
///
/// which is of fourth order in the step: slow motion has none, whatever its stiffness. It is compared part by part
/// with the kinetic energy of the step in the frame of the part's centre of mass. A part is a connected piece of
/// elements that are alike in stiffness: a stiff end of a soft body is one, and has to turn by its own inertia.
///
/// Rejected: q of all of dF. What is let go relaxes by strains of tenths in a step, which hold nothing back. Rejected,
/// too: the residual of backward Euler at the end of the step. Forces of stiff elements are out of balance there
/// by far more than those that turn them are, and what they lead to is a short way.
class TurnStretch {
 public:
  explicit TurnStretch(const Model& model);

  /// The largest W of any part over the kinetic energy of its step, for a step dx (m) from x (m) of the time h (s).
  double largest_share(const VecX& x, const VecX& dx, double h);

 private:
  struct Part {
    std::vector<Index> nodes;  ///< in the model's node array, ascending
    double mass = 0;           ///< of its nodes, kg
    double stretch = 0;        ///< W, J
  };
  struct Solid {
    const Body* body;
    std::vector<std::size_t> part_of;  ///< for each element
  };

  const Model& model_;
  std::vector<Solid> solids_;
  std::vector<Part> parts_;
  std::vector<Mat3> F_, dF_;  ///< scratch
};

}  // namespace pliant
