#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace pliant {

/// Decides for `linear = "auto"` how systems are solved (docs/newton.md, "The linear systems"): by conjugate gradients
/// as long as they take no more iterations than a factorisation would cost, otherwise by factorisations, with another
/// try now and then. Costs come from counts of operations and bytes, not from clocks: the same choice on any machine,
/// with any number of threads and any load.
class LinearChoice {
 public:
  /// For a matrix with this many blocks of 3 x 3 in its upper triangle, of which a factor would have so many entries
  /// and cost so many operations.
  void set_costs(std::int64_t blocks, std::int64_t factor_entries, double flops);
  bool knows_costs() const { return most_iterations_ > 0; }
  /// To know them takes an order of elimination, which is only made when conjugate gradients have cost as much.
  bool asks_for_costs() const { return spent_ >= kUnquestioned; }
  /// A factor would not fit into memory: no choice.
  void rule_out_factors() { may_factor_ = false; }

  bool takes_factor() const { return may_factor_ && systems_ > 0; }
  /// Iterations after which conjugate gradients have cost as much as a factorisation; 0: no limit.
  int most_iterations() const { return !may_factor_ ? 0 : knows_costs() ? most_iterations_ : kUnquestioned; }
  /// Of conjugate gradients.
  void count_iterations(int iterations) { spent_ = std::min(spent_ + iterations, kUnquestioned); }
  /// After a system that was factorised, or that conjugate gradients solved or gave up.
  void count_factor() { --systems_; }
  void count_solved() { patience_ = kFirstPatience; }
  void count_given_up();

  /// As Stepper::memory().
  std::vector<double> memory() const;
  void recall(std::span<const double> memory);

 private:
  static constexpr int kFirstPatience = 16, kMostPatience = 1024, kUnquestioned = 500;

  int most_iterations_ = 0;
  bool may_factor_ = true;
  int systems_ = 0;  ///< to be factorised before the next try
  int patience_ = kFirstPatience;
  int spent_ = 0;  ///< iterations of conjugate gradients, as far as they matter
};

}  // namespace pliant
