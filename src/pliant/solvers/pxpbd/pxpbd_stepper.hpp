#pragma once

#include <optional>

#include "pliant/math/stages.hpp"
#include "pliant/solvers/criteria.hpp"
#include "pliant/solvers/pxpbd/collider_forces.hpp"
#include "pliant/solvers/pxpbd/contact_forces.hpp"
#include "pliant/solvers/pxpbd/correction.hpp"
#include "pliant/solvers/pxpbd/gas_forces.hpp"
#include "pliant/solvers/pxpbd/local_update.hpp"
#include "pliant/solvers/pxpbd/nodes.hpp"
#include "pliant/solvers/pxpbd/spring_forces.hpp"

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
  pbd::CorrectionOptions correction;
  bool history = false;
};

/// Position-based steppers of pxpbd: Gauss-Seidel over the elements, colour by colour, without a global matrix. With
/// substeps each is a problem of its own; the report's residuals are those of the whole step all the same, and those of
/// the last substep stand beside them.
class PxpbdStepper final : public Stepper {
 public:
  PxpbdStepper(std::shared_ptr<const Model> model, const PxpbdOptions& options);

  std::string_view name() const override { return options_.name; }
  std::vector<double> memory() const override { return correction_ ? correction_->memory() : std::vector<double>(); }
  void recall(std::span<const double> memory) override {
    if (correction_) correction_->recall(memory);
  }
  /// Largest stiffness number of an element for a step of h (docs/pxpbd.md).
  double largest_kappa(double h) const;

 protected:
  void advance(Solution& solution, StepReport& report) override;
  std::string remedy() const override;

 private:
  void take_substeps(Solution& solution, StepReport& report);
  void relax(IncrementalPotential& potential, StepReport& report);
  enum class SweepsEnd { met_criterion, ran_away, spent };
  SweepsEnd iterate(StepReport& report);
  void sweep();
  pbd::Unknowns unknowns() { return {nodes_.data(), nodes_.axes()}; }
  void write_positions(VecX& x) const;
  void contact_round();
  bool renews_friction(int sweep) const;
  bool arrived() const { return !contact_ || contact_->arrived(); }
  void finish_contact(StepReport& report);
  void correct(StepReport& report);
  void measure(Residuals& residuals);
  void measure_system(Residuals& residuals);

  PxpbdOptions options_;
  std::unique_ptr<IncrementalPotential> substep_;  ///< the problem of a substep, where there are several
  IncrementalPotential* relaxed_ = nullptr;        ///< that of the step or the substep at hand
  ConvergenceTest convergence_;
  pbd::Elements elements_;
  std::unique_ptr<Stages> colours_;  ///< the batches of each
  int coloured_for_ = -1;            ///< Elements::sorts() then
  pbd::Nodes nodes_;
  pbd::ColliderForces colliders_;
  pbd::SpringForces springs_;
  pbd::GasForces gases_;
  std::optional<pbd::ContactForces> contact_;
  std::unique_ptr<pbd::LocalUpdate> local_;
  std::optional<pbd::Correction> correction_;
  std::optional<pbd::RunawayTest> runaway_;  ///< with a correction, which takes the step from where it began
  int corrections_ = 0;                      ///< in this step
  double held_back_ = 0;                     ///< the figure, m
  double progress_ = 1;                      ///< of what is prescribed, with contact
  Iterate swept_;                            ///< where the sweeps are, measured at last
  VecX v_, previous_x_, primal_;
  std::vector<double> secondary_;  ///< scratch, per batch
};

}  // namespace pliant
