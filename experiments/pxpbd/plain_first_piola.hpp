#pragma once

#include "pliant/sim/model.hpp"

namespace pliant::experiments {

/// FP-PXPBD of a Neo-Hookean body (Macklin and Mueller's law) with the Hessian as the paper prints it, Eq. (52):
/// c 1 + l W (x) W with c = mu, W = dJ/dF; one element after the other in the order of the mesh, in plain loops, since
/// the engine's bound on the curvature is no setting. Corrected as in docs/pxpbd.md: (49) with h^2 V l on W (x) W.
class PlainFirstPiola {
 public:
  /// c over mu: 1 as printed, 2 is the largest eigenvalue at rest without W (x) W.
  PlainFirstPiola(const Model& model, double curvature);
  void step(State& state, double h, int sweeps);

 private:
  struct Element {
    Tet nodes;
    Mat3 inverse;  ///< of the edges at rest
    double volume, mu, l;
  };
  const Model& model_;
  double curvature_;
  std::vector<Element> elements_;
};

}  // namespace pliant::experiments
