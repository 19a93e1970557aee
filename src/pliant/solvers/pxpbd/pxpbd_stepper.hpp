#pragma once

#include "pliant/solvers/criteria.hpp"
#include "pliant/solvers/pxpbd/collider_forces.hpp"
#include "pliant/solvers/pxpbd/grab_forces.hpp"
#include "pliant/solvers/pxpbd/local_update.hpp"
#include "pliant/solvers/pxpbd/nodes.hpp"

namespace pliant {

struct PxpbdOptions {
  std::string name = "fp-pxpbd";
  Integrator integrator = Integrator::implicit_euler;
  pbd::LocalOptions local;
  int iterations = 10;       ///< sweeps over all elements, of every substep or round
  int substeps = 1;          ///< of an implicit step
  int rounds = 10;           ///< of a quasistatic step
  bool stops_early = false;  ///< whether there is a criterion at all
  CriterionOptions criterion;
  bool history = false;
};

/// Position-based steppers of pxpbd: Gauss-Seidel over the elements, colour by colour, without a global matrix.
class PxpbdStepper final : public Stepper {
 public:
  PxpbdStepper(std::shared_ptr<const Model> model, const PxpbdOptions& options);

  std::string_view name() const override { return options_.name; }
  StepReport step(State& state, double h) override;
  /// Largest stiffness number of an element for a step of h (docs/pxpbd.md).
  double largest_kappa(double h) const;

 private:
  bool substep(State& state, double h, StepReport& report);
  bool iterate(StepReport& report);
  void sweep();
  void measure(Residuals& residuals, double& energy);
  void measure_system(Residuals& residuals);
  bool ran_away(const State& state) const;

  std::shared_ptr<const Model> model_;
  PxpbdOptions options_;
  IncrementalPotential potential_;
  ConvergenceTest convergence_;
  pbd::Elements elements_;
  pbd::Nodes nodes_;
  pbd::ColliderForces colliders_;
  pbd::GrabForces grabs_;
  std::unique_ptr<pbd::LocalUpdate> local_;
  State moved_;
  VecX x_, previous_x_, gradient_, primal_;
  std::vector<double> secondary_;  ///< scratch, per batch
};

}  // namespace pliant
