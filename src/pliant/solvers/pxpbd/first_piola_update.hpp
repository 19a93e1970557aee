#pragma once

#include "pliant/solvers/pxpbd/local_update.hpp"

namespace pliant::pbd {

/// FP-PXPBD: the first Piola stress of each element is the unknown beside the positions, so that the primary equation
/// g = M (x - x~) + h^2 B P is linear and stays zero exactly, to rounding.
class FirstPiolaUpdate final : public LocalUpdate {
 public:
  FirstPiolaUpdate(const Elements& elements, const LocalOptions& options);
  void begin_step(const StepStart& start) override;
  void update(Index batch, const Batch9& F, Batch9& Q) override;
  void stress(Index batch, const Batch9& F, Batch<1>& psi, Batch9& P) const override;
  void residual(Index batch, const Batch9& F, Batch9& Q, double* secondary2) const override;

 private:
  struct FibreLayer {
    std::shared_ptr<const FibreLaw> law;
    Index activation = -1;
    std::vector<FibreBatch> batches;  ///< by slot
  };
  /// The damping potential beta/(2h) (F - F^n) : H^n (F - F^n) of a batch, with H^n the projected Hessian at F^n.
  struct DampingBatch {
    Batch9 F;
    Batch45 H;
  };
  /// Lanes where the law is infinite and another one that is not leads back into its domain.
  struct Recovery {
    bool any = false;
    bool lane[kBatch] = {};
  };

  bool is_full(const ElementBatch& batch) const;
  void pack_fibres();
  Recovery finite_stress(std::size_t b, const Batch9& F, Batch<1>& psi, Batch9& P) const;
  void stress_with(const Recovery& recovery, std::size_t b, const Batch9& F, Batch<1>& psi, Batch9& P) const;
  void law_hessian(std::size_t b, const Batch9& F, std::span<const double> activation, Batch45& H) const;
  void hessian(std::size_t b, const Batch9& F, const Recovery& recovery, Batch45& H) const;
  void full_update(std::size_t b, const Batch9& F, Batch9& Q);

  const Elements& elements_;
  LocalOptions options_;
  std::shared_ptr<const Law> recovery_law_;
  double h_ = 0;
  std::vector<double> activation_;
  std::vector<Batch9> P_;
  std::vector<std::vector<FibreLayer>> fibres_;  ///< by group
  std::vector<Index> slot_;                      ///< of each batch among those of its group
  int packed_for_ = -1;                          ///< Elements::sorts() when fibres were packed
  std::vector<DampingBatch> damping_;            ///< by batch; empty without damping
};

}  // namespace pliant::pbd
