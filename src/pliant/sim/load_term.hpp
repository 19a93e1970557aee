#pragma once

#include "pliant/sim/step_function.hpp"
#include "pliant/sim/term.hpp"

namespace pliant {

/// The potentials of loads that follow surfaces: p (V(x) - V^n) of pressures, and of gases, W(V(x)) - W(V^n) with
/// W' = -(p(V) - p_outside), V the volume that they fill. The forces at rims are constant forces of the problem
/// (sim/load.hpp).
class LoadTerm final : public Term {
 public:
  explicit LoadTerm(const Model& model);
  /// The problem stays where it is until the next call.
  void begin_step(const StepProblem& problem);

  std::string_view name() const override { return "loads on surfaces"; }
  double value(const Pose& pose) override;
  double add_gradient(const Pose& pose, VecX& g) override;
  /// Of gases without the share by which the volume changes the pressure: it couples all nodes of a surface with each
  /// other, and is no matter of blocks.
  void add_hessian(const Pose& pose, Projection projection, BlockMatrix& A) override;
  /// That share: the matrices scale * vector * vector^T, never negative.
  void rank_ones(const Pose& pose, std::vector<RankOne>& found);

 private:
  struct Part {
    Part(const Model& model, const SurfaceLoad& load);
    const SurfaceLoad& load;
    PressureEnergy energy;
    Assembler assembler;
    double factor = 1;
    double start_volume = 0, start_energy = 0;  ///< of a gas, m^3 and J
  };
  GasState gas(Part& part, const Pose& pose);

  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace pliant
