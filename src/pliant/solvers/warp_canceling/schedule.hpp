#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pliant/linalg/sparse_cholesky.hpp"

namespace pliant {

/// Which supernodes a step refreshes (warp-canceling, 4.4).
enum class ScheduleKind {
  everything,      ///< all, whenever a rotation changed: the exact corotational method
  target_quality,  ///< those worse than tau
  target_time,     ///< of those worse than tau the worst, as far as the budget reaches
  hybrid,          ///< those worse than `must` whatever they cost, then as target_time
  periodic,        ///< all, every few steps
  never,           ///< none: stiffness warping
};

/// What a supernode costs: seconds measured when it was last computed, or its floating-point operations, which are the
/// same on every day and machine.
enum class CostKind { measured, flops };

struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::target_quality;
  double tau = 0.02;          ///< m/s, as WarpError
  double must = 0.5;          ///< m/s, of hybrid
  double budget_ms = 0;       ///< of a step's refactorisation; 0: by share
  double budget_share = 0.5;  ///< of the cost of a whole factorisation
  CostKind costs = CostKind::measured;
  int period = 2;
};

/// Decides, and learns what its decisions cost.
class Schedule {
 public:
  Schedule(const ScheduleOptions& options, std::vector<Index> parent);

  /// Marks supernodes together with all their ancestors. `steps`: how many were taken since everything was fresh. The
  /// `dirty` ones are computed again in any case: they count, and are marked too where the schedule looks at errors.
  void mark(std::span<const double> badness, std::int64_t steps, const std::vector<std::uint8_t>& dirty,
            std::vector<std::uint8_t>& marked) const;
  /// Marks a supernode and its ancestors.
  void mark_path(Index s, std::vector<std::uint8_t>& marked) const;
  /// After a factorisation of the marked supernodes: new costs of each enter an exponential moving average.
  void learn(const std::vector<SparseCholesky::SupernodeCost>& costs, std::span<const std::uint8_t> marked,
             double seconds);
  bool has_budget() const {
    return options_.kind == ScheduleKind::target_time || options_.kind == ScheduleKind::hybrid;
  }
  /// What one step may cost: s, or flops.
  double budget() const;
  /// What refactoring the marked supernodes should cost, in the unit of the budget.
  double predicted(std::span<const std::uint8_t> marked) const;

 private:
  double path_cost(Index s, const std::vector<std::uint8_t>& marked) const;

  ScheduleOptions options_;
  std::vector<Index> parent_;
  std::vector<double> cost_;  ///< per supernode, s of one thread or flops
  double wall_per_cost_ = 1;  ///< seconds on the clock per second of supernodes: below 1 where they run in parallel
  bool known_ = false;
};

}  // namespace pliant
