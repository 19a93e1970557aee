#pragma once

#include <algorithm>
#include <cstdint>

#include "pliant/linalg/level_widths.hpp"

namespace pliant {

/// What the ways to solve a system of Newton's method cost, in plain iterations of conjugate gradients. Counted in
/// nanoseconds of one core of the machines at hand; only ratios matter, and those of arithmetic to memory have been
/// much the same for years.
struct LinearPrices {
  std::int64_t nodes, blocks;  ///< of 3 x 3, in the upper triangle of the matrix

  /// All of a Newton iteration but the solution: assembly, line search.
  static constexpr double other() { return kAssemblyBlock / kProductBlock; }
  /// The same where the matrix of an earlier iteration is kept.
  static constexpr double other_with_kept_matrix() { return kEvaluationBlock / kProductBlock; }

  double factorisation(const FactorGuess& factor) const {
    return (kFlop * factor.flops + kFactorEntry * factor.entries) / plain();
  }
  /// Solving once more with the factor of the matrix at hand.
  double factor_solution(const FactorGuess& factor) const { return kSolveEntry * factor.entries / plain(); }
  /// An iteration with an older factor of the step; the product is in double.
  double factor_iteration(const FactorGuess& factor) const { return factor_solution(factor) + 2; }
  /// Iterations with an older factor that cost half of a new one; 0 where they do not pay.
  int factor_iterations(const FactorGuess& factor) const {
    constexpr double kWorthwhile = 6, kMost = 50;  // an inexact direction may cost a Newton iteration
    if (factor.entries == 0) return 0;
    const double iterations = std::min(0.5 * factorisation(factor) / factor_iteration(factor), kMost);
    return iterations < kWorthwhile ? 0 : static_cast<int>(iterations);
  }

  /// The nodes' rotations, for a system by the factor at rest, and an iteration with it.
  static constexpr double rotations() { return kRotationBlock / kProductBlock; }
  double rest_factor_iteration(const FactorGuess& factor) const { return kFloatEntry * factor.entries / plain() + 2; }

  /// Setting multigrid up with so many products of two numbers, and an iteration with it, whose levels have so many
  /// times the numbers of the finest.
  double set_up(double products) const {
    return (kSetUpFinest + kSetUpProduct * products / static_cast<double>(blocks)) / kProductBlock;
  }
  static constexpr double cycle(double complexity) { return (kCycleFinest + kCycleAll * complexity) / kProductBlock; }
  /// What is common: levels of twice the finest matrix, products in proportion to the blocks of a row.
  static constexpr double usual_cycle() { return cycle(2); }
  double usual_set_up() const {
    const double count = static_cast<double>(blocks), row = 2 * count / static_cast<double>(nodes) - 1;
    return set_up(kUsualProducts * row * count);
  }

 private:
  static constexpr double kProductBlock = 4.7;    ///< of a plain iteration, in float
  static constexpr double kAssemblyBlock = 150;   ///< of all else in a Newton iteration
  static constexpr double kEvaluationBlock = 25;  ///< energy, gradient and sums over vectors
  static constexpr double kFlop = 0.041;          ///< of a factorisation's dense kernels
  static constexpr double kFactorEntry = 9.5;     ///< assembling and solving with it
  static constexpr double kSolveEntry = 2;        ///< solving alone
  static constexpr double kFloatEntry = 0.8;      ///< in float
  static constexpr double kRotationBlock = 45;
  static constexpr double kSetUpFinest = 270, kSetUpProduct = 0.13;
  static constexpr double kCycleFinest = 27, kCycleAll = 14;
  static constexpr double kUsualProducts = 120;

  double plain() const { return kProductBlock * static_cast<double>(blocks); }
};

}  // namespace pliant
