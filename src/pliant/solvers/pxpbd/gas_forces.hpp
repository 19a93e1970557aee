#pragma once

#include "pliant/sim/step_problem.hpp"

namespace pliant::pbd {

/// Gas in cavities as one more local problem each: its unknown is the pressure p beyond that outside, which moves every
/// node of the wall by w_i h^2 p a_i, a = grad V, w the inverse masses. With all else held and the volume linear in
/// that, p = p(V) becomes
///
///   p' = (p(V) + k a . W I)/(1 + k h^2 a . W a),   k = -dp/dV,   I the impulses that were applied so far:
///
/// the impulses become h^2 p' a, along the surface as it is now. The predictions that a step begins with have the
/// pressure already that explicit forces have (StepProblem::explicit_force).
class GasForces {
 public:
  void begin_step(const StepProblem& problem);
  bool none() const { return cavities_.empty(); }
  /// One visit to every cavity. Four doubles a node, x, y, z and the inverse mass; `axes` as in SpringForces.
  void update(double* nodes, const double* axes);
  /// Calls add(i, axis, impulse) for all it pulls at beyond the predictions, as SpringForces does.
  template <class Add>
  void for_impulses(Add&& add) const {
    for (const Cavity& cavity : cavities_)
      for (std::size_t k = 0; k < cavity.load->faces->nodes().size(); ++k)
        for (int axis = 0; axis < 3; ++axis) {
          const auto j = 3 * static_cast<Eigen::Index>(k) + axis;
          add(cavity.load->faces->nodes()[k], axis, cavity.predicted[j] - cavity.impulse[j]);
        }
  }

 private:
  struct Cavity {
    const SurfaceLoad* load;
    double factor;
    VecX impulse, predicted;  ///< of the nodes of the wall, kg m
  };

  double h2_ = 0;
  std::vector<Cavity> cavities_;
  VecX x_, area_;  ///< scratch, over all nodes: positions of the walls, and a
};

}  // namespace pliant::pbd
