#pragma once

#include <array>
#include <functional>

#include "pliant/sim/model.hpp"

namespace pliant::experiments {

/// XPBD as the paper prints it (Eqs. 11 to 22), one constraint after the other in the order of the mesh, in plain
/// loops: for what the engine has no setting for. Fixed corotated: C1 = sqrt(|F - R|^2 + epsilon) with compliance
/// 1/(2 mu V), C2 = det F - 1 with 1/(lambda V).
class PlainXpbd {
 public:
  enum class Primal {
    omitted,  ///< XPBD
    whole,    ///< g kept in (13), whole at every constraint
    shared,   ///< g over the number of constraints of each node
  };
  struct Options {
    Primal primal = Primal::omitted;
    double epsilon = 1e-12;
    double zeta = 1;              ///< of (19); 1 is XPBD
    bool stored_totals = true;    ///< the fixed-point displacement by (22), or by the sum (20)
    double compliance_scale = 1;  ///< 0: position-based dynamics
  };

  PlainXpbd(const Model& model, const Options& options);

  void begin_step(const State& state, double h);
  void sweep();
  const VecX& positions() const { return x_; }
  /// Sets positions and velocities for the end of the step.
  void end_step(State& state) const;
  /// g of (11), kg m, over the free nodes.
  VecX primal_residual() const;
  /// Of backward Euler's equation (9), N.
  double true_residual() const;

  /// Called at every visit with the displacements of (20) and (22) and that of (15), over the corners.
  using Corners = std::array<Vec3, 4>;
  std::function<void(const Corners& sum, const Corners& stored, const Corners& plain)> on_visit;

 private:
  struct Constraint {
    Index element;
    bool volume;
    double lambda = 0, compliance = 0;
    Corners total = {Vec3::Zero(), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};
  };
  double evaluate(const Constraint& c, Corners& gradient) const;
  Vec3 primal_at(Index i) const;

  const Model& model_;
  Options options_;
  double h_ = 0;
  std::vector<Mat3> inverse_;
  std::vector<double> volume_, inverse_mass_;
  std::vector<std::vector<std::pair<std::size_t, int>>> of_node_;  ///< constraint and corner
  std::vector<Constraint> constraints_;
  VecX x_, predicted_, before_;
};

}  // namespace pliant::experiments
