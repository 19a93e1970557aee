#pragma once

#include "pliant/solvers/pxpbd/local_update.hpp"

namespace pliant::pbd {

/// XPBD and B-PXPBD: two constraints per element.
class ConstraintUpdate final : public LocalUpdate {
 public:
  ConstraintUpdate(const Elements& elements, const LocalOptions& options);
  void begin_step(const StepStart& start) override;
  void update(Index batch, const Batch9& F, Batch9& Q) override;
  void stress(Index batch, const Batch9& F, Batch<1>& psi, Batch9& P) const override;
  void residual(Index batch, const Batch9& F, Batch9& Q, double* secondary2) const override;

 private:
  const Elements& elements_;
  LocalOptions options_;
  double h2_ = 0;
  std::vector<Multipliers> multipliers_;
  std::vector<BlendMemory> memory_;  ///< of B-PXPBD
};

/// XPBD with the single constraint C = sqrt(Psi).
class SqrtEnergyUpdate final : public LocalUpdate {
 public:
  explicit SqrtEnergyUpdate(const Elements& elements) : elements_(elements) {}
  void begin_step(const StepStart& start) override;
  void update(Index batch, const Batch9& F, Batch9& Q) override;
  void stress(Index batch, const Batch9& F, Batch<1>& psi, Batch9& P) const override;
  void residual(Index batch, const Batch9& F, Batch9& Q, double* secondary2) const override;

 private:
  const Elements& elements_;
  double h2_ = 0;
  std::vector<Multipliers> multipliers_;
};

}  // namespace pliant::pbd
