#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace pliant {

enum class LinearMethod { gradients, multigrid, factor };

/// Decides for `linear = "auto"` how systems are solved (docs/newton.md, "The linear systems"): by plain conjugate
/// gradients as long as they are cheapest; else by conjugate gradients with multigrid or by factorisations, with
/// another try now and then. Costs are counts of operations and bytes in units of one plain iteration, not times: the
/// same choice on any machine, with any number of threads and any load.
class LinearChoice {
 public:
  /// Nodes from which there is a choice; below, systems are factorised.
  static constexpr std::int64_t kFewNodes = 1000;
  /// Below, moving bodies have no use for multigrid.
  static constexpr std::int64_t kFewForMultigrid = 10000;

  /// Of a matrix with this many blocks of 3 x 3 in its upper triangle, of which a factor would have so many entries and
  /// cost so many operations.
  void set_factor_costs(std::int64_t blocks, std::int64_t factor_entries, double flops);
  bool knows_costs() const { return factor_cost_ > 0; }
  /// To know them takes an order of elimination, which is only made when conjugate gradients have cost as much, and for
  /// very large systems only where multigrid is slow, too.
  bool asks_for_costs(std::int64_t nodes) const;
  /// A factor would not fit into memory: no choice.
  void rule_out_factors() { may_factor_ = false; }
  /// So few nodes, with inertia, that the other two are always about as good.
  void rule_out_multigrid() { may_multigrid_ = false; }
  /// Nothing but elasticity holds the bodies: plain conjugate gradients need not be tried first.
  void expect_no_inertia();

  LinearMethod method() const;
  /// Iterations after which a method has cost as much as another one; 0: there is none.
  int most_iterations() const;
  /// Iterations with an older factor as preconditioner that cost half of a new one.
  int most_iterations_with_factor() const { return factor_iterations_; }
  /// After a system was solved, or given up, by iterations.
  void count_gradients(int iterations, bool solved);
  void count_multigrid(int iterations, bool was_set_up, double complexity, bool solved);
  void count_factor() { --systems_; }

  /// As Stepper::memory().
  std::vector<double> memory() const;
  void recall(std::span<const double> memory);

 private:
  static constexpr int kFirstPatience = 16, kMostPatience = 1024, kUnquestioned = 500, kFirstMultigrid = 160;

  bool prefers_factor() const {
    return may_factor_ && knows_costs() && (!may_multigrid_ || factor_cost_ <= multigrid_cost_);
  }
  void give_up();

  int factor_cost_ = 0, factor_iterations_ = 0;
  bool may_factor_ = true, may_multigrid_ = true;
  int multigrid_cost_ = kFirstMultigrid;  ///< of the last system, or what is expected of the first
  int systems_ = 0;  ///< to be solved without plain conjugate gradients before they are tried again
  int patience_ = kFirstPatience;
  int spent_ = 0;  ///< iterations of plain conjugate gradients, as far as they matter
};

}  // namespace pliant
