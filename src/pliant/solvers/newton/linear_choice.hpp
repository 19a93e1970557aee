#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pliant/solvers/newton/linear_prices.hpp"

namespace pliant {

/// Conjugate gradients, plain, with multigrid or with the factor at rest; a factorisation.
enum class LinearMethod { gradients, multigrid, factor, rest_factor };

/// Of one system: whether the hierarchy was computed anew, the numbers in all its matrices over those of the finest,
/// and the products in making the coarse ones.
struct MultigridWork {
  bool was_set_up = false;
  double complexity = 0, products = 0;
};

/// Decides for `linear = "auto"` how the systems of a step are solved (docs/newton.md, "The linear systems"): by
/// whichever method has cost least for a system lately. A step that turns out to cost more than another method would
/// have goes on with that one. Costs are counts of operations and bytes in units of one plain iteration, not times: the
/// same choice on any machine, with any number of threads and any load.
///
/// A method that was never tried is expected to cost what it costs on common bodies, and tried in the third step where
/// that is close. One that was left is tried again after 16 steps, then 32, up to 1024, as bodies and their motion
/// change.
class LinearChoice {
 public:
  /// Nodes from which there is a choice; below, systems are factorised.
  static constexpr std::int64_t kFewNodes = 1000;

  /// For matrices with this many blocks of 3 x 3 in their upper triangle.
  LinearChoice(std::int64_t nodes, std::int64_t blocks);

  /// A factor would have so many entries and cost so many operations.
  void set_factor_costs(std::int64_t entries, double flops);
  /// To know them takes an order of elimination, which is only made where factors, as cheap as this guess, would pay
  /// for it within fifty steps, and for very large systems only where multigrid is slow.
  bool asks_for_factor_costs();
  void set_guess(const FactorGuess& guess) { guess_ = guess; }
  bool has_guess() const { return guess_.entries > 0; }
  /// A factor would not fit into memory: no choice.
  void rule_out_factors() { may_factor_ = false; }

  struct StepKind {
    bool has_inertia = true;   ///< otherwise plain conjugate gradients need not be tried first
    bool has_contact = false;  ///< which the factor at rest knows nothing of
    double matrix_key = 1;     ///< MatrixKey::digest_without_grabs: with another one, the factor at rest is made anew
  };
  /// Before the first system of a step; then choose().
  void begin_step(const StepKind& kind);
  void choose();
  void end_step();
  LinearMethod method() const { return method_; }
  /// Iterations after which this step has cost clearly more than another method is expected to; 0: there is none.
  int most_iterations() const;
  /// Iterations with an older factor as preconditioner that cost half of a new one; 0 where they do not pay.
  int most_iterations_with_factor() const { return prices_.factor_iterations(factor_); }

  /// Whether the next systems have the matrix of an earlier one, with all that was prepared for it.
  void set_kept_matrix(bool is_kept) { is_kept_ = is_kept; }
  /// After a system was solved, or given up, by iterations.
  void count_gradients(int iterations, bool solved);
  void count_multigrid(int iterations, const MultigridWork& work, bool solved);
  /// After a factorisation or, where the matrix is kept, a solution with its factor, and after iterations with an older
  /// factor. Contact joins what the model's own matrix does not, so that the factor made is the one to count.
  void count_factor(const FactorGuess& made);
  void count_kept_factor(int iterations, bool solved);
  /// After iterations with the factor at rest.
  void count_rest_factor(int iterations, bool solved);

  /// As Stepper::memory().
  std::vector<double> memory() const;
  void recall(std::span<const double> memory);

 private:
  static constexpr std::size_t kMethods = 4;

  double expected(LinearMethod method) const;
  double usual_other() const;
  double factor_cost(const FactorGuess& factor) const;
  double rest_factor_cost(const FactorGuess& factor, double iterations) const;
  double iteration_cost() const;
  bool pays(double cost, double investment) const;
  bool may_choose(LinearMethod method) const;
  LinearMethod cheapest_besides(LinearMethod method) const;
  double allowance() const;
  void add(double cost, bool solved);

  LinearPrices prices_;
  FactorGuess guess_, factor_;  ///< of a factor: before its order of elimination is known, and after; empty: not known
  bool may_factor_ = true;
  bool asked_ = false;                   ///< for the costs of a factor
  std::array<double, kMethods> cost_{};  ///< of a system by each method, lately; 0: not known
  StepKind kind_;                        ///< of the step at hand
  double rest_key_ = 0;                  ///< that the factor at rest was made for; 0: there is none
  LinearMethod method_ = LinearMethod::gradients;
  double spent_ = 0;         ///< in this step
  int systems_ = 0;          ///< of this step by `method_`
  int matrices_ = 0;         ///< those of them with a matrix of their own
  double last_systems_ = 3;  ///< of the step before
  double last_matrices_ = 3;
  bool is_kept_ = false;
  int until_retry_, patience_;
};

}  // namespace pliant
